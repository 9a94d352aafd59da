//! The parser, which converts text to a [`Script`].

use super::cursor::Cursor;
use super::packet_parser::packet;
use super::syntax::{Call, Command, Event, Refusal, Script, Step, When};

/// Parses a whole script.
pub fn parse(text: &str) -> Result<Script, Refusal> {
    let mut script = Script::default();
    let mut cursor = Cursor::new(text);
    loop {
        cursor.skip_blank();
        let line = cursor.line();
        match cursor.peek() {
            None => return Ok(script),
            Some('-') if script.events.is_empty() => script.options.push(option(&mut cursor)?),
            Some('`') => {
                cursor.expect("`")?;
                let text = cursor.until("`")?.trim().to_owned();
                if script.events.is_empty() {
                    script.setup.push(Command { line, text });
                } else {
                    // The last command restores the machine. The model has nothing to restore.
                    cursor.skip_blank();
                    if cursor.peek().is_some() {
                        return cursor.malformed("the end of the script after a clean-up command");
                    }
                }
            }
            Some('+' | '*' | '.' | '0'..='9') => script.events.push(event(&mut cursor)?),
            Some(_) => return cursor.malformed("an option, a command or a time"),
        }
    }
}

/// Parses `--name` or `--name=value`.
fn option(cursor: &mut Cursor<'_>) -> Result<(String, String, usize), Refusal> {
    let line = cursor.line();
    cursor.expect("--")?;
    let name = cursor.word().to_owned();
    let value = if cursor.accept("=") {
        cursor.take_while(|c| !c.is_whitespace()).to_owned()
    } else {
        String::new()
    };
    Ok((name, value, line))
}

fn event(cursor: &mut Cursor<'_>) -> Result<Event, Refusal> {
    let line = cursor.line();
    let when = when(cursor)?;
    cursor.skip_blank();
    let step = match cursor.peek() {
        Some('`') => {
            cursor.expect("`")?;
            Step::Command(cursor.until("`")?.trim().to_owned())
        }
        Some('%') => {
            cursor.expect("%{")?;
            Step::Code(cursor.until("}%")?.to_owned())
        }
        Some('<') => {
            cursor.expect("<")?;
            Step::Inbound(packet(cursor, false)?)
        }
        Some('>') => {
            cursor.expect(">")?;
            Step::Outbound(packet(cursor, true)?)
        }
        Some(c) if c.is_ascii_alphabetic() => Step::Call(call(cursor)?),
        _ => return cursor.malformed("a packet, a system call, a command or a code block"),
    };
    Ok(Event { line, when, step })
}

/// Parses a time such as `1.5`, `+.1`, `+.3~+.31`, `+0...0.01` or `*`.
fn when(cursor: &mut Cursor<'_>) -> Result<When, Refusal> {
    let mut when = When {
        relative: false,
        start: None,
        end: None,
        returns: None,
    };
    if cursor.accept("*") {
        return Ok(when);
    }
    when.relative = cursor.accept("+");
    when.start = Some(cursor.seconds()?);
    if cursor.accept("~") {
        let relative = cursor.accept("+");
        when.end = Some(cursor.seconds()?);
        if relative != when.relative || when.end < when.start {
            return cursor.malformed("a range from earlier to later, both relative or neither,");
        }
    } else if cursor.accept("...") {
        cursor.accept("+");
        when.returns = Some(cursor.seconds()?);
    }
    Ok(when)
}

/// Parses `name(arguments) = value`, which the name and the text of an error may follow.
fn call(cursor: &mut Cursor<'_>) -> Result<Call, Refusal> {
    let name = cursor.word().to_owned();
    cursor.expect("(")?;
    let arguments = arguments(cursor)?;
    cursor.expect("=")?;
    let mut errno = None;
    let returns = if cursor.accept("...") {
        None
    } else {
        let negative = cursor.accept("-");
        let value = cursor.number()? as i64;
        let mut ahead = cursor.clone();
        let word = ahead.word();
        if word.starts_with('E') {
            errno = Some(word.to_owned());
            *cursor = ahead;
        }
        if cursor.accept("(") {
            cursor.until(")")?;
        }
        Some(if negative { -value } else { value })
    };
    Ok(Call {
        name,
        arguments,
        returns,
        errno,
    })
}

/// Parses arguments up to and including the closing parenthesis.
fn arguments(cursor: &mut Cursor<'_>) -> Result<Vec<String>, Refusal> {
    let rest = cursor.rest();
    let mut depth = 1;
    let mut quoted = false;
    let mut parts = vec![String::new()];
    for (at, c) in rest.char_indices() {
        quoted ^= c == '"';
        match c {
            '(' | '[' | '{' if !quoted => depth += 1,
            ')' | ']' | '}' if !quoted => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            cursor.until(&rest[..=at])?;
            return Ok(parts.iter().map(|part| part.trim().to_owned()).collect());
        }
        if c == ',' && depth == 1 && !quoted {
            parts.push(String::new());
        } else if let Some(part) = parts.last_mut() {
            part.push(c);
        }
    }
    cursor.malformed("`)`")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packetdrill::script::syntax::OptionSpec;

    fn first(text: &str) -> Event {
        parse(text).expect("parses").events.remove(0)
    }

    #[test]
    fn times_are_absolute_relative_ranges_or_any() {
        let at = |text: &str| {
            let when = first(&format!("{text} close(3) = 0")).when;
            (when.relative, when.start, when.end, when.returns)
        };
        assert_eq!(at("0"), (false, Some(0), None, None));
        assert_eq!(at("+.105"), (true, Some(105_000), None, None));
        assert_eq!(at("+.3~+.310"), (true, Some(300_000), Some(310_000), None));
        assert_eq!(at("1.5~2"), (false, Some(1_500_000), Some(2_000_000), None));
        assert_eq!(at("+0...0.010"), (true, Some(0), None, Some(10_000)));
        assert_eq!(at("+.002 ... 0.004"), (true, Some(2000), None, Some(4000)));
        assert_eq!(at("*"), (false, None, None, None));
    }

    #[test]
    fn packets_are_parsed_with_the_fields_that_they_check() {
        let Step::Outbound(spec) =
            first("+0 > [ect0] P. 1:1001(1000) ack 7 win 81 <nop, nop, sack 1:2 3:4>").step
        else {
            panic!("an outbound packet");
        };
        assert_eq!(
            (spec.seq, spec.payload, spec.ack, spec.window),
            (1, 1000, Some(7), Some(81))
        );
        assert_eq!(
            spec.options,
            Some(vec![OptionSpec::Sack(vec![(1, 2), (3, 4)])])
        );
        let Step::Outbound(spec) = first("+0 > . 1:1(0) ack 1 <...>").step else {
            panic!("an outbound packet");
        };
        assert_eq!((spec.options, spec.window), (None, None));
    }

    #[test]
    fn calls_keep_their_arguments_and_errors() {
        let Step::Call(call) =
            first("+0 f(4, {a(...)=..., b(1)=[{..., 40}]}, X) = -1 EAGAIN (Try (again)\n").step
        else {
            panic!("a call");
        };
        assert_eq!(call.arguments.len(), 3);
        assert_eq!(
            (call.returns, call.errno.as_deref()),
            (Some(-1), Some("EAGAIN"))
        );
    }

    #[test]
    fn nonsense_is_refused_with_its_line() {
        for text in [
            "0 close(3) = 0\n frobnicate\n",
            "0 close(3) = 0\n+0 ? . 1:1(0) ack 1\n",
            "0 close(3) = 0\n+0 > Q. 1:1(0) ack 1\n",
            "0 close(3) = 0\n+0 > . 1:2(0) ack 1\n",
            "0 close(3) = 0\n+0 > . 1:1(0) ack 1 wim 5\n",
            "0 close(3) = 0\n+0 > . 1:1(0) ack 1 <mss 1000,nonsense 3>\n",
            "0 close(3) = 0\n+x close(3) = 0\n",
        ] {
            let refusal = parse(text).expect_err(text);
            assert!(
                matches!(refusal, Refusal::Malformed(2, _)),
                "{text}: {refusal:?}"
            );
        }
    }
}
