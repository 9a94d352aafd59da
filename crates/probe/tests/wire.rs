//! Packets and messages survive the network, and damaged ones are refused.
#![cfg(target_os = "linux")]

use goodqueue_probe::net::{
    Body, Datagram, MAX_FIELDS, Message, SessionKeys, Token, read_records, write_records,
};
use goodqueue_probe::{Feedback, Record, Stream};
use proptest::prelude::*;

fn keys() -> SessionKeys {
    let token = Token::new(b"a token of tests").unwrap();
    token.session(&[1; 32], &[2; 32])
}

fn time() -> impl Strategy<Value = i64> {
    -(1_i64 << 59)..1 << 59
}

fn body() -> impl Strategy<Value = Body> {
    prop_oneof![
        Just(Body::Open),
        any::<[u8; 16]>().prop_map(Body::Nonce),
        any::<[u8; 16]>().prop_map(Body::Echo),
        (any::<u32>(), time()).prop_map(|(sequence, sent)| Body::Data { sequence, sent }),
        (any::<u32>(), time()).prop_map(|(sequence, sent)| Body::Ping { sequence, sent }),
        (any::<u32>(), time(), time(), time()).prop_map(|(sequence, sent, turned, held)| {
            Body::Pong {
                sequence,
                sent,
                turned,
                held,
            }
        }),
        (any::<u32>(), any::<u32>(), any::<u64>(), time(), time()).prop_map(
            |(next, received, bytes, time, delay)| {
                Body::Feedback(Feedback {
                    next,
                    received,
                    bytes,
                    time,
                    delay,
                })
            }
        ),
    ]
}

proptest! {
    #[test]
    fn a_datagram_is_read_as_it_was_written(
        body in body(), phase: u32, lane in 0_u8..3, size in 0_usize..1500
    ) {
        let datagram = Datagram { phase, lane, body };
        let key = &keys().datagrams[0];
        let mut bytes = Vec::new();
        datagram.write(key, size, &mut bytes);
        prop_assert_eq!(bytes.len(), size.max(bytes.len().min(MAX_FIELDS)));
        prop_assert_eq!(Datagram::read(key, &bytes), Some(datagram));
        prop_assert_eq!(Datagram::read(&keys().datagrams[1], &bytes), None);
    }

    #[test]
    fn a_changed_datagram_is_refused(body in body(), place: prop::sample::Index, bit in 0_u8..8) {
        let datagram = Datagram { phase: 3, lane: 1, body };
        let key = &keys().datagrams[0];
        let mut bytes = Vec::new();
        datagram.write(key, 0, &mut bytes);
        let place = place.index(bytes.len());
        bytes[place] ^= 1 << bit;
        prop_assert_eq!(Datagram::read(key, &bytes), None);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
        Datagram::read(&keys().datagrams[0], &bytes);
        Message::read(&bytes).ok();
        read_records(&bytes);
    }

    #[test]
    fn records_are_read_as_they_were_written(
        records in prop::collection::vec(
            (any::<bool>(), any::<u32>(), time(), time(), 0_u32..65_536, 0_u8..4), 0..20
        )
    ) {
        let records: Vec<_> = records.into_iter().map(|record| {
            let (sparse, sequence, sent, received, bytes, ecn) = record;
            let stream = if sparse { Stream::Sparse } else { Stream::Main };
            Record { stream, sequence, sent, received, bytes, ecn }
        }).collect();
        prop_assert_eq!(read_records(&write_records(&records)), Some(records));
    }
}
