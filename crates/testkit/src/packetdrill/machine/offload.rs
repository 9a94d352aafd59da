//! Packets that a receiver has merged from several segments.

use crate::packetdrill::script::syntax::PacketSpec;

/// Returns the segments of an inbound packet: it has at most `largest` payload bytes in each, if the
/// script gives their size (`--mss`). PSH and FIN belong to the last one. The endpoint receives them at
/// one time and answers them together, as it would a merged packet.
pub fn parts(spec: &PacketSpec, largest: Option<u64>) -> Vec<PacketSpec> {
    let Some(largest) = largest.filter(|largest| spec.payload > *largest) else {
        return vec![spec.clone()];
    };
    let starts = (0..spec.payload).step_by(largest as usize);
    let part = |start: u64| {
        let payload = largest.min(spec.payload - start);
        let is_last = start + payload == spec.payload;
        let keeps = |flag: &char| is_last || !matches!(flag, 'P' | 'F');
        PacketSpec {
            flags: spec.flags.chars().filter(keeps).collect(),
            seq: spec.seq + start,
            payload,
            ..spec.clone()
        }
    };
    starts.map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_merged_packet_is_cut_and_a_small_one_is_not() {
        let spec = PacketSpec {
            flags: "P.".to_owned(),
            seq: 1,
            payload: 2500,
            ..PacketSpec::default()
        };
        let cut = parts(&spec, Some(1000));
        let found: Vec<_> = cut
            .iter()
            .map(|it| (it.seq, it.payload, &*it.flags))
            .collect();
        assert_eq!(
            found,
            [(1, 1000, "."), (1001, 1000, "."), (2001, 500, "P.")]
        );
        assert_eq!(parts(&spec, None), std::slice::from_ref(&spec));
        assert_eq!(parts(&spec, Some(2500)), [spec]);
    }
}
