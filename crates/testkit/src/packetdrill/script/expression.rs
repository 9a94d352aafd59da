//! The expressions of `%{ }%` blocks: integers, fractions, names, arithmetic, chained comparisons,
//! `and`, `or`, `not`, `abs`, `min`, `max`.

use std::collections::BTreeMap;

/// Variables, by name.
pub type Names = BTreeMap<String, f64>;

/// Runs the statements of a block. `look_up` returns the values that the endpoint reports.
pub fn run(
    code: &str,
    names: &mut Names,
    look_up: &dyn Fn(&str) -> Option<f64>,
) -> Result<(), String> {
    for statement in statements(code) {
        execute(&statement, names, look_up)?;
    }
    Ok(())
}

/// Splits a block at line ends and semicolons outside parentheses and quotes.
fn statements(code: &str) -> Vec<String> {
    let joined = code.replace("\\\n", " ");
    let mut list = vec![String::new()];
    let (mut depth, mut quote, mut comment) = (0, None, false);
    for c in joined.chars() {
        comment = (comment || (c == '#' && quote.is_none())) && c != '\n';
        if comment {
            continue;
        }
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            (None, '(' | '[') => depth += 1,
            (None, ')' | ']') => depth -= 1,
            _ => {}
        }
        if quote.is_none() && depth == 0 && (c == '\n' || c == ';') {
            list.push(String::new());
        } else if let Some(last) = list.last_mut() {
            last.push(c);
        }
    }
    list.iter()
        .map(|s| s.trim().to_owned())
        .filter(|s| !s.is_empty())
        .collect()
}

fn execute(
    statement: &str,
    names: &mut Names,
    look_up: &dyn Fn(&str) -> Option<f64>,
) -> Result<(), String> {
    if statement == "pass" || statement.starts_with("print ") || statement.starts_with("print(") {
        return Ok(());
    }
    if let Some(claim) = statement
        .strip_prefix("assert")
        .filter(|s| s.starts_with([' ', '(']))
    {
        let mut parser = Parser::new(claim, names, look_up)?;
        let holds = parser.expression()?;
        // The message after a comma is for people and is ignored.
        if !matches!(parser.peek(), None | Some(Token::Symbol(","))) {
            return Err(format!("`{statement}` is not understood"));
        }
        let seen = parser.seen.join(", ");
        return if holds == 0.0 {
            Err(format!("`{}` does not hold: {seen}", claim.trim()))
        } else {
            Ok(())
        };
    }
    for (operator, step) in [("+=", 1.0), ("-=", -1.0), ("=", 0.0)] {
        let Some((name, value)) = statement.split_once(operator) else {
            continue;
        };
        let name = name.trim();
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            continue;
        }
        let mut parser = Parser::new(value, names, look_up)?;
        let mut result = parser.expression()?;
        if parser.peek().is_some() {
            break;
        }
        if step != 0.0 {
            let old = names
                .get(name)
                .ok_or_else(|| format!("{name} has no value"))?;
            result = old + step * result;
        }
        names.insert(name.to_owned(), result);
        return Ok(());
    }
    Err(format!("`{statement}` is not understood"))
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Number(f64),
    Name(String),
    Text,
    Symbol(&'static str),
}

const SYMBOLS: [&str; 19] = [
    "==", "!=", "<=", ">=", "//", "**", "<", ">", "+", "-", "*", "/", "%", "(", ")", ",", "&", "|",
    "~",
];

fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut list = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, length) = if first.is_ascii_digit() || first == '.' {
            number(rest)?
        } else if first.is_ascii_alphabetic() || first == '_' {
            let end = rest
                .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                .unwrap_or(rest.len());
            (Token::Name(rest[..end].to_owned()), end)
        } else if first == '\'' || first == '"' {
            let end = rest[1..].find(first).ok_or("a text without end")?;
            (Token::Text, end + 2)
        } else {
            let symbol = SYMBOLS.iter().find(|s| rest.starts_with(**s));
            let symbol = symbol.ok_or_else(|| format!("`{rest}` is not understood"))?;
            (Token::Symbol(symbol), symbol.len())
        };
        list.push(token);
        rest = rest[length..].trim_start();
    }
    Ok(list)
}

fn number(rest: &str) -> Result<(Token, usize), String> {
    let end = rest
        .find(|c: char| !c.is_ascii_alphanumeric() && c != '.' && c != '_')
        .unwrap_or(rest.len());
    let word = rest[..end].replace('_', "");
    let value = match word.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok().map(|n| n as f64),
        None => word.parse().ok(),
    };
    let value = value.ok_or_else(|| format!("`{word}` is not a number"))?;
    Ok((Token::Number(value), end))
}

struct Parser<'a> {
    tokens: Vec<Token>,
    at: usize,
    names: &'a Names,
    look_up: &'a dyn Fn(&str) -> Option<f64>,
    /// Names that were evaluated, with their values, for the message.
    seen: Vec<String>,
}

impl<'a> Parser<'a> {
    fn new(
        text: &str,
        names: &'a Names,
        look_up: &'a dyn Fn(&str) -> Option<f64>,
    ) -> Result<Self, String> {
        Ok(Self {
            tokens: tokens(text)?,
            at: 0,
            names,
            look_up,
            seen: Vec::new(),
        })
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn symbol(&mut self, wanted: &[&'static str]) -> Option<&'static str> {
        match self.peek() {
            Some(Token::Symbol(symbol)) if wanted.contains(symbol) => {
                let symbol = *symbol;
                self.at += 1;
                Some(symbol)
            }
            _ => None,
        }
    }

    fn keyword(&mut self, wanted: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Name(name)) if name == wanted);
        self.at += usize::from(found);
        found
    }

    fn expression(&mut self) -> Result<f64, String> {
        let mut value = self.conjunction()?;
        while self.keyword("or") {
            let right = self.conjunction()?;
            value = if value == 0.0 { right } else { value };
        }
        Ok(value)
    }

    fn conjunction(&mut self) -> Result<f64, String> {
        let mut value = self.negation()?;
        while self.keyword("and") {
            let right = self.negation()?;
            value = if value == 0.0 { value } else { right };
        }
        Ok(value)
    }

    fn negation(&mut self) -> Result<f64, String> {
        if self.keyword("not") {
            return Ok(f64::from(self.negation()? == 0.0));
        }
        self.comparison()
    }

    /// Evaluates a chain of comparisons: `a < b <= c` holds if each neighbouring pair does.
    #[expect(clippy::float_cmp, reason = "the values are counts")]
    fn comparison(&mut self) -> Result<f64, String> {
        let mut left = self.sum()?;
        let mut chain = None;
        while let Some(symbol) = self.symbol(&["==", "!=", "<=", ">=", "<", ">"]) {
            let right = self.sum()?;
            let holds = match symbol {
                "==" => left == right,
                "!=" => left != right,
                "<=" => left <= right,
                ">=" => left >= right,
                "<" => left < right,
                _ => left > right,
            };
            chain = Some(chain.unwrap_or(true) && holds);
            left = right;
        }
        Ok(chain.map_or(left, f64::from))
    }

    fn sum(&mut self) -> Result<f64, String> {
        let mut value = self.product()?;
        while let Some(symbol) = self.symbol(&["+", "-", "&", "|"]) {
            let right = self.product()?;
            value = match symbol {
                "+" => value + right,
                "-" => value - right,
                "&" => (value as i64 & right as i64) as f64,
                _ => (value as i64 | right as i64) as f64,
            };
        }
        Ok(value)
    }

    fn product(&mut self) -> Result<f64, String> {
        let mut value = self.factor()?;
        while let Some(symbol) = self.symbol(&["*", "/", "//", "%"]) {
            let right = self.factor()?;
            value = match symbol {
                "*" => value * right,
                "/" => value / right,
                "//" => (value / right).floor(),
                _ => value - right * (value / right).floor(),
            };
        }
        Ok(value)
    }

    fn factor(&mut self) -> Result<f64, String> {
        if self.symbol(&["-"]).is_some() {
            return Ok(-self.factor()?);
        }
        if self.symbol(&["("]).is_some() {
            let value = self.expression()?;
            self.symbol(&[")"]).ok_or("`)` is missing")?;
            return Ok(value);
        }
        let token = self.peek().cloned();
        self.at += 1;
        match token {
            Some(Token::Number(value)) => Ok(value),
            Some(Token::Name(name)) if self.symbol(&["("]).is_some() => self.function(&name),
            Some(Token::Name(name)) => self.variable(&name),
            other => Err(format!("a value expected, not {other:?}")),
        }
    }

    fn function(&mut self, name: &str) -> Result<f64, String> {
        let mut values = vec![self.expression()?];
        while self.symbol(&[","]).is_some() {
            values.push(self.expression()?);
        }
        self.symbol(&[")"]).ok_or("`)` is missing")?;
        match (name, values.as_slice()) {
            ("abs", [value]) => Ok(value.abs()),
            ("int", [value]) => Ok(value.trunc()),
            ("min", values) => Ok(values.iter().copied().fold(f64::INFINITY, f64::min)),
            ("max", values) => Ok(values.iter().copied().fold(f64::NEG_INFINITY, f64::max)),
            _ => Err(format!("the function `{name}` is not known")),
        }
    }

    fn variable(&mut self, name: &str) -> Result<f64, String> {
        let constant = match name {
            "True" | "TCP_ESTABLISHED" | "TCP_CA_Disorder" | "TCPI_OPT_TIMESTAMPS" => Some(1.0),
            "False" | "TCP_CA_Open" => Some(0.0),
            "TCP_SYN_SENT" | "TCP_CA_CWR" | "TCPI_OPT_SACK" => Some(2.0),
            "TCP_SYN_RECV" | "TCP_CA_Recovery" => Some(3.0),
            "TCP_CA_Loss" | "TCP_FIN_WAIT1" | "TCPI_OPT_WSCALE" => Some(4.0),
            "TCPI_OPT_SYN_DATA" => Some(32.0),
            "TCP_FIN_WAIT2" => Some(5.0),
            "TCP_TIME_WAIT" => Some(6.0),
            "TCP_CLOSE" => Some(7.0),
            "TCP_CLOSE_WAIT" | "TCPI_OPT_ECN" => Some(8.0),
            "TCP_LAST_ACK" => Some(9.0),
            "TCP_LISTEN" => Some(10.0),
            "TCP_CLOSING" => Some(11.0),
            "TCP_INFINITE_SSTHRESH" => Some(f64::from(i32::MAX)),
            _ => None,
        };
        if constant.is_some() {
            return constant.ok_or_else(String::new);
        }
        let value = self
            .names
            .get(name)
            .copied()
            .or_else(|| (self.look_up)(name));
        let value = value.ok_or_else(|| format!("`{name}` is not known"))?;
        self.seen.push(format!("{name} is {value}"));
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(code: &str) -> Result<(), String> {
        run(code, &mut Names::new(), &|name| {
            (name == "tcpi_snd_cwnd").then_some(10.0)
        })
    }

    #[test]
    fn a_failed_assertion_names_the_value_found() {
        for code in [
            " assert tcpi_snd_cwnd == 10, tcpi_snd_cwnd ",
            "assert 9 < tcpi_snd_cwnd <= 10 and not tcpi_snd_cwnd == 0xb",
            "want = 5 * 2; want += 1\nassert tcpi_snd_cwnd == want - 1, 'cwnd %d' % (want)",
            "assert (tcpi_snd_cwnd // 3 == 3 or\n  tcpi_snd_cwnd == 1)",
            "print(tcpi_snd_cwnd); assert TCP_CA_Loss == 4; \\\n assert abs(-3) == 3",
        ] {
            check(code).expect(code);
        }
        let complaint = check("assert 9 <= tcpi_snd_cwnd < 10").expect_err("10 is not below 10");
        assert!(complaint.contains("tcpi_snd_cwnd is 10"), "{complaint}");
    }

    #[test]
    fn unknown_commands_fail() {
        for code in [
            "assert tcpi_unheard_of == 1",
            "import os",
            "assert",
            "assert tcpi_snd_cwnd = 10",
            "assert tcpi_snd_cwnd == 10 10",
            "assertion tcpi_snd_cwnd == 10",
            "assert tcpi_snd_cwnd == ",
        ] {
            check(code).expect_err(code);
        }
    }
}
