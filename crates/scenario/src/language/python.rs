//! Classes in Python that a scenario names. A program imports them only if it is allowed to
//! (`--allow-python`), because a scenario file must not run code by itself.

use crate::language::error::{Checked, shorten};
use crate::language::field::Field;
use crate::language::units::UnitError;

/// Function that returns the checksum of the source of a class in Python, or the reason why there is
/// none and what to do.
pub type Checksums<'a> = dyn Fn(&str) -> Result<String, UnitError> + 'a;

/// A class that a field names.
pub(crate) struct Named<'a> {
    /// Part of the network that the class is in messages: `control` or `queue`.
    pub part: &'static str,
    /// Name of an example of such a class.
    pub example: &'static str,
    /// Module and class.
    pub class: &'a str,
    /// Checksum that the scenario gives, or empty.
    pub checksum: &'a str,
}

impl Named<'_> {
    /// Returns the checksum of the class's source. Without `checksums` no class is accepted.
    pub(crate) fn check(
        &self,
        field: &Field<'_>,
        checksums: Option<&Checksums<'_>>,
    ) -> Checked<String> {
        let (part, class) = (self.part, self.class);
        let Some(checksums) = checksums else {
            let class = shorten(class);
            let message = format!("the {part} \"{class}\" is code in Python, which is not allowed");
            let help =
                format!("add --allow-python if you trust this code, or name a built-in {part}");
            return Err(field.problem(message, help));
        };
        if !is_class(class) {
            let message = format!("\"{}\" names no class", shorten(class));
            let help = format!(
                "write the module and the class, as in class = \"{}\"",
                self.example
            );
            return Err(field.problem(message, help));
        }
        let found =
            checksums(class).map_err(|UnitError { message, help }| field.problem(message, help))?;
        if !self.checksum.is_empty() && self.checksum != found {
            let message = format!("the source of {class} has changed: its checksum is {found}");
            let help = "restore the source, or leave \"checksum\" out";
            return Err(field.problem(message, help));
        }
        Ok(found)
    }
}

/// Returns true for the dotted name of a module, a colon, and the dotted name of a class.
fn is_class(text: &str) -> bool {
    let is_word = |word: &str| {
        let mut letters = word.chars();
        letters
            .next()
            .is_some_and(|first| first.is_alphabetic() || first == '_')
            && letters.all(|letter| letter.is_alphanumeric() || letter == '_')
    };
    let is_dotted = |name: &str| name.split('.').all(is_word);
    text.split_once(':')
        .is_some_and(|(module, class)| is_dotted(module) && is_dotted(class))
}
