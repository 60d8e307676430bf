//! A file to read from: the steward's own, or the copy of a stream that cannot be read twice.
//!
//! The copy holds private cells and is in a folder for temporary files, on an unknown disk. So it has no name, and it
//! is encrypted with a key that only this process has. The cipher is ChaCha20, which can start at any position.

use bytes::Bytes;
use chacha20::ChaCha20;
use chacha20::cipher::{KeyIvInit, StreamCipher, StreamCipherSeek};
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::{cmp, fmt};
use zeroize::Zeroizing;

/// A file to read from, with its own position.
pub(super) struct InputFile(Held);

enum Held {
    Plain(File),
    Spooled { copy: Arc<StreamCopy>, at: u64 },
}

/// An encrypted copy of a stream. When it is dropped, both the copy and its key are gone.
struct StreamCopy {
    file: Mutex<File>,
    key: Zeroizing<[u8; 32]>,
    length: u64,
}

impl InputFile {
    /// The steward's own file.
    pub fn plain(file: File) -> InputFile {
        InputFile(Held::Plain(file))
    }

    /// Copies a stream to its end.
    pub fn spool(mut stream: impl Read) -> io::Result<InputFile> {
        let mut file = tempfile::tempfile()?;
        let mut key = Zeroizing::new([0; 32]);
        getrandom::fill(&mut *key).map_err(io::Error::other)?;
        let mut cipher = ChaCha20::new((&*key).into(), &NONCE.into());
        let mut buffer = Zeroizing::new(vec![0; 1 << 16]);
        let mut length = 0;
        loop {
            let read = match stream.read(&mut buffer) {
                Ok(0) => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read?,
            };
            cipher.try_apply_keystream(&mut buffer[..read]).map_err(|_| too_long())?;
            file.write_all(&buffer[..read])?;
            length += read as u64;
        }
        Ok(InputFile(Held::Spooled { copy: Arc::new(StreamCopy { file: Mutex::new(file), key, length }), at: 0 }))
    }

    /// The same file, at its start.
    pub fn rewound(&self) -> io::Result<InputFile> {
        match &self.0 {
            Held::Plain(file) => {
                let mut file = file.try_clone()?;
                file.rewind()?;
                Ok(InputFile::plain(file))
            }
            Held::Spooled { copy, .. } => Ok(InputFile(Held::Spooled { copy: Arc::clone(copy), at: 0 })),
        }
    }
}

/// The key is used once, so the nonce need not differ.
const NONCE: [u8; 12] = [0; 12];

/// The counter of ChaCha20 covers 256 GB.
fn too_long() -> io::Error {
    io::Error::other("the stream is longer than 256 GB")
}

impl StreamCopy {
    fn read_at(&self, at: u64, out: &mut [u8]) -> io::Result<usize> {
        let wanted = cmp::min(out.len() as u64, self.length.saturating_sub(at)) as usize;
        let out = &mut out[..wanted];
        if out.is_empty() {
            return Ok(0);
        }
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(at))?;
        let read = file.read(out)?;
        let mut cipher = ChaCha20::new((&*self.key).into(), &NONCE.into());
        cipher.try_seek(at).map_err(|_| too_long())?;
        cipher.try_apply_keystream(&mut out[..read]).map_err(|_| too_long())?;
        Ok(read)
    }
}

impl Read for InputFile {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match &mut self.0 {
            Held::Plain(file) => file.read(out),
            Held::Spooled { copy, at } => {
                let read = copy.read_at(*at, out)?;
                *at += read as u64;
                Ok(read)
            }
        }
    }
}

impl Seek for InputFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match &mut self.0 {
            Held::Plain(file) => file.seek(to),
            Held::Spooled { copy, at } => {
                let place = match to {
                    SeekFrom::Start(place) => Some(place),
                    SeekFrom::End(by) => copy.length.checked_add_signed(by),
                    SeekFrom::Current(by) => at.checked_add_signed(by),
                };
                *at = place.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
                Ok(*at)
            }
        }
    }
}

impl Length for InputFile {
    fn len(&self) -> u64 {
        match &self.0 {
            Held::Plain(file) => Length::len(file),
            Held::Spooled { copy, .. } => copy.length,
        }
    }
}

impl ChunkReader for InputFile {
    type T = BufReader<InputFile>;

    fn get_read(&self, start: u64) -> Result<BufReader<InputFile>, ParquetError> {
        let mut file = self.rewound()?;
        file.seek(SeekFrom::Start(start))?;
        Ok(BufReader::new(file))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        let mut bytes = Vec::with_capacity(length);
        self.get_read(start)?.take(length as u64).read_to_end(&mut bytes)?;
        match bytes.len() == length {
            true => Ok(bytes.into()),
            false => Err(ParquetError::EOF(format!("{length} bytes were expected, {} are there", bytes.len()))),
        }
    }
}

impl fmt::Debug for InputFile {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("InputFile")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_of_a_stream_reads_back_from_any_place_and_is_unreadable_on_the_disk() {
        let text: Vec<u8> = (0..200_000u32).flat_map(|number| format!("canary {number}\n").into_bytes()).collect();
        let mut spooled = InputFile::spool(&text[..]).unwrap();
        let mut back = Vec::new();
        spooled.read_to_end(&mut back).unwrap();
        assert!(back == text);
        assert_eq!(Length::len(&spooled), text.len() as u64);
        for start in [0, 1, 63, 64, 65, 65_535, 65_536, 1_000_003] {
            let bytes = spooled.get_bytes(start, 777).unwrap();
            assert!(bytes == text[start as usize..start as usize + 777], "from {start}");
        }
        assert!(spooled.get_bytes(text.len() as u64 - 5, 6).is_err());
        let Held::Spooled { copy, .. } = &spooled.0 else { panic!("it was spooled") };
        let mut file = copy.file.lock().unwrap();
        file.rewind().unwrap();
        let mut raw = Vec::new();
        file.read_to_end(&mut raw).unwrap();
        assert_eq!(raw.len(), text.len());
        assert!(!raw.windows(6).any(|bytes| bytes == b"canary"));
    }
}
