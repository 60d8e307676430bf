//! Long texts, encrypted in chunks: 65,536 bytes and a tag of 16 each. The last one is shorter or full, and empty only where
//! there is nothing to encrypt.
//!
//! This is the STREAM construction, as age has it; the vault uses it with a longer nonce. A chunk's nonce has its number and
//! says whether it is the last. So no chunk can be changed, cut off, moved or repeated unseen: that is an error of the kind
//! `InvalidData`. A key and a nonce are used for one text only.

use chacha20poly1305::aead::AeadInPlace;
use chacha20poly1305::{ChaCha20Poly1305, KeyInit, XChaCha20Poly1305};
use std::io::{self, Read, Write};
use zeroize::Zeroizing;

const CHUNK: usize = 1 << 16;
const TAG: usize = 16;

/// What encrypts the chunks of one text, one after the other.
pub(crate) struct Chunks {
    cipher: Cipher,
    next: u32,
    /// What every chunk is bound to, besides.
    associated: Vec<u8>,
}

enum Cipher {
    /// age's: the key is used once, so the nonce is the number alone.
    Age(ChaCha20Poly1305),
    /// The vault's: one key for many texts, told apart by random bytes.
    Vault(XChaCha20Poly1305, [u8; 19]),
}

impl Chunks {
    /// As the payload of an age file.
    pub fn of_age(key: &[u8; 32]) -> Chunks {
        Chunks { cipher: Cipher::Age(ChaCha20Poly1305::new(key.into())), next: 0, associated: Vec::new() }
    }

    /// As a file of a vault.
    pub fn of_vault(key: &[u8; 32], nonce: [u8; 19], associated: Vec<u8>) -> Chunks {
        Chunks { cipher: Cipher::Vault(XChaCha20Poly1305::new(key.into()), nonce), next: 0, associated }
    }

    /// The nonce of the next chunk: `random` first, then its number, then whether it is the last.
    fn nonce<const N: usize>(&self, random: &[u8], is_last: bool) -> [u8; N] {
        let mut nonce = [0; N];
        nonce[..random.len()].copy_from_slice(random);
        nonce[N - 5..N - 1].copy_from_slice(&self.next.to_be_bytes());
        nonce[N - 1] = u8::from(is_last);
        nonce
    }

    fn turn(&mut self) -> io::Result<()> {
        self.next = self.next.checked_add(1).ok_or_else(|| io::Error::other("it is too long to be encrypted"))?;
        Ok(())
    }

    fn encrypt(&mut self, chunk: &mut Vec<u8>, is_last: bool) -> io::Result<()> {
        let sealed = match &self.cipher {
            Cipher::Age(cipher) => {
                cipher.encrypt_in_place(&self.nonce::<12>(&[], is_last).into(), &self.associated, chunk)
            }
            Cipher::Vault(cipher, random) => {
                cipher.encrypt_in_place(&self.nonce::<24>(random, is_last).into(), &self.associated, chunk)
            }
        };
        sealed.expect("a chunk is shorter than the cipher's limit");
        self.turn()
    }

    fn decrypt(&mut self, chunk: &mut Vec<u8>, is_last: bool) -> io::Result<()> {
        let opened = match &self.cipher {
            Cipher::Age(cipher) => {
                cipher.decrypt_in_place(&self.nonce::<12>(&[], is_last).into(), &self.associated, chunk)
            }
            Cipher::Vault(cipher, random) => {
                cipher.decrypt_in_place(&self.nonce::<24>(random, is_last).into(), &self.associated, chunk)
            }
        };
        opened.map_err(|_| false_text())?;
        self.turn()
    }
}

fn false_text() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "it cannot be decrypted")
}

/// Encrypts what is written to it. It is whole only after [`ChunkWriter::finish`].
pub(crate) struct ChunkWriter<W> {
    out: W,
    chunks: Chunks,
    /// The chunk that is being filled. Never written as it is.
    chunk: Zeroizing<Vec<u8>>,
}

impl<W: Write> ChunkWriter<W> {
    /// Writes encrypted chunks to `out`.
    pub fn new(out: W, chunks: Chunks) -> ChunkWriter<W> {
        // Never grows: what it held would stay in memory.
        ChunkWriter { out, chunks, chunk: Zeroizing::new(Vec::with_capacity(CHUNK + TAG)) }
    }

    /// Writes the last chunk.
    pub fn finish(mut self) -> io::Result<W> {
        self.chunks.encrypt(&mut self.chunk, true)?;
        self.out.write_all(&self.chunk)?;
        Ok(self.out)
    }
}

impl<W: Write> Write for ChunkWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Only once more follows: the last chunk is encrypted as the last one.
        if self.chunk.len() == CHUNK && !bytes.is_empty() {
            self.chunks.encrypt(&mut self.chunk, false)?;
            self.out.write_all(&self.chunk)?;
            self.chunk.clear();
        }
        let taken = bytes.len().min(CHUNK - self.chunk.len());
        self.chunk.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Decrypts what it reads. Only at its end is it known that the text was whole.
pub(crate) struct ChunkReader<R> {
    input: R,
    chunks: Chunks,
    /// A byte of the next chunk, read to learn that there is one.
    ahead: Option<u8>,
    opened: Zeroizing<Vec<u8>>,
    at: usize,
    is_over: bool,
}

impl<R: Read> ChunkReader<R> {
    /// Reads encrypted chunks from `input`.
    pub fn new(input: R, chunks: Chunks) -> ChunkReader<R> {
        let opened = Zeroizing::new(Vec::with_capacity(CHUNK + TAG + 1));
        ChunkReader { input, chunks, ahead: None, opened, at: 0, is_over: false }
    }

    /// Decrypts the next chunk.
    fn turn(&mut self) -> io::Result<()> {
        let wanted = CHUNK + TAG + 1;
        self.at = 0;
        self.opened.clear();
        self.opened.extend(self.ahead.take());
        let room = (wanted - self.opened.len()) as u64;
        self.input.by_ref().take(room).read_to_end(&mut self.opened)?;
        self.is_over = self.opened.len() < wanted;
        if !self.is_over {
            self.ahead = self.opened.pop();
        }
        let is_first = self.chunks.next == 0;
        let read = self.chunks.decrypt(&mut self.opened, self.is_over);
        match read {
            Ok(()) if !is_first && self.opened.is_empty() => Err(false_text()),
            Err(error) => {
                self.opened.clear();
                Err(error)
            }
            Ok(()) => Ok(()),
        }
    }
}

impl<R: Read> Read for ChunkReader<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.at == self.opened.len() && !self.is_over && !into.is_empty() {
            self.turn()?;
        }
        let taken = into.len().min(self.opened.len() - self.at);
        into[..taken].copy_from_slice(&self.opened[self.at..self.at + taken]);
        self.at += taken;
        Ok(taken)
    }
}
