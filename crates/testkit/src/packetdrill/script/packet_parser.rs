//! The part of the grammar that describes packets.

use goodqueue_types::{AccEcnOption, AccEcnOrder};

use super::cursor::Cursor;
use super::syntax::{Cookie, EcnSpec, OptionSpec, PacketSpec, Refusal};

/// Parses a packet after its `<` or `>`.
pub fn packet(cursor: &mut Cursor<'_>, outbound: bool) -> Result<PacketSpec, Refusal> {
    let ecn = ecn(cursor)?;
    let flags = flags(cursor)?;
    let seq = cursor.number()?;
    cursor.expect(":")?;
    let end = cursor.number()?;
    cursor.expect("(")?;
    let payload = cursor.number()?;
    if end != seq + payload {
        return cursor.malformed("a length that fits the sequence numbers");
    }
    cursor.expect(")")?;
    let ack = keyword(cursor, "ack")?;
    let window = keyword(cursor, "win")?;
    if keyword(cursor, "urg")?.is_some() {
        return cursor.not_applicable("urgent data");
    }
    let options = options(cursor)?;
    if options.is_none() && !outbound {
        return cursor.malformed("options that are spelt out, in an inbound packet,");
    }
    Ok(PacketSpec {
        ecn,
        flags,
        seq,
        payload,
        ack,
        window,
        options,
    })
}

/// Parses an ECN field such as `[ect0]`.
fn ecn(cursor: &mut Cursor<'_>) -> Result<Option<EcnSpec>, Refusal> {
    if !cursor.accept("[") {
        return Ok(None);
    }
    let field = match cursor.until("]")? {
        "noecn" => EcnSpec::NotCapable,
        "ect0" => EcnSpec::Capable0,
        "ect1" => EcnSpec::Capable1,
        "ect01" => EcnSpec::Capable,
        "ce" => EcnSpec::Experienced,
        other => return cursor.not_applicable(&format!("the IP header field [{other}]")),
    };
    Ok(Some(field))
}

fn flags(cursor: &mut Cursor<'_>) -> Result<String, Refusal> {
    for other in ["icmp", "udp", "sctp", "ipv4", "ipv6", "gre", "mpls"] {
        if cursor.accept(other) {
            return cursor.not_applicable(other);
        }
    }
    let here = cursor.clone();
    let word = cursor.take_while(|c| !c.is_whitespace());
    if word.contains('U') {
        return cursor.not_applicable("urgent data");
    }
    let known = word == "-" || word.chars().all(|c| "SFRPEWA.01234567".contains(c));
    if word.is_empty() || !known {
        return here.malformed("TCP flags");
    }
    Ok(word
        .trim_matches('-')
        .chars()
        .flat_map(ace_letters)
        .collect())
}

/// Returns the letters of the flags AE, CWR and ECE for a value of the ACE field, and any other
/// letter unchanged.
fn ace_letters(letter: char) -> impl Iterator<Item = char> {
    let value = letter.to_digit(8);
    let bits = [(4, 'A'), (2, 'W'), (1, 'E')];
    let set = bits
        .into_iter()
        .filter(move |(bit, _)| value.is_some_and(|value| value & bit != 0));
    let other = value.is_none().then_some(letter);
    set.map(|(_, letter)| letter).chain(other)
}

fn keyword(cursor: &mut Cursor<'_>, name: &str) -> Result<Option<u64>, Refusal> {
    let mut ahead = cursor.clone();
    if ahead.word() != name {
        return Ok(None);
    }
    *cursor = ahead;
    cursor.number().map(Some)
}

/// Parses options such as `<mss 1000,nop,sackOK>` or `<...>`. A packet without them has no options.
fn options(cursor: &mut Cursor<'_>) -> Result<Option<Vec<OptionSpec>>, Refusal> {
    let mut ahead = cursor.clone();
    // A `<` here begins options: that of the next event comes after a time.
    if !ahead.accept("<") {
        return Ok(Some(Vec::new()));
    }
    *cursor = ahead;
    if cursor.accept("...") {
        cursor.expect(">")?;
        return Ok(None);
    }
    let mut list = Vec::new();
    if cursor.accept(">") {
        return Ok(Some(list));
    }
    loop {
        list.extend(option(cursor)?);
        if cursor.accept(">") {
            return Ok(Some(list));
        }
        cursor.expect(",")?;
    }
}

fn option(cursor: &mut Cursor<'_>) -> Result<Option<OptionSpec>, Refusal> {
    cursor.skip_blank();
    let here = cursor.clone();
    let name = cursor.word();
    Ok(Some(match name {
        "nop" | "eol" => return Ok(None),
        "mss" => OptionSpec::Mss(cursor.number()?),
        "sackOK" => OptionSpec::SackPermitted,
        "wscale" => OptionSpec::WindowScale(cursor.number()?),
        "sack" => OptionSpec::Sack(sack(cursor)?),
        "TS" => {
            cursor.expect("val")?;
            let value = cursor.number()?;
            cursor.expect("ecr")?;
            OptionSpec::Timestamps(value, cursor.number()?)
        }
        "FO" | "FOEXP" => OptionSpec::FastOpen(Cookie {
            text: cursor.word().to_owned(),
            is_experimental: name == "FOEXP",
        }),
        "md5" => return cursor.not_applicable("the MD5 option"),
        "ECN" => OptionSpec::AccEcn(accecn(cursor)?),
        _ => return here.malformed("a TCP option"),
    }))
}

/// Parses counters of the AccECN option such as `e1b 1 ceb 0 e0b 1`. The first one gives the order.
fn accecn(cursor: &mut Cursor<'_>) -> Result<AccEcnOption, Refusal> {
    let mut names = Vec::new();
    let mut values = Vec::new();
    loop {
        let mut ahead = cursor.clone();
        let name = ahead.word();
        if !["e0b", "ceb", "e1b"].contains(&name) {
            break;
        }
        *cursor = ahead;
        names.push(name);
        values.push(cursor.number()? as u32);
    }
    let orders = [
        (AccEcnOrder::Capable0First, ["e0b", "ceb", "e1b"]),
        (AccEcnOrder::Capable1First, ["e1b", "ceb", "e0b"]),
    ];
    match orders.iter().find(|(_, order)| order.starts_with(&names)) {
        Some((order, _)) => Ok(AccEcnOption::new(*order, &values)),
        None => cursor.malformed("counters in one of the two orders of AccECN"),
    }
}

fn sack(cursor: &mut Cursor<'_>) -> Result<Vec<(u64, u64)>, Refusal> {
    let mut blocks = Vec::new();
    loop {
        cursor.skip_blank();
        if !cursor.peek().is_some_and(|c| c.is_ascii_digit()) {
            return Ok(blocks);
        }
        let start = cursor.number()?;
        cursor.expect(":")?;
        blocks.push((start, cursor.number()?));
    }
}
