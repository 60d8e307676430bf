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
    /// Whether something could not be decoded; it was replaced by U+FFFD.
    pub faulty: bool,
}

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
            faulty: false,
        }
    }
}

impl<R: Read> Read for Transcoder<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while !self.finished && !out.is_empty() {
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
            if result == CoderResult::OutputFull {
                return Err(io::Error::new(
                    io::ErrorKind::Unsupported,
                    "the output buffer is too small for one character",
                ));
            }
        }
        Ok(0)
    }
}
