//! The AccECN option of TCP: counters of payload bytes by ECN field (RFC 9768 section 3.2.3).

use crate::Ecn;

/// Kind of the option whose first counter is that of ECT(0), and of the option whose first counter
/// is that of ECT(1).
const KINDS: [u8; 2] = [172, 174];
/// Largest number of counters in an option.
const MAX_COUNTERS: usize = 3;
/// Bit of `shape` that marks the order with ECT(1) first.
const ECT1_FIRST: u8 = 8;

/// Order of the counters in an AccECN option (RFC 9768 table 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AccEcnOrder {
    /// ECT(0), CE, ECT(1): option kind 172.
    Capable0First,
    /// ECT(1), CE, ECT(0): option kind 174.
    #[default]
    Capable1First,
}

impl AccEcnOrder {
    /// Returns the ECN fields in the order of their counters.
    pub fn fields(self) -> [Ecn; MAX_COUNTERS] {
        match self {
            Self::Capable0First => [Ecn::Capable0, Ecn::Experienced, Ecn::Capable1],
            Self::Capable1First => [Ecn::Capable1, Ecn::Experienced, Ecn::Capable0],
        }
    }
}

/// The AccECN option (RFC 9768 section 3.2.3), with up to three counters of 24 bits. By default the
/// segment has no such option.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct AccEcnOption {
    counters: [[u8; 3]; MAX_COUNTERS],
    /// 0 without an option, otherwise the number of counters plus one, and [`ECT1_FIRST`].
    shape: u8,
}

impl AccEcnOption {
    /// Returns an option with the low 24 bits of these counters, of which the first three count.
    #[must_use]
    pub fn new(order: AccEcnOrder, counters: &[u32]) -> Self {
        let present = counters.len().min(MAX_COUNTERS);
        let mut option = Self {
            counters: [[0; 3]; MAX_COUNTERS],
            shape: 1 + present as u8 + ECT1_FIRST * u8::from(order == AccEcnOrder::Capable1First),
        };
        for (bytes, counter) in option.counters.iter_mut().zip(counters) {
            let [_, high, middle, low] = counter.to_be_bytes();
            *bytes = [high, middle, low];
        }
        option
    }

    /// Returns the option with this kind and content on the wire, or none if the kind is another
    /// option's. A content that is no whole number of counters ends with the last whole one.
    #[must_use]
    pub fn from_wire(kind: u8, content: &[u8]) -> Option<Self> {
        let order = match kind {
            172 => AccEcnOrder::Capable0First,
            174 => AccEcnOrder::Capable1First,
            _ => return None,
        };
        let mut counters = [0; MAX_COUNTERS];
        let mut present = 0;
        for (counter, bytes) in counters.iter_mut().zip(content.chunks_exact(3)) {
            *counter = u32::from_be_bytes([0, bytes[0], bytes[1], bytes[2]]);
            present += 1;
        }
        Some(Self::new(order, &counters[..present]))
    }

    /// Returns an absent option whose bytes hold a SACK block.
    pub(crate) fn holding(block: [u8; 8]) -> Self {
        let mut option = Self::default();
        option.counters.as_flattened_mut()[..8].copy_from_slice(&block);
        option
    }

    /// Returns the SACK block that an absent option holds.
    pub(crate) fn held(&self) -> [u8; 8] {
        let bytes = self.counters.as_flattened();
        std::array::from_fn(|i| bytes[i])
    }

    /// Returns true if the segment has the option.
    #[inline]
    pub fn is_present(&self) -> bool {
        self.shape != 0
    }

    /// Returns the order of the counters.
    pub fn order(&self) -> AccEcnOrder {
        if self.shape & ECT1_FIRST == 0 {
            AccEcnOrder::Capable0First
        } else {
            AccEcnOrder::Capable1First
        }
    }

    /// Returns the counters present, each with its ECN field, in the order of the wire.
    pub fn counters(&self) -> impl Iterator<Item = (Ecn, u32)> + '_ {
        let present = (self.shape & !ECT1_FIRST).saturating_sub(1);
        let fields = self.order().fields();
        let values = self.counters.iter().take(usize::from(present));
        fields.into_iter().zip(values).map(|(field, bytes)| {
            let [high, middle, low] = *bytes;
            (field, u32::from_be_bytes([0, high, middle, low]))
        })
    }

    /// Returns the kind of the option on the wire.
    pub fn kind(&self) -> u8 {
        KINDS[self.order() as usize]
    }

    /// Returns the length of the option on the wire, in bytes, or 0 without an option.
    pub fn length(&self) -> usize {
        if self.is_present() {
            2 + 3 * self.counters().count()
        } else {
            0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 9768 table 5: the two orders of the counters.
    #[test]
    fn the_kind_gives_the_order() {
        let content = [0, 0, 1, 0, 4, 0, 1, 0, 1];
        let read = |kind| AccEcnOption::from_wire(kind, &content).expect("an option");
        let listed: Vec<(Ecn, u32)> = read(172).counters().collect();
        let expected = [
            (Ecn::Capable0, 1),
            (Ecn::Experienced, 1024),
            (Ecn::Capable1, 65_537),
        ];
        assert_eq!(listed, expected);
        let listed: Vec<Ecn> = read(174).counters().map(|(field, _)| field).collect();
        assert_eq!(listed, [Ecn::Capable1, Ecn::Experienced, Ecn::Capable0]);
        assert_eq!((read(172).kind(), read(174).kind()), (172, 174));
        assert_eq!(AccEcnOption::from_wire(173, &content), None);
    }

    #[test]
    fn an_option_may_be_short_or_empty() {
        let of = |content: &[u8]| AccEcnOption::from_wire(172, content).expect("an option");
        for (bytes, counters) in [(0, 0), (2, 0), (3, 1), (5, 1), (6, 2), (9, 3), (30, 3)] {
            let option = of(&vec![7; bytes]);
            assert_eq!(option.counters().count(), counters);
            assert_eq!(
                (option.length(), option.is_present()),
                (2 + 3 * counters, true)
            );
        }
        assert_eq!(AccEcnOption::default().length(), 0);
    }

    #[test]
    fn counters_have_24_bits() {
        let option = AccEcnOption::new(AccEcnOrder::Capable1First, &[(1 << 24) + 5]);
        assert_eq!(option.counters().next(), Some((Ecn::Capable1, 5)));
    }
}
