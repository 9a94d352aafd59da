//! Files that a scenario names: read with limits on their size, from a folder or from memory.

use crate::language::error::{Checked, Problem, shorten};
use crate::language::field::Field;
use crate::language::reader::Reader;
use crate::language::trace::TraceError;
use goodqueue_types::parameters::{CHECKSUM, Given, Key, Kind, Parameters, Value};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Place of the files that a scenario names.
#[derive(Clone, Copy, Debug)]
pub enum Files<'a> {
    /// A folder on the disk.
    Folder(&'a Path),
    /// Contents by name. A name without its folders is sufficient. Nothing is read from the disk.
    Memory(&'a BTreeMap<String, Vec<u8>>),
}

impl<'a> Files<'a> {
    /// Returns the folder of the file that names others.
    pub(crate) fn beside(file: &'a str) -> Self {
        Self::Folder(Path::new(file).parent().unwrap_or(Path::new("")))
    }

    /// Returns the path of a file for messages and its bytes, or the reason why it has none.
    fn read(self, name: &str, largest: u64) -> (PathBuf, Result<Vec<u8>, String>) {
        match self {
            Self::Folder(folder) => {
                let path = folder.join(name);
                let bytes = read_file(&path, largest);
                (path, bytes)
            }
            Self::Memory(files) => {
                let last = name.rsplit('/').next().unwrap_or(name);
                let bytes = match files.get(name).or_else(|| files.get(last)) {
                    None => Err(format!("it is not among the {} given files", files.len())),
                    Some(bytes) if bytes.len() as u64 > largest => Err(too_large(largest)),
                    Some(bytes) => Ok(bytes.clone()),
                };
                (PathBuf::from(name), bytes)
            }
        }
    }

    /// Returns the full path of a file on the disk; a name in memory stays as it is.
    fn full_path(self, path: PathBuf) -> PathBuf {
        match self {
            Self::Folder(_) => std::path::absolute(&path).unwrap_or(path),
            Self::Memory(_) => path,
        }
    }

    fn help(self) -> &'static str {
        match self {
            Self::Folder(_) => "give its path, seen from the scenario's folder",
            Self::Memory(_) => "open the scenario together with the files that it names",
        }
    }
}

/// Files that a scenario names, with the bytes that it may still read.
#[derive(Clone, Copy)]
pub(crate) struct Library<'a> {
    pub files: Files<'a>,
    pub left: &'a Cell<u64>,
}

impl Library<'_> {
    /// Reads a file of at most `largest` bytes, as [`Files::read`] does.
    fn read(self, name: &str, largest: u64) -> (PathBuf, Result<Vec<u8>, String>) {
        let left = self.left.get();
        let (path, bytes) = self.files.read(name, largest.min(left));
        let bytes = match bytes {
            Ok(bytes) => {
                self.left.set(left - bytes.len() as u64);
                Ok(bytes)
            }
            Err(_) if left < largest => {
                Err("this file and those before it have too many bytes in all".to_owned())
            }
            Err(message) => Err(message),
        };
        (path, bytes)
    }
}

/// A file that the keys `file` and `checksum` of a table name.
pub(crate) struct NamedFile<'a> {
    pub bytes: Vec<u8>,
    field: Field<'a>,
    files: Files<'a>,
    path: PathBuf,
}

impl<'a> NamedFile<'a> {
    /// Reads the file if it has at most `largest` bytes. `what` describes its content in messages.
    pub(crate) fn read(
        table: &Reader<'a>,
        library: Library<'a>,
        what: &str,
        largest: u64,
    ) -> Checked<Self> {
        let field = table.require("file")?;
        let files = library.files;
        let (path, bytes) = library.read(&field.text()?, largest);
        let bytes = bytes.map_err(|message| {
            let message = format!("cannot read the {what} {}: {message}", path.display());
            field.problem(message, files.help())
        })?;
        let found = checksum(&bytes);
        if let Some(stated) = table.get("checksum")
            && stated.text()? != format!("{found:016x}")
        {
            let message = format!("the {what} has changed: its checksum is {found:016x}");
            return Err(stated.problem(message, "restore the file, or leave \"checksum\" out"));
        }
        Ok(Self {
            bytes,
            field,
            files,
            path,
        })
    }

    /// Returns a problem at the file's key for an error in its content.
    pub(crate) fn problem(&self, error: TraceError) -> Problem {
        let TraceError {
            line,
            message,
            help,
        } = error;
        let line = line.map_or_else(String::new, |line| format!(", line {line}"));
        let name = shorten(&self.path.display().to_string());
        self.field.problem(format!("{name}{line}: {message}"), help)
    }

    /// Names the file, by its full path, and its checksum in parameters.
    pub(crate) fn name_in(self, parameters: &mut impl Parameters) {
        parameters.apply(&self.named());
    }

    /// Returns the file's full path and its checksum by their keys.
    pub(crate) fn named(self) -> Given {
        const FILE: Key = Key::new(Kind::Text).named("file");
        const FOUND: Key = CHECKSUM.named("checksum");
        let path = self.files.full_path(self.path);
        let checksum = checksum(&self.bytes);
        Given(vec![
            (&FILE, Value::Text(path.display().to_string())),
            (&FOUND, Value::Text(format!("{checksum:016x}"))),
        ])
    }
}

/// Reads a file that is no larger than the limit.
fn read_file(path: &Path, largest: u64) -> Result<Vec<u8>, String> {
    // The metadata are read first, because opening a pipe would wait for its other end.
    let metadata = std::fs::metadata(path).map_err(|error| error.to_string())?;
    if !metadata.is_file() {
        return Err("it is no file".to_owned());
    }
    let file = File::open(path).map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    file.take(largest + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| error.to_string())?;
    if bytes.len() as u64 > largest {
        return Err(too_large(largest));
    }
    Ok(bytes)
}

fn too_large(largest: u64) -> String {
    format!("it has more than {} MiB", largest >> 20)
}

/// Returns a resolved scenario in which files are identified only by their content.
pub(crate) fn without_paths(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, path)) = rest.split_once("file = \"") {
        let Some(end) = path.find("checksum = \"") else {
            break;
        };
        out.push_str(before);
        rest = &path[end..];
    }
    out + rest
}

/// Returns the 64-bit FNV-1a checksum, which detects changes but not forgeries.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
