//! A table of nftables that translates addresses and ends with this process.
//!
//! The kernel takes commands as netlink messages (`linux/netfilter/nf_tables.h`). The few that an
//! uplink needs are put together here.

use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_NETFILTER};
use std::io;
use std::net::Ipv4Addr;

/// Flags of a request that is acknowledged, and of one that makes something new.
const REQUEST: u16 = 0x1;
const ACKNOWLEDGED: u16 = 0x4;
const NEW: u16 = 0x200 | 0x400;
const APPENDED: u16 = 0x400 | 0x800;
/// Kind of an answer with an error code, which is 0 in an acknowledgement.
const ERROR: u16 = 2;
/// Kinds of the messages around a batch, all commands of which have effect or none.
const BATCH_BEGIN: u16 = 0x10;
const BATCH_END: u16 = 0x11;
/// Number of nftables among the parts of netfilter, and its commands.
const NFTABLES: u16 = 10;
const NEW_TABLE: u16 = NFTABLES << 8;
const NEW_CHAIN: u16 = NFTABLES << 8 | 3;
const NEW_RULE: u16 = NFTABLES << 8 | 6;
/// Flag of a table that the kernel removes when the socket that made it is closed.
const OWNED: u32 = 2;
/// Family of packets of IPv4.
const IPV4: u8 = 2;
/// Flag of an attribute that consists of attributes.
const NESTED: u16 = 0x8000;
/// Places at which chains see packets.
const FORWARD: u32 = 2;
const POSTROUTING: u32 = 4;
/// Register of a rule that holds a value, and the one that holds the verdict.
const REGISTER: u32 = 1;
const VERDICT: u32 = 0;
/// Names of the chains that translate addresses and that refuse packets.
const SOURCE: &str = "source";
const GUARD: &str = "guard";
/// States of connections of which packets have passed already, or that belong to such ones.
const KNOWN: u32 = 2 | 4;

/// Length of the header of a netlink message, and of the one of netfilter behind it.
const HEADER: usize = 16 + 4;

/// A rule for packets of IPv4.
#[derive(Clone, Copy, Debug)]
pub enum Rule {
    /// Packets from this address get the address of the device by which they leave.
    TranslateFrom(Ipv4Addr),
    /// Packets that leave by the device with this number get its address.
    TranslateTo(u32),
    /// Packets from elsewhere reach the device with this number only as answers.
    AnswersOnly(u32),
}

impl Rule {
    /// Returns the chain of the rule, and its expressions.
    fn parts(self) -> (&'static str, Vec<u8>) {
        match self {
            Self::TranslateFrom(source) => {
                let from = [
                    expression("payload", &load_source()),
                    expression("cmp", &equal(&source.octets())),
                ];
                (
                    SOURCE,
                    [&from.concat()[..], &expression("masq", &[])].concat(),
                )
            }
            Self::TranslateTo(device) => (
                SOURCE,
                [leaving_by(device), expression("masq", &[])].concat(),
            ),
            Self::AnswersOnly(device) => {
                let unknown = [
                    expression("ct", &[number(1, REGISTER), number(2, 0)].concat()),
                    expression("bitwise", &masked(KNOWN)),
                    expression("cmp", &equal(&0_u32.to_ne_bytes())),
                    expression("immediate", &drop_packet()),
                ];
                (GUARD, [leaving_by(device), unknown.concat()].concat())
            }
        }
    }
}

/// A table of rules. The kernel removes it when this value, or its process, ends.
pub struct Table {
    _owner: Socket,
}

impl Table {
    /// Makes a table in the present network namespace.
    ///
    /// # Errors
    /// Returns the kernel's error.
    pub fn new(name: &str, rules: &[Rule]) -> io::Result<Self> {
        let mut batch = Batch::default();
        batch.add_table(name);
        batch.add_chain(name, SOURCE, "nat", (POSTROUTING, 100));
        batch.add_chain(name, GUARD, "filter", (FORWARD, 0));
        for rule in rules {
            let (chain, expressions) = rule.parts();
            batch.add_rule(name, chain, &expressions);
        }
        Ok(Self {
            _owner: batch.send()?,
        })
    }
}

/// Commands that have effect together.
#[derive(Debug, Default)]
struct Batch {
    bytes: Vec<u8>,
    commands: u32,
}

impl Batch {
    fn add_table(&mut self, name: &str) {
        let owned = number(2, OWNED);
        self.add(NEW_TABLE, NEW, &[text(1, name), owned].concat());
    }

    /// Adds a chain at a place, with a priority.
    fn add_chain(&mut self, table: &str, name: &str, kind: &str, (place, priority): (u32, u32)) {
        let hook = attribute(
            4 | NESTED,
            &[number(1, place), number(2, priority)].concat(),
        );
        let parts = [text(1, table), text(3, name), hook, text(7, kind)];
        self.add(NEW_CHAIN, NEW, &parts.concat());
    }

    fn add_rule(&mut self, table: &str, chain: &str, expressions: &[u8]) {
        let expressions = attribute(4 | NESTED, expressions);
        let parts = [text(1, table), text(2, chain), expressions];
        self.add(NEW_RULE, APPENDED, &parts.concat());
    }

    fn add(&mut self, kind: u16, flags: u16, attributes: &[u8]) {
        self.commands += 1;
        let flags = REQUEST | ACKNOWLEDGED | flags;
        let command = message(kind, flags, (IPV4, 0), self.commands, attributes);
        self.bytes.extend(command);
    }

    /// Sends the commands. Returns the socket that owns the table.
    fn send(&self) -> io::Result<Socket> {
        let mut socket = Socket::new(NETLINK_NETFILTER)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        // The kernel has answered when `send` returns.
        socket.set_non_blocking(true)?;
        let begin = message(BATCH_BEGIN, REQUEST, (0, NFTABLES), 0, &[]);
        let end = message(BATCH_END, REQUEST, (0, NFTABLES), self.commands + 1, &[]);
        socket.send(&[&begin[..], &self.bytes, &end].concat(), 0)?;
        let mut acknowledged = 0;
        while acknowledged < self.commands {
            let (answers, _) = socket.recv_from_full()?;
            acknowledged += acknowledgements(&answers)?;
        }
        Ok(socket)
    }
}

/// Returns the number of acknowledgements among the kernel's answers.
///
/// # Errors
/// Returns the first error of a command.
fn acknowledgements(mut answers: &[u8]) -> io::Result<u32> {
    let mut count = 0;
    while let [a, b, c, d, kind_low, kind_high, ..] = *answers {
        let length = u32::from_ne_bytes([a, b, c, d]) as usize;
        if u16::from_ne_bytes([kind_low, kind_high]) == ERROR {
            let code = answers.get(16..20).and_then(|code| code.try_into().ok());
            match i32::from_ne_bytes(code.unwrap_or_default()) {
                0 => count += 1,
                code => return Err(io::Error::from_raw_os_error(-code)),
            }
        }
        answers = answers
            .get(length.next_multiple_of(4).max(HEADER)..)
            .unwrap_or_default();
    }
    Ok(count)
}

/// Returns a message for packets of a family, about a part of netfilter.
fn message(
    kind: u16,
    flags: u16,
    (family, part): (u8, u16),
    sequence: u32,
    attributes: &[u8],
) -> Vec<u8> {
    let length = (HEADER + attributes.len()) as u32;
    let mut bytes = Vec::with_capacity(length as usize);
    bytes.extend(length.to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(flags.to_ne_bytes());
    bytes.extend(sequence.to_ne_bytes());
    bytes.extend(0_u32.to_ne_bytes());
    bytes.extend([family, 0]);
    bytes.extend(part.to_be_bytes());
    bytes.extend(attributes);
    bytes
}

/// Returns an attribute, filled up to a multiple of four bytes.
fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let length = 4 + value.len();
    let mut bytes = Vec::with_capacity(length + 3);
    bytes.extend((length as u16).to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(value);
    bytes.resize(length.next_multiple_of(4), 0);
    bytes
}

fn text(kind: u16, value: &str) -> Vec<u8> {
    attribute(kind, &[value.as_bytes(), &[0]].concat())
}

fn number(kind: u16, value: u32) -> Vec<u8> {
    attribute(kind, &value.to_be_bytes())
}

/// Returns a value of raw bytes, as an attribute.
fn value(kind: u16, bytes: &[u8]) -> Vec<u8> {
    attribute(kind | NESTED, &attribute(1, bytes))
}

/// Returns an expression of a rule as an element of the list of its expressions.
fn expression(name: &str, attributes: &[u8]) -> Vec<u8> {
    let parts = [text(1, name), attribute(2 | NESTED, attributes)];
    attribute(1 | NESTED, &parts.concat())
}

/// Expressions that let a rule go on for packets that leave by this device.
fn leaving_by(device: u32) -> Vec<u8> {
    let load = expression("meta", &[number(1, REGISTER), number(2, 5)].concat());
    [load, expression("cmp", &equal(&device.to_ne_bytes()))].concat()
}

/// Attributes of `payload` that load the source of an IPv4 packet: four bytes at byte 12 of the
/// network's header.
fn load_source() -> Vec<u8> {
    [
        number(1, REGISTER),
        number(2, 1),
        number(3, 12),
        number(4, 4),
    ]
    .concat()
}

/// Attributes of `cmp` that let a rule go on if the register has this value.
fn equal(bytes: &[u8]) -> Vec<u8> {
    [number(1, REGISTER), number(2, 0), value(3, bytes)].concat()
}

/// Attributes of `bitwise` that keep these bits of the register.
fn masked(bits: u32) -> Vec<u8> {
    let mask = value(4, &bits.to_ne_bytes());
    let flip = value(5, &0_u32.to_ne_bytes());
    let registers = [number(1, REGISTER), number(2, REGISTER), number(3, 4)];
    [registers.concat(), mask, flip].concat()
}

/// Attributes of `immediate` that drop a packet.
fn drop_packet() -> Vec<u8> {
    let verdict = attribute(2 | NESTED, &number(1, 0));
    [number(1, VERDICT), attribute(2 | NESTED, &verdict)].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_count_without_the_bytes_that_fill_up() {
        assert_eq!(text(7, "nat")[4..], *b"nat\0");
        assert_eq!(text(1, "masq").len(), 12);
        assert_eq!(text(1, "masq")[..2], 9_u16.to_ne_bytes());
        let whole = message(NEW_TABLE, REQUEST, (IPV4, 0), 1, &text(1, "masq"));
        assert_eq!(whole.len(), 32);
        assert_eq!(whole[..4], 32_u32.to_ne_bytes());
        assert_eq!(whole[4..6], NEW_TABLE.to_ne_bytes());
    }

    #[test]
    fn the_first_error_among_answers_is_reported() {
        let answer = |code: i32| {
            let mut bytes = message(ERROR, 0, (0, 0), 1, &[0; 16]);
            bytes[16..20].copy_from_slice(&code.to_ne_bytes());
            bytes
        };
        let fine = [answer(0), answer(0)].concat();
        assert_eq!(acknowledgements(&fine).unwrap(), 2);
        let refused = acknowledgements(&[answer(0), answer(-1)].concat()).unwrap_err();
        assert_eq!(refused.raw_os_error(), Some(1));
        assert_eq!(acknowledgements(&fine[..30]).unwrap(), 1, "cut off");
        assert_eq!(acknowledgements(&[0; 20]).unwrap(), 0);
    }
}
