//! Our parameters as `tc` commands, by the declarations of the disciplines.

use super::units::{write_rate, write_size, write_time};
use super::{ETHERNET_HEADER, refuse, unusual};
use goodqueue_queue::{Limit, Qdisc, QueueConfig};
use goodqueue_types::Rate;
use goodqueue_types::message::UnitError;
use goodqueue_types::parameters::{Key, Kind, Parameter, Parameters, Tc, Value};

pub(super) type Written = Result<String, UnitError>;

/// Conversion of bytes to those of `tc` for a queue that counts other framing.
#[derive(Clone, Copy)]
pub(super) struct Scale {
    /// Largest frame of our link, and the frame of the same packet in Linux.
    ours: u64,
    theirs: u64,
}

impl Scale {
    pub(super) fn bytes(self, bytes: u64) -> u64 {
        let scaled = u128::from(bytes) * u128::from(self.theirs) + u128::from(self.ours / 2);
        u64::try_from(scaled / u128::from(self.ours)).unwrap_or(u64::MAX)
    }

    /// The rate at which as many of the largest packets pass.
    fn rate(self, rate: Rate) -> Rate {
        Rate(self.bytes(rate.0))
    }
}

/// The commands that give a device this queue: one, and one for each child of a shaper or a
/// priority. `frame_bytes` is the largest frame of the link, and `packet_bytes` the IP packet in it.
///
/// # Errors
/// Returns the part that has no equivalent in Linux, and the reason.
pub fn qdisc_commands(
    queue: &QueueConfig,
    frame_bytes: u64,
    packet_bytes: u64,
) -> Result<Vec<String>, UnitError> {
    if let QueueConfig::Htb(_) = queue {
        return refuse(
            "the classes of htb need commands and filters of their own",
            "write `tc class add` for each class by hand, with its rate, ceil, burst and cburst",
        );
    }
    let scale = Scale {
        ours: frame_bytes.max(1),
        theirs: packet_bytes + u64::from(ETHERNET_HEADER),
    };
    let parent = unusual::children(queue);
    let handle = if parent.is_empty() { "" } else { "handle 1: " };
    let root = format!(
        "tc qdisc replace dev DEV root {handle}{}",
        options(queue, scale)?
    );
    let mut commands = vec![root];
    for (index, child) in parent.iter().enumerate() {
        if !unusual::children(child).is_empty() {
            return refuse(
                "a shaper or a priority within another makes a tree of handles",
                "export the inner queue for itself, and give it its place by hand",
            );
        }
        let options = options(child, scale)?;
        commands.push(format!(
            "tc qdisc replace dev DEV parent 1:{:x} {options}",
            index + 1
        ));
    }
    Ok(commands)
}

/// The name of Linux's discipline with its options.
fn options(queue: &QueueConfig, scale: Scale) -> Written {
    let name = match queue.qdisc() {
        Qdisc::Named(name) => name,
        Qdisc::None(message, help) => return refuse(message, help),
    };
    let defaults = queue.word().map(QueueConfig::defaults);
    let mut line = name.to_owned();
    for key in queue.keys() {
        let Some(value) = queue.get(key.name) else {
            continue;
        };
        let default = defaults.as_ref().and_then(|config| config.get(key.name));
        let setting = Setting {
            qdisc: name,
            key,
            value,
            default,
        };
        line += &setting.write(queue.tc(key), scale)?;
    }
    line += &unusual::write(queue, scale)?;
    Ok(line)
}

/// A parameter to write.
struct Setting<'a> {
    qdisc: &'a str,
    key: &'a Key,
    value: Value,
    default: Option<Value>,
}

impl Setting<'_> {
    fn is_default(&self) -> bool {
        self.default.as_ref() == Some(&self.value)
    }

    /// The option with a space before it, or nothing if it need not be written.
    fn write(&self, tc: Tc, scale: Scale) -> Written {
        let name = self.key.name;
        Ok(match tc {
            Tc::Hook => String::new(),
            Tc::Fixed(_) if self.is_default() => String::new(),
            Tc::Fixed(reason) => {
                let message = format!("tc cannot be told \"{name}\": {reason}");
                return refuse(message, format!("leave {name} at its default"));
            }
            Tc::Option(word) => match self.value {
                Value::Flag(_) => self.flag(word, &format!("no{word}")),
                Value::Absent => self.absent(word)?,
                _ => format!(" {word} {}", self.text()?),
            },
            Tc::Flag(on, off) => self.flag(on, off),
            Tc::Scaled(word) => format!(" {word} {}", self.scaled(scale)?),
            Tc::Parts(word, parts) => format!(" {word} {}", self.parts(parts)?),
            Tc::Rounded(word, parts) => {
                format!(" {word} {}", f64::from(self.parts(parts)?) / parts)
            }
            Tc::Percent(word) => format!(" {word} {}%", self.text()?),
            Tc::Seconds(word) => self.seconds(word)?,
            Tc::Word => format!(" {}", self.text()?),
        })
    }

    /// The word of a flag: `on` if it is set, `off` if it is unset although its default is set.
    fn flag(&self, on: &str, off: &str) -> String {
        match (&self.value, &self.default) {
            (Value::Flag(true), _) => format!(" {on}"),
            (_, Some(Value::Flag(true))) => format!(" {off}"),
            _ => String::new(),
        }
    }

    /// A value that is absent, by the word of `tc` for it.
    fn absent(&self, word: &str) -> Written {
        match self.key.kind.first() {
            Kind::Limit => self.limit().map(|limit| format!(" {word} {limit}")),
            // Kernel memory without a limit.
            Kind::Size { .. } if !self.is_default() => {
                write_size(self.key.name, u64::MAX).map(|bytes| bytes.to_string())
            }
            Kind::Rate => Ok(format!(" {}", self.key.kind.absent().unwrap_or_default())),
            _ => Ok(String::new()),
        }
    }

    /// The value in the unit of `tc`.
    fn text(&self) -> Written {
        let name = self.key.name;
        Ok(match &self.value {
            _ if matches!(self.key.kind, Kind::Limit) => self.limit()?.to_string(),
            Value::Span(span) => write_time(name, *span)?,
            Value::Rate(rate) => write_rate(*rate),
            Value::Number(number) => number.to_string(),
            Value::Packets(packets) => format!("{packets}p"),
            Value::Integer(n) if matches!(self.key.kind.first(), Kind::Size { .. }) => {
                write_size(name, *n)?.to_string()
            }
            Value::Integer(n) => n.to_string(),
            Value::Word(word) => (*word).to_owned(),
            _ => unreachable!("tc has no unit of this value"),
        })
    }

    /// A limit in packets.
    fn limit(&self) -> Result<u64, UnitError> {
        let qdisc = self.qdisc;
        match Limit::from_value(self.value.clone()) {
            Limit::Packets(packets) => Ok(packets),
            Limit::Bytes(_) => refuse(
                format!("a limit in bytes has no equivalent: {qdisc} counts packets"),
                "write the limit in packets, as in limit = \"1000p\"",
            ),
            Limit::Unlimited => refuse(
                format!("{qdisc} is never without a limit"),
                "write a limit in packets, as in limit = \"1000p\"",
            ),
        }
    }

    /// A size or a rate in the bytes that Linux counts.
    fn scaled(&self, scale: Scale) -> Written {
        match self.value {
            Value::Bytes(bytes) | Value::Integer(bytes) => {
                Ok(write_size(self.key.name, scale.bytes(bytes))?.to_string())
            }
            Value::Rate(rate) => Ok(write_rate(scale.rate(rate))),
            _ => refuse(
                format!(
                    "a limit that is not in bytes has no equivalent: {} counts bytes",
                    self.qdisc
                ),
                "write the limit in bytes, as in limit = \"400kB\"",
            ),
        }
    }

    /// The value in units of `1/parts`, if it is a whole number of them.
    fn parts(&self, parts: f64) -> Result<u32, UnitError> {
        let name = self.key.name;
        let value = f64::from_value(self.value.clone());
        let count = libm::round(value * parts);
        if (count / parts - value).abs() > 1e-12 || !(0.0..=4e9).contains(&count) {
            let help = format!("write a multiple of 1/{parts}");
            return refuse(format!("tc counts {name} in parts of 1/{parts}"), help);
        }
        Ok(count as u32)
    }

    /// A time in whole seconds, or none if it is not a whole number.
    fn seconds(&self, word: &str) -> Written {
        const SECOND: u64 = 1_000_000_000_000;
        match self.value {
            Value::Span(span) if span.0.is_multiple_of(SECOND) => {
                Ok(format!(" {word} {}", span.0 / SECOND))
            }
            Value::Span(_) => refuse(
                format!("tc counts {} in seconds", self.key.name),
                "write whole seconds",
            ),
            _ => Ok(String::new()),
        }
    }
}
