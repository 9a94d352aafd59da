//! Files that a script reads with `source`: those of its own folder and below.

use crate::MAX_BYTES;
use goodqueue_types::message::without_mark;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Most bytes of all files together.
const MAX_IN_ALL: usize = 8 << 20;

/// Folder of a script.
#[derive(Clone, Debug, Default)]
pub struct Folder {
    /// The folder without symbolic links; none for a script without a folder.
    root: Option<PathBuf>,
    /// Bytes that have been read.
    bytes: usize,
}

impl Folder {
    /// Returns a folder. A folder that cannot be read has no files.
    pub fn new(folder: Option<&Path>) -> Self {
        let here = |folder: &Path| folder.as_os_str().is_empty();
        let named = folder.map(|folder| if here(folder) { Path::new(".") } else { folder });
        Self {
            root: named.and_then(|folder| folder.canonicalize().ok()),
            bytes: 0,
        }
    }

    /// Returns the path and the text of a file.
    ///
    /// # Errors
    /// Returns the reason why the file is not read.
    pub fn read(&mut self, name: &str) -> Result<(PathBuf, String), String> {
        let Some(root) = &self.root else {
            return Err("the script has no folder".to_owned());
        };
        let path = root.join(name).canonicalize();
        let path = path.map_err(|error| format!("it cannot be read: {}", plain(&error)))?;
        // The path has no symbolic links, so a link to the outside is outside.
        if !path.starts_with(root) {
            return Err("it is not in the script's folder".to_owned());
        }
        // Opening a pipe would wait for its writer.
        let size = match path.metadata() {
            Ok(metadata) if metadata.is_file() => metadata.len(),
            _ => return Err("it is not a plain file".to_owned()),
        };
        if size > MAX_BYTES as u64 || self.bytes + size as usize > MAX_IN_ALL {
            return Err(format!("it has {size} bytes, which is too much"));
        }
        let mut content = Vec::new();
        File::open(&path)
            .and_then(|file| file.take(size).read_to_end(&mut content))
            .map_err(|error| format!("it cannot be read: {}", plain(&error)))?;
        self.bytes += content.len();
        Ok((
            path,
            String::from_utf8_lossy(without_mark(&content)).into_owned(),
        ))
    }
}

/// Returns the reason of an error without its number.
fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error")
        .next()
        .unwrap_or_default()
        .to_lowercase()
}
