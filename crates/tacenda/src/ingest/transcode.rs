//! Text in another encoding, read as UTF-8.

use encoding_rs::{CoderResult, Decoder, Encoding};
use std::io;
use std::io::Read;

/// A reader that turns its input into UTF-8 while it is read.
pub(super) struct Transcoder<R> {
    inner: R,
    decoder: Decoder,
    input: Vec<u8>,
    start: usize,
    end: usize,
    ended: bool,
    finished: bool,
    /// Decoded text that was not taken yet, because a caller's buffer may be too small for one character.
    carry: Vec<u8>,
    taken: usize,
    /// Whether something could not be decoded and was replaced by U+FFFD.
    pub faulty: bool,
}

/// Room for any character. The decoder asks for more than the longest one needs.
const ROOM: usize = 16;

impl<R: Read> Transcoder<R> {
    /// Reads `inner` as `encoding`; a byte order mark is skipped.
    pub fn new(inner: R, encoding: &'static Encoding) -> Transcoder<R> {
        Transcoder {
            inner,
            decoder: encoding.new_decoder_with_bom_removal(),
            input: vec![0; 64 << 10],
            start: 0,
            end: 0,
            ended: false,
            finished: false,
            carry: Vec::new(),
            taken: 0,
            faulty: false,
        }
    }

    /// Decodes some text into a buffer with room for a character; 0 at the end.
    fn decode(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while !self.finished {
            if self.start == self.end && !self.ended {
                self.start = 0;
                self.end = self.inner.read(&mut self.input)?;
                self.ended = self.end == 0;
            }
            let (result, read, written, faulty) =
                self.decoder.decode_to_utf8(&self.input[self.start..self.end], out, self.ended);
            self.start += read;
            self.faulty |= faulty;
            self.finished = self.ended && result == CoderResult::InputEmpty;
            if written > 0 {
                return Ok(written);
            }
        }
        Ok(0)
    }
}

impl<R: Read> Read for Transcoder<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.carry.len() && out.len() < ROOM && !out.is_empty() {
            let mut room = [0; ROOM];
            let written = self.decode(&mut room)?;
            self.carry = room[..written].to_vec();
            self.taken = 0;
        }
        if self.taken < self.carry.len() {
            let count = out.len().min(self.carry.len() - self.taken);
            out[..count].copy_from_slice(&self.carry[self.taken..self.taken + count]);
            self.taken += count;
            return Ok(count);
        }
        if out.len() < ROOM { Ok(0) } else { self.decode(out) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use encoding_rs::{UTF_16LE, WINDOWS_1252};

    /// Whatever the sizes of the buffers, every character arrives, once and in order.
    #[test]
    fn buffers_of_any_size_get_the_same_text() {
        let text = "Müller;Größe;é;ß\r\n漢字;𝄞;x\r\n".repeat(5_000);
        let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let latin = WINDOWS_1252.encode(&"Müller;Größe;é;ß\r\n".repeat(5_000)).0.into_owned();
        for (bytes, encoding) in [(utf16, UTF_16LE), (latin, WINDOWS_1252)] {
            let wanted = encoding.decode(&bytes).0.into_owned();
            for size in [1, 2, 3, 5, 15, 16, 17, 1_000, 256 << 10] {
                let mut reader = Transcoder::new(&bytes[..], encoding);
                let (mut all, mut buffer) = (Vec::new(), vec![0; size]);
                loop {
                    let count = reader.read(&mut buffer).unwrap();
                    if count == 0 {
                        break;
                    }
                    all.extend_from_slice(&buffer[..count]);
                }
                assert!(all == wanted.as_bytes(), "buffers of {size}");
                assert!(!reader.faulty);
            }
        }
    }
}
