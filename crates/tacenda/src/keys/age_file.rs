//! Files that stock `age` writes and reads: for X25519 recipients, or with a passphrase.
//!
//! The format is `age-encryption.org/v1`, from its specification (c2sp.org/age). A file has a random key. The header holds it
//! once per recipient, wrapped, and a MAC over itself; the payload is encrypted with it in chunks ([`ChunkWriter`]).
//! The `age` crate would bring 76 packages along, most of them for translated messages; these are the parts we need.
//!
//! Not read: files in ASCII armour, and recipients of other kinds, such as plugins.

use crate::keys::stream::{ChunkReader, ChunkWriter, Chunks};
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use bech32::primitives::decode::CheckedHrpstring;
use bech32::{Bech32, Hrp};
use chacha20poly1305::aead::Aead;
use chacha20poly1305::{ChaCha20Poly1305, KeyInit};
use curve25519_dalek::montgomery::MontgomeryPoint;
use hkdf::Hkdf;
use hmac::{Hmac, Mac};
use sha2::Sha256;
use std::fmt;
use std::io::{self, Read, Write};
use zeroize::Zeroizing;

/// How an age file begins.
pub(super) const VERSION: &str = "age-encryption.org/v1";

/// How hard a passphrase is made to guess: what age itself writes. More is accepted, up to a limit that stops a bomb.
const WORK: u8 = 18;
const MOST_WORK: u8 = 22;

/// More than any header that we write; one that is longer is not read.
const LONGEST_HEADER: u64 = 1 << 16;

type FileKey = Zeroizing<[u8; 16]>;
type Derived = Zeroizing<[u8; 32]>;

/// Who can open a file: the public half of an [`AgeIdentity`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct AgeRecipient([u8; 32]);

/// What opens a file. Zeroised when dropped.
pub(super) struct AgeIdentity(Zeroizing<[u8; 32]>);

/// Who opens a file that is read.
pub(super) enum Opener<'a> {
    Identity(&'a AgeIdentity),
    Passphrase(&'a str),
}

/// Why a file cannot be opened.
#[derive(Debug)]
pub(super) enum AgeError {
    /// It is no age file, or its header was changed.
    Damaged,
    /// It is for somebody else, or the passphrase is wrong.
    Closed,
    /// It cannot be read.
    Io(io::Error),
}

impl AgeIdentity {
    /// One that nobody has.
    pub fn random() -> io::Result<AgeIdentity> {
        let mut secret = Zeroizing::new([0; 32]);
        getrandom::fill(&mut *secret).map_err(io::Error::other)?;
        Ok(AgeIdentity(secret))
    }

    /// From a line `AGE-SECRET-KEY-1…`.
    pub fn parse(text: &str) -> Option<AgeIdentity> {
        bytes_of("age-secret-key-", text).map(AgeIdentity)
    }

    /// As a line of a key file.
    pub fn text(&self) -> Zeroizing<String> {
        let kind = Hrp::parse_unchecked("age-secret-key-");
        Zeroizing::new(bech32::encode_upper::<Bech32>(kind, &*self.0).expect("32 bytes fit"))
    }

    /// Who it is to others.
    pub fn recipient(&self) -> AgeRecipient {
        AgeRecipient(MontgomeryPoint::mul_base_clamped(*self.0).to_bytes())
    }
}

impl AgeRecipient {
    /// From a line `age1…`.
    pub fn parse(text: &str) -> Option<AgeRecipient> {
        bytes_of("age", text).map(|bytes| AgeRecipient(*bytes))
    }
}

impl fmt::Display for AgeRecipient {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&bech32::encode_lower::<Bech32>(Hrp::parse_unchecked("age"), &self.0).expect("32 bytes fit"))
    }
}

fn bytes_of(kind: &str, text: &str) -> Option<Zeroizing<[u8; 32]>> {
    let parsed = CheckedHrpstring::new::<Bech32>(text).ok()?;
    let bytes = Zeroizing::new(parsed.byte_iter().collect::<Vec<u8>>());
    let is_kind = parsed.hrp().as_str().eq_ignore_ascii_case(kind);
    is_kind.then(|| <[u8; 32]>::try_from(&bytes[..]).ok().map(Zeroizing::new)).flatten()
}

/// Writes a file for recipients.
pub(super) fn encrypt_for<W: Write>(recipients: &[AgeRecipient], out: W) -> io::Result<ChunkWriter<W>> {
    let key = file_key()?;
    let stanzas = recipients.iter().map(|recipient| x25519_stanza(recipient, &key)).collect::<io::Result<String>>()?;
    encrypt(&key, &stanzas, out)
}

/// Writes a file with a passphrase.
pub(super) fn encrypt_with<W: Write>(passphrase: &str, out: W) -> io::Result<ChunkWriter<W>> {
    let key = file_key()?;
    let mut salt = [0; 16];
    getrandom::fill(&mut salt).map_err(io::Error::other)?;
    let body = wrap(&key, &stretched(passphrase, &salt, WORK));
    encrypt(
        &key,
        &format!("-> scrypt {} {WORK}\n{}\n", STANDARD_NO_PAD.encode(salt), STANDARD_NO_PAD.encode(body)),
        out,
    )
}

/// Opens a file.
pub(super) fn decrypt<R: Read>(mut input: R, opener: &Opener<'_>) -> Result<ChunkReader<R>, AgeError> {
    let header = read_header(&mut input)?;
    let key = header.key(opener)?;
    header.check(&key)?;
    let mut nonce = [0; 16];
    input.read_exact(&mut nonce).map_err(|_| AgeError::Damaged)?;
    Ok(ChunkReader::new(input, Chunks::of_age(&derived(&*key, &nonce, b"payload"))))
}

fn file_key() -> io::Result<FileKey> {
    let mut key = Zeroizing::new([0; 16]);
    getrandom::fill(&mut *key).map_err(io::Error::other)?;
    Ok(key)
}

fn encrypt<W: Write>(key: &FileKey, stanzas: &str, mut out: W) -> io::Result<ChunkWriter<W>> {
    let header = format!("{VERSION}\n{stanzas}---");
    let mac = mac(key, header.as_bytes()).finalize().into_bytes();
    let mut nonce = [0; 16];
    getrandom::fill(&mut nonce).map_err(io::Error::other)?;
    out.write_all(format!("{header} {}\n", STANDARD_NO_PAD.encode(mac)).as_bytes())?;
    out.write_all(&nonce)?;
    Ok(ChunkWriter::new(out, Chunks::of_age(&derived(&**key, &nonce, b"payload"))))
}

fn x25519_stanza(recipient: &AgeRecipient, key: &FileKey) -> io::Result<String> {
    let once = AgeIdentity::random()?;
    let share = once.recipient();
    let shared = shared_key(&once, recipient, &share, recipient).ok_or_else(|| io::Error::other("a weak recipient"))?;
    let (share, body) = (STANDARD_NO_PAD.encode(share.0), STANDARD_NO_PAD.encode(wrap(key, &shared)));
    Ok(format!("-> X25519 {share}\n{body}\n"))
}

/// The key that wraps the file's key, between a share of the sender and a recipient. `None` for points that hide nothing.
fn shared_key(own: &AgeIdentity, with: &AgeRecipient, share: &AgeRecipient, to: &AgeRecipient) -> Option<Derived> {
    let shared = Zeroizing::new(MontgomeryPoint(with.0).mul_clamped(*own.0).to_bytes());
    let salt = [share.0, to.0].concat();
    (*shared != [0; 32]).then(|| derived(&*shared, &salt, b"age-encryption.org/v1/X25519"))
}

/// The key that wraps the file's key, from a passphrase.
fn stretched(passphrase: &str, salt: &[u8], work: u8) -> Derived {
    let salt = [b"age-encryption.org/v1/scrypt", salt].concat();
    let settings = scrypt::Params::new(work, 8, 1, 32).expect("these settings are allowed");
    let mut key = Zeroizing::new([0; 32]);
    scrypt::scrypt(passphrase.as_bytes(), &salt, &settings, &mut *key).expect("32 bytes are allowed");
    key
}

fn derived(secret: &[u8], salt: &[u8], purpose: &[u8]) -> Derived {
    let mut key = Zeroizing::new([0; 32]);
    Hkdf::<Sha256>::new(Some(salt), secret).expand(purpose, &mut *key).expect("32 bytes are allowed");
    key
}

fn mac(key: &FileKey, header: &[u8]) -> Hmac<Sha256> {
    let key = derived(&**key, &[], b"header");
    <Hmac<Sha256> as Mac>::new_from_slice(&*key).expect("any key is allowed").chain_update(header)
}

/// The wrapping key is used once, so its nonce is nothing.
fn wrap(key: &FileKey, with: &Derived) -> Vec<u8> {
    let cipher = ChaCha20Poly1305::new((&**with).into());
    cipher.encrypt(&[0; 12].into(), &key[..]).expect("16 bytes are below the cipher's limit")
}

fn unwrap(body: &[u8], with: &Derived) -> Option<FileKey> {
    let cipher = ChaCha20Poly1305::new((&**with).into());
    let opened = Zeroizing::new(cipher.decrypt(&[0; 12].into(), body).ok()?);
    <[u8; 16]>::try_from(&opened[..]).ok().map(Zeroizing::new)
}

/// What one recipient finds the file's key in.
struct Stanza {
    words: Vec<String>,
    body: Vec<u8>,
}

struct Header {
    stanzas: Vec<Stanza>,
    /// The header's bytes as far as the MAC covers them.
    covered: Vec<u8>,
    mac: Vec<u8>,
}

impl Header {
    /// The file's key, if the opener finds it here.
    fn key(&self, opener: &Opener<'_>) -> Result<FileKey, AgeError> {
        // What a passphrase opens, nobody else does: a sender that only has the passphrase vouches for it.
        let scrypt = self.stanzas.iter().filter(|stanza| stanza.words[0] == "scrypt").count();
        if scrypt > 0 && self.stanzas.len() > 1 {
            return Err(AgeError::Damaged);
        }
        for stanza in &self.stanzas {
            let found = match (opener, &stanza.words[..]) {
                (Opener::Identity(identity), [kind, share]) if kind == "X25519" => {
                    let share = AgeRecipient(decoded(share)?);
                    let shared =
                        shared_key(identity, &share, &share, &identity.recipient()).ok_or(AgeError::Damaged)?;
                    unwrap(&stanza.body, &shared)
                }
                (Opener::Passphrase(passphrase), [kind, salt, work]) if kind == "scrypt" => {
                    let work = work.parse::<u8>().ok().filter(|found| found.to_string() == *work);
                    let work = work.filter(|work| (1..=MOST_WORK).contains(work)).ok_or(AgeError::Damaged)?;
                    unwrap(&stanza.body, &stretched(passphrase, &decoded::<16>(salt)?, work))
                }
                // For somebody else, or of a kind that we do not know.
                _ => None,
            };
            if let Some(key) = found {
                return Ok(key);
            }
        }
        Err(AgeError::Closed)
    }

    fn check(&self, key: &FileKey) -> Result<(), AgeError> {
        mac(key, &self.covered).verify_slice(&self.mac).map_err(|_| AgeError::Damaged)
    }
}

fn decoded<const N: usize>(text: &str) -> Result<[u8; N], AgeError> {
    let bytes = STANDARD_NO_PAD.decode(text).map_err(|_| AgeError::Damaged)?;
    bytes.try_into().map_err(|_| AgeError::Damaged)
}

/// A line without its end. One byte at a time: what follows the header belongs to the payload.
fn read_line(input: &mut impl Read, covered: &mut Vec<u8>) -> Result<String, AgeError> {
    let begin = covered.len();
    let mut byte = [0];
    loop {
        match input.read_exact(&mut byte) {
            Ok(()) if byte[0] == b'\n' => break,
            Ok(()) if covered.len() as u64 >= LONGEST_HEADER => return Err(AgeError::Damaged),
            Ok(()) => covered.push(byte[0]),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Err(AgeError::Damaged),
            Err(error) => return Err(AgeError::Io(error)),
        }
    }
    let line = String::from_utf8(covered[begin..].to_vec()).map_err(|_| AgeError::Damaged)?;
    covered.push(b'\n');
    Ok(line)
}

fn read_header(input: &mut impl Read) -> Result<Header, AgeError> {
    let mut covered = Vec::new();
    if read_line(input, &mut covered)? != VERSION {
        return Err(AgeError::Damaged);
    }
    let mut stanzas = Vec::new();
    loop {
        let begin = covered.len();
        let line = read_line(input, &mut covered)?;
        if let Some(mac) = line.strip_prefix("--- ") {
            covered.truncate(begin + 3);
            let mac = decoded::<32>(mac)?.to_vec();
            return if stanzas.is_empty() { Err(AgeError::Damaged) } else { Ok(Header { stanzas, covered, mac }) };
        }
        let words = line.strip_prefix("-> ").ok_or(AgeError::Damaged)?;
        let words: Vec<String> = words.split(' ').map(str::to_string).collect();
        let is_plain = |word: &String| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_graphic());
        if !words.iter().all(is_plain) {
            return Err(AgeError::Damaged);
        }
        // The body ends with a line that is not full, and may be empty.
        let mut body = Vec::new();
        loop {
            let line = read_line(input, &mut covered)?;
            if line.len() > 64 {
                return Err(AgeError::Damaged);
            }
            body.extend(STANDARD_NO_PAD.decode(&line).map_err(|_| AgeError::Damaged)?);
            if line.len() < 64 {
                break;
            }
        }
        stanzas.push(Stanza { words, body });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::engine::general_purpose::STANDARD;

    const TEXT: &[u8] = b"stock age wrote this";
    /// Made with age-keygen and age 1.1.1, and with a passphrase by rage 0.11.
    const SECRET: &str = "AGE-SECRET-KEY-10LPT37XP9G4YEQ2ZYPY5RWPMKXEKTY0RVKAQ34MX4W5YE8USK90ST87AXD";
    const PUBLIC: &str = "age18ysaytjupz72k5cmmj8gxzvjwzdnsl0wuahxm3vg9uq8qqlmzcnst620xu";
    const FOR_IT: &str = "YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IFgyNTUxOSBmVHdrUy9OVnd2VFVMb2YxcXBESmQzV0swM2R1bkpoQ2dHc2ZO\
        cmM0SEdVCjFWV0NWMDZCUDFKNmttKytodGFPbGVZWTh3Qm9hZkhOdTNzM0pTYW5KSUkKLS0tIFlkZS8rZ0kwUHYzekhOYS9MUVVSS2phTHFYQ0haWTly\
        Q3NZNGhOWVJhYm8KLmFDf7q5YJgMoh5N3ChrhKhPjl4JzyTEuQCVBXNhflQYbHNws8FhCuyw8FOWexVqkIFOWQ==";

    fn opened(bytes: &[u8], opener: &Opener<'_>) -> Result<Vec<u8>, AgeError> {
        let mut text = Vec::new();
        decrypt(bytes, opener)?.read_to_end(&mut text).map_err(|_| AgeError::Damaged)?;
        Ok(text)
    }

    fn written(text: &[u8], to: &[AgeRecipient]) -> Vec<u8> {
        let mut file = Vec::new();
        let mut out = encrypt_for(to, &mut file).unwrap();
        // In pieces that do not fit the chunks.
        text.chunks(10_007).for_each(|piece| out.write_all(piece).unwrap());
        out.finish().unwrap();
        file
    }

    #[test]
    fn a_file_and_a_key_of_stock_age_are_read() {
        let identity = AgeIdentity::parse(SECRET).unwrap();
        assert_eq!((identity.text().as_str(), identity.recipient().to_string().as_str()), (SECRET, PUBLIC));
        assert_eq!(AgeRecipient::parse(PUBLIC), Some(identity.recipient()));
        let file = STANDARD.decode(FOR_IT).unwrap();
        assert_eq!(opened(&file, &Opener::Identity(&identity)).unwrap(), TEXT);
        assert!(AgeRecipient::parse(SECRET).is_none() && AgeIdentity::parse(PUBLIC).is_none());
        let typo = PUBLIC.replace("age18", "age19");
        assert!(AgeRecipient::parse(&typo).is_none());
    }

    #[test]
    fn every_recipient_opens_a_file_and_nobody_else() {
        let [one, two, other] = [(); 3].map(|()| AgeIdentity::random().unwrap());
        let file = written(TEXT, &[one.recipient(), two.recipient()]);
        for identity in [&one, &two] {
            assert_eq!(opened(&file, &Opener::Identity(identity)).unwrap(), TEXT);
        }
        assert!(matches!(opened(&file, &Opener::Identity(&other)), Err(AgeError::Closed)));
    }

    #[test]
    fn every_flipped_byte_and_every_cut_is_seen() {
        let identity = AgeIdentity::parse(SECRET).unwrap();
        let file = STANDARD.decode(FOR_IT).unwrap();
        for at in 0..file.len() {
            let mut bad = file.clone();
            bad[at] ^= 1;
            assert!(opened(&bad, &Opener::Identity(&identity)).is_err(), "byte {at}");
            assert!(opened(&file[..at], &Opener::Identity(&identity)).is_err(), "cut to {at}");
        }
    }

    #[test]
    fn texts_of_every_length_read_back_and_lose_no_chunk() {
        let identity = AgeIdentity::random().unwrap();
        for length in [0, 1, 65_535, 65_536, 65_537, 131_072, 200_000] {
            let text: Vec<u8> = (0..length).map(|at| (at * 7 % 251) as u8).collect();
            let file = written(&text, &[identity.recipient()]);
            assert!(opened(&file, &Opener::Identity(&identity)).unwrap() == text, "{length} bytes");
            // The last chunk, whole, is cut off; and the first two change places.
            let payload = file.len() - length - 16 * length.div_ceil(65_536).max(1);
            for cut in (payload..file.len()).step_by(65_552) {
                assert!(opened(&file[..cut], &Opener::Identity(&identity)).is_err(), "{length} bytes cut to {cut}");
            }
            if length == 200_000 {
                let mut swapped = file.clone();
                swapped[payload..payload + 131_104].rotate_left(65_552);
                assert!(opened(&swapped, &Opener::Identity(&identity)).is_err());
            }
        }
    }

    #[test]
    fn a_passphrase_opens_what_it_closed_and_no_bomb_is_tried() {
        let mut file = Vec::new();
        let mut out = encrypt_with("correct horse", &mut file).unwrap();
        out.write_all(TEXT).unwrap();
        out.finish().unwrap();
        assert_eq!(opened(&file, &Opener::Passphrase("correct horse")).unwrap(), TEXT);
        assert!(matches!(opened(&file, &Opener::Passphrase("battery staple")), Err(AgeError::Closed)));
        let text = String::from_utf8_lossy(&file[..120]).to_string();
        let line = text.lines().nth(1).unwrap();
        for work in ["23", "64", "018", "+18", "0", "-1", "x"] {
            let bomb = line.replace(" 18", &format!(" {work}"));
            let bad = [bomb.as_bytes(), &file[22 + line.len()..]].concat();
            let bad = [&file[..22], &bad[..]].concat();
            assert!(matches!(opened(&bad, &Opener::Passphrase("correct horse")), Err(AgeError::Damaged)), "{work}");
        }
    }
}
