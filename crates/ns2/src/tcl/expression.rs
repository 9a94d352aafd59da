//! Expressions of Tcl.

use super::operators::{self, Value};
use super::text::Text;
use super::words::{Cursor, End};
use super::{Flow, Interpreter};
use crate::error::{quoted, refuse, unknown};

/// Binary operators, those that bind least first.
const LEVELS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!=", "eq", "ne"],
    &["<=", ">=", "<", ">"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

/// An expression at work.
struct Reader<'a> {
    cursor: Cursor<'a>,
    /// Operands that are read and not evaluated, in the branch that is not taken.
    skipping: u32,
}

impl Interpreter {
    /// Returns the value of an expression.
    pub(super) fn expression(&mut self, text: &Text) -> Result<Text, Flow> {
        self.charge(text.text.len())?;
        // Most are a number or a value that was substituted.
        if super::text::parse_whole(&text.text).is_some() || text.is_measured() {
            return Ok(text.clone());
        }
        let source = text.text.clone();
        let cursor = Cursor::new(&source, text.line);
        let mut reader = Reader {
            cursor,
            skipping: 0,
        };
        let value = self.ternary(&mut reader)?;
        reader.blank();
        if reader.cursor.peek().is_some() {
            return Err(self.not_read(&reader));
        }
        Ok(value.into_text())
    }

    fn not_read(&self, reader: &Reader<'_>) -> Flow {
        let rest = reader
            .cursor
            .text
            .get(reader.cursor.at..)
            .unwrap_or_default();
        let message = match rest {
            "" => "the expression ends too early".to_owned(),
            _ => format!("the expression is not understood from {} on", quoted(rest)),
        };
        let mut error = refuse(self.line(), message, "write expr {$a + $b}");
        error.tcl = true;
        error.into()
    }

    fn ternary(&mut self, reader: &mut Reader<'_>) -> Result<Value, Flow> {
        self.budget.enter(self.line())?;
        let value = self.ternary_inside(reader);
        self.budget.leave();
        value
    }

    fn ternary_inside(&mut self, reader: &mut Reader<'_>) -> Result<Value, Flow> {
        let condition = self.binary(reader, 0)?;
        if !reader.take("?") {
            return Ok(condition);
        }
        let truth = self.truth(reader, &condition)?;
        let yes = self.operand_if(reader, truth != Some(false), |one, reader| {
            one.ternary(reader)
        })?;
        if !reader.take(":") {
            return Err(self.not_read(reader));
        }
        let no = self.operand_if(reader, truth != Some(true), |one, reader| {
            one.ternary(reader)
        })?;
        Ok(match truth {
            Some(true) => yes,
            Some(false) => no,
            None => Value::Measured,
        })
    }

    fn truth(&self, reader: &Reader<'_>, value: &Value) -> Result<Option<bool>, Flow> {
        if reader.skipping > 0 {
            return Ok(Some(false));
        }
        operators::truth(value).map_err(|message| self.wrong_operand(message))
    }

    fn wrong_operand(&self, message: String) -> Flow {
        let mut error = refuse(self.line(), message, "give numbers");
        error.tcl = true;
        error.into()
    }

    /// Reads an operand, and evaluates it if it is wanted.
    fn operand_if(
        &mut self,
        reader: &mut Reader<'_>,
        wanted: bool,
        read: impl FnOnce(&mut Self, &mut Reader<'_>) -> Result<Value, Flow>,
    ) -> Result<Value, Flow> {
        reader.skipping += u32::from(!wanted);
        let value = read(self, reader);
        reader.skipping -= u32::from(!wanted);
        value
    }

    fn binary(&mut self, reader: &mut Reader<'_>, level: usize) -> Result<Value, Flow> {
        let Some(operators) = LEVELS.get(level) else {
            return self.unary(reader);
        };
        let mut left = self.binary(reader, level + 1)?;
        while let Some(operator) = reader.operator(operators) {
            self.charge(0)?;
            left = match operator {
                "||" | "&&" => {
                    let known = self.truth(reader, &left)?;
                    let wanted = known != Some(operator == "||");
                    let right = self
                        .operand_if(reader, wanted, |one, reader| one.binary(reader, level + 1))?;
                    match known {
                        Some(truth) if !wanted => Value::from(truth),
                        None => Value::Measured,
                        Some(_) => match self.truth(reader, &right)? {
                            Some(truth) => Value::from(truth),
                            None => Value::Measured,
                        },
                    }
                }
                _ => {
                    let right = self.binary(reader, level + 1)?;
                    if reader.skipping > 0 {
                        Value::Whole(0)
                    } else {
                        let value = operators::binary(operator, &left, &right);
                        value.map_err(|message| self.wrong_operand(message))?
                    }
                }
            };
        }
        Ok(left)
    }

    fn unary(&mut self, reader: &mut Reader<'_>) -> Result<Value, Flow> {
        reader.blank();
        match reader.cursor.peek() {
            Some(sign @ (b'-' | b'+' | b'!' | b'~')) => {
                reader.cursor.skip();
                self.budget.enter(self.line())?;
                let value = self.unary(reader);
                self.budget.leave();
                let value = value?;
                if reader.skipping > 0 {
                    return Ok(value);
                }
                operators::unary(sign, &value).map_err(|message| self.wrong_operand(message))
            }
            _ => self.operand(reader),
        }
    }

    fn operand(&mut self, reader: &mut Reader<'_>) -> Result<Value, Flow> {
        self.charge(0)?;
        let Some(byte) = reader.cursor.peek() else {
            return Err(self.not_read(reader));
        };
        match byte {
            b'(' => {
                reader.cursor.skip();
                let value = self.ternary(reader)?;
                if !reader.take(")") {
                    return Err(self.not_read(reader));
                }
                Ok(value)
            }
            b'$' if reader.skipping > 0 => {
                reader.cursor.skip();
                reader.skip_variable();
                Ok(Value::Whole(0))
            }
            b'$' => match self.variable(&mut reader.cursor)? {
                Some(value) => Ok(Value::read(&value)),
                None => Err(self.not_read(reader)),
            },
            b'[' if reader.skipping > 0 => {
                reader.skip_brackets();
                Ok(Value::Whole(0))
            }
            b'[' => {
                reader.cursor.skip();
                let value = self.evaluate_at(&mut reader.cursor, true)?;
                Ok(Value::read(&value))
            }
            b'"' => {
                reader.cursor.skip();
                if reader.skipping > 0 {
                    let rest = &reader.cursor.text[reader.cursor.at..];
                    let end = rest.find('"').unwrap_or(rest.len());
                    let at = (reader.cursor.at + end + 1).min(reader.cursor.text.len());
                    reader.cursor.skip_to(at);
                    return Ok(Value::Whole(0));
                }
                let value = self.substitute(&mut reader.cursor, End::Quote)?;
                Ok(Value::read(&value))
            }
            b'{' => {
                let bytes = reader.cursor.text.as_bytes();
                let Some(end) = super::text::closing_brace(bytes, reader.cursor.at) else {
                    return Err(self.not_read(reader));
                };
                let inside = Text::new(&reader.cursor.text[reader.cursor.at + 1..end]);
                reader.cursor.skip_to(end + 1);
                Ok(Value::read(&inside))
            }
            b'0'..=b'9' | b'.' => match reader.number() {
                Some(number) => Ok(Value::read(&Text::new(number))),
                None => Err(self.not_read(reader)),
            },
            b'<' if reader.take(crate::MEASURED) => Ok(Value::Measured),
            _ => self.named(reader),
        }
    }

    /// Returns a function's value, or a truth by its name.
    fn named(&mut self, reader: &mut Reader<'_>) -> Result<Value, Flow> {
        let name = reader.cursor.name();
        if name.is_empty() {
            return Err(self.not_read(reader));
        }
        if !reader.take("(") {
            if matches!(name, "true" | "false" | "yes" | "no" | "on" | "off") {
                return Ok(Value::Text(name.to_owned()));
            }
            let message = format!("the expression has the word {}", quoted(name));
            let mut error = refuse(self.line(), message, "write a text in quotation marks");
            error.tcl = true;
            return Err(error.into());
        }
        let mut arguments = Vec::new();
        while !reader.take(")") {
            if !arguments.is_empty() && !reader.take(",") {
                return Err(self.not_read(reader));
            }
            arguments.push(self.ternary(reader)?);
        }
        if reader.skipping > 0 {
            return Ok(Value::Whole(0));
        }
        if name == "rand" && arguments.is_empty() {
            return Ok(Value::Real(self.world.uniform(0.0, 1.0)));
        }
        if name == "srand" {
            return Ok(Value::Whole(0));
        }
        if !operators::FUNCTIONS.contains(&name) {
            return Err(unknown(self.line(), "the function", name, operators::FUNCTIONS).into());
        }
        operators::function(name, &arguments).map_err(|message| self.wrong_operand(message))
    }
}

impl Reader<'_> {
    fn blank(&mut self) {
        while let Some(byte) = self.cursor.peek() {
            let continued = byte == b'\\' && matches!(self.cursor.second(), Some(b'\n' | b'\r'));
            if !byte.is_ascii_whitespace() && !continued {
                return;
            }
            self.cursor.skip();
        }
    }

    /// Passes over a text if it is next.
    fn take(&mut self, wanted: &str) -> bool {
        self.blank();
        let found = self.cursor.text[self.cursor.at..].starts_with(wanted);
        if found {
            self.cursor.at += wanted.len();
        }
        found
    }

    /// Passes over one of some operators.
    fn operator<'o>(&mut self, operators: &[&'o str]) -> Option<&'o str> {
        self.blank();
        let rest = &self.cursor.text[self.cursor.at..];
        // Shorter operators begin like longer ones of other levels.
        let longer = ["||", "&&", "<<", ">>", "<=", ">=", "==", "!=", "**"];
        let next = longer.iter().find(|one| rest.starts_with(**one));
        let found = operators.iter().find(|one| {
            if let Some(long) = next {
                return *one == long;
            }
            let letters = one.starts_with(|c: char| c.is_ascii_alphabetic());
            let after = rest.as_bytes().get(one.len());
            let word = after.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
            rest.starts_with(**one) && !(letters && word)
        })?;
        self.cursor.at += found.len();
        Some(found)
    }

    /// Returns the digits of a number.
    fn number(&mut self) -> Option<String> {
        let rest = &self.cursor.text.as_bytes()[self.cursor.at..];
        let mut end = 0;
        if rest.starts_with(b"0x") {
            end = 2;
            end += rest[2..]
                .iter()
                .take_while(|byte| byte.is_ascii_hexdigit())
                .count();
        } else {
            while let Some(&byte) = rest.get(end) {
                let exponent = end > 0 && matches!(byte, b'e' | b'E');
                let sign = matches!(byte, b'+' | b'-') && matches!(rest[end - 1], b'e' | b'E');
                if !(byte.is_ascii_digit() || byte == b'.' || exponent || sign) {
                    break;
                }
                end += 1;
            }
        }
        let text = &self.cursor.text[self.cursor.at..self.cursor.at + end];
        super::text::parse_number(text)?;
        self.cursor.at += end;
        Some(text.to_owned())
    }

    fn skip_variable(&mut self) {
        if self.cursor.peek() == Some(b'{') {
            let bytes = self.cursor.text.as_bytes();
            let end = super::text::closing_brace(bytes, self.cursor.at);
            self.cursor.at = end.map_or(bytes.len(), |end| end + 1);
            return;
        }
        self.cursor.name();
        if self.cursor.peek() == Some(b'(') {
            self.skip_pair(b'(', b')');
        }
    }

    fn skip_brackets(&mut self) {
        self.skip_pair(b'[', b']');
    }

    fn skip_pair(&mut self, open: u8, close: u8) {
        let bytes = self.cursor.text.as_bytes();
        let (mut depth, mut at) = (0_usize, self.cursor.at);
        while at < bytes.len() {
            if bytes[at] == open {
                depth += 1;
            } else if bytes[at] == close {
                depth -= 1;
                if depth == 0 {
                    at += 1;
                    break;
                }
            }
            at += 1;
        }
        self.cursor.at = at;
    }
}
