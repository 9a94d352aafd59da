//! The command `source`, which runs another script.

use super::text::Text;
use super::{Flow, Interpreter};
use crate::error::{quoted, refuse};
use crate::place::{MAX_FILES, file_and_line, first_line};
use std::path::{Path, PathBuf};

/// Most scripts that are read, each time counted.
const MAX_SCRIPTS: usize = 100;
const _: () = assert!(MAX_SCRIPTS < MAX_FILES);

/// Scripts that were read, and those at work.
#[derive(Debug, Default)]
pub struct Sources {
    /// Names in the order in which the scripts were read.
    pub names: Vec<String>,
    open: Vec<PathBuf>,
}

impl Interpreter {
    /// Runs a script of the script's folder.
    pub(super) fn source(&mut self, words: &[Text]) -> Result<Text, Flow> {
        let form = "source FILE";
        self.count(words, 2, 4, form)?;
        let name = &words[words.len() - 1];
        let failed = |reason: &str| {
            let message = format!("'source' of {}: {reason}", quoted(&name.text));
            let help = "put the file beside the script, or its commands into the script";
            refuse(self.line, message, help)
        };
        if name.is_measured() {
            return Err(failed("its name depends on the machine").into());
        }
        let (path, text) = self
            .folder
            .read(&name.text)
            .map_err(|reason| failed(&reason))?;
        if self.sources.open.contains(&path) {
            return Err(failed("it reads itself").into());
        }
        if self.sources.names.len() == MAX_SCRIPTS {
            return Err(failed(&format!("more than {MAX_SCRIPTS} scripts are read")).into());
        }
        self.charge(text.len())?;
        let beside = Path::new(&self.file).with_file_name(&*name.text);
        self.sources.names.push(beside.display().to_string());
        let script = Text {
            text: text.into(),
            line: first_line(self.sources.names.len()),
        };
        self.sources.open.push(path);
        let line = self.line;
        let outcome = self.evaluate(&script);
        self.sources.open.pop();
        match outcome {
            Ok(value) | Err(Flow::Return(value)) => {
                self.line = line;
                Ok(value)
            }
            other => other,
        }
    }
}

impl Interpreter {
    /// Returns the name of the script whose command is at work.
    pub(super) fn script_at_work(&self) -> &str {
        match file_and_line(self.line) {
            (0, _) => &self.file,
            (file, _) => &self.sources.names[file - 1],
        }
    }

    /// Runs a command on names of files. What is in a file's place is not known.
    pub(super) fn file_command(&mut self, words: &[Text]) -> Result<Text, Flow> {
        let (Some(command), Some(name)) = (words.get(1), words.get(2)) else {
            return self
                .count(words, 3, 3, "file COMMAND NAME")
                .map(|()| Text::empty());
        };
        let text = name.text.trim_end_matches('/');
        let (folder, last) = text.rsplit_once('/').unwrap_or((".", text));
        let (root, extension) = match last.rfind('.') {
            Some(dot) => text.split_at(text.len() - last.len() + dot),
            None => (text, ""),
        };
        Ok(match &*command.text {
            _ if name.is_measured() => Text::measured(),
            "dirname" => Text::new(if folder.is_empty() { "/" } else { folder }),
            "tail" => Text::new(last),
            "rootname" => Text::new(root),
            "extension" => Text::new(extension),
            "join" => {
                let mut whole = String::new();
                for part in &words[2..] {
                    if part.text.starts_with('/') || whole.is_empty() {
                        whole.clear();
                    } else {
                        whole.push('/');
                    }
                    whole.push_str(part.text.trim_end_matches('/'));
                }
                Text::new(whole)
            }
            _ => Text::measured(),
        })
    }
}

/// Returns the name of a script's file without its folder.
pub fn base_name(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or_default()
}
