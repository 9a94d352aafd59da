//! Files compressed with gzip or zstd, which are unpacked as they are read.

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::io::{self, BufRead, BufReader, Cursor, Read};

/// A raw block of zstd that is empty and the last of its frame, and room for a checksum.
const LAST_BLOCK: [u8; 7] = [1, 0, 0, 0, 0, 0, 0];

/// A file, unpacked if it is compressed. Memory is bounded by the window of the compression, of at
/// most 128 MiB.
pub struct Unpacked<R> {
    layout: Layout<R>,
    is_damaged: bool,
}

enum Layout<R> {
    Plain(Input<R>),
    Gzip(Box<MultiGzDecoder<BufReader<Input<R>>>>),
    Zstd(Box<Zstd<R>>),
}

/// A reader whose first bytes were read before, and which keeps its error: a decoder would report
/// an error of its own.
struct Input<R> {
    start: Cursor<Vec<u8>>,
    reader: R,
    error: Option<io::Error>,
}

impl<R: Read> Read for Input<R> {
    fn read(&mut self, memory: &mut [u8]) -> io::Result<usize> {
        let count = self.start.read(memory)?;
        if count > 0 || memory.is_empty() {
            return Ok(count);
        }
        let read = self.reader.read(memory);
        read.map_err(|error| {
            let kind = error.kind();
            if kind != io::ErrorKind::Interrupted {
                self.error = Some(error);
            }
            kind.into()
        })
    }
}

/// Consecutive frames of zstd.
struct Zstd<R> {
    decoder: FrameDecoder,
    source: BufReader<Input<R>>,
}

impl<R: Read> Unpacked<R> {
    /// Begins to read a file.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read.
    pub fn new(mut reader: R) -> io::Result<Self> {
        let mut start = Vec::new();
        (&mut reader).take(4).read_to_end(&mut start)?;
        let is_gzip = start.starts_with(&[0x1F, 0x8B]);
        let is_zstd = matches!(
            start[..],
            [0x28, 0xB5, 0x2F, 0xFD] | [0x50..=0x5F, 0x2A, 0x4D, 0x18]
        );
        let input = Input {
            start: Cursor::new(start),
            reader,
            error: None,
        };
        let layout = if is_gzip {
            let source = BufReader::with_capacity(1 << 16, input);
            Layout::Gzip(Box::new(MultiGzDecoder::new(source)))
        } else if is_zstd {
            Layout::Zstd(Box::new(Zstd {
                decoder: FrameDecoder::new(),
                source: BufReader::with_capacity(1 << 16, input),
            }))
        } else {
            Layout::Plain(input)
        };
        Ok(Self {
            layout,
            is_damaged: false,
        })
    }

    /// Returns the name of the compression, if there is one.
    pub fn compression(&self) -> Option<&'static str> {
        match self.layout {
            Layout::Plain(_) => None,
            Layout::Gzip(_) => Some("gzip"),
            Layout::Zstd(_) => Some("zstd"),
        }
    }

    /// Returns what was unpacked before the damage and not read yet.
    fn rest(&mut self, memory: &mut [u8]) -> io::Result<usize> {
        match &mut self.layout {
            Layout::Zstd(zstd) => zstd.decoder.read(memory),
            Layout::Plain(_) | Layout::Gzip(_) => Ok(0),
        }
    }

    /// Returns true if the compressed data were found to be damaged or to end too early. The bytes
    /// before that were read.
    pub fn is_damaged(&self) -> bool {
        self.is_damaged
    }
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, memory: &mut [u8]) -> io::Result<usize> {
        if self.is_damaged {
            return self.rest(memory);
        }
        let (read, input) = match &mut self.layout {
            Layout::Plain(input) => (input.read(memory), input),
            Layout::Gzip(decoder) => (decoder.read(memory), decoder.get_mut().get_mut()),
            Layout::Zstd(zstd) => (zstd.read(memory), zstd.source.get_mut()),
        };
        match (read, input.error.take()) {
            (_, Some(error)) => Err(error),
            (Err(error), None) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            (Err(_), None) => {
                self.is_damaged = true;
                if let Layout::Zstd(zstd) = &mut self.layout {
                    zstd.give_up();
                }
                self.rest(memory)
            }
            (read, None) => read,
        }
    }
}

impl<R: Read> Zstd<R> {
    fn read(&mut self, memory: &mut [u8]) -> io::Result<usize> {
        while self.decoder.can_collect() == 0 {
            if !self.decoder.is_finished() {
                let one = BlockDecodingStrategy::UptoBlocks(1);
                let decoded = self.decoder.decode_blocks(&mut self.source, one);
                decoded.map_err(io::Error::other)?;
            } else if !self.next_frame()? {
                return Ok(0);
            }
        }
        self.decoder.read(memory)
    }

    /// Begins the next frame. Returns false if there is none.
    fn next_frame(&mut self) -> io::Result<bool> {
        let told = self.decoder.get_checksum_from_data();
        if told.is_some() && told != self.decoder.get_calculated_checksum() {
            return Err(io::ErrorKind::InvalidData.into());
        }
        if self.source.fill_buf()?.is_empty() {
            return Ok(false);
        }
        match self.decoder.init(&mut self.source) {
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                length,
                ..
            })) => {
                let mut skipped = (&mut self.source).take(length.into());
                io::copy(&mut skipped, &mut io::sink())?;
            }
            begun => begun.map_err(io::Error::other)?,
        }
        Ok(true)
    }

    /// Ends a damaged frame. The decoder otherwise holds back the data to which later blocks may
    /// refer.
    fn give_up(&mut self) {
        if !self.decoder.is_finished() {
            let all = BlockDecodingStrategy::All;
            let _ = self.decoder.decode_blocks(&LAST_BLOCK[..], all);
        }
    }
}
