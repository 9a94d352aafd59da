//! One connection: goodqueue's endpoint, and the script's notation of the packets it sends and
//! receives.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use goodqueue_tcp::{ConnectionState, TcpConfig, TcpEndpoint};
use goodqueue_types::{
    AccEcnOption, Ecn, FastOpenOption, SackBlocks, Segment, SegmentFlags, Time, Timestamps,
};

use super::settings::Offer;
use crate::packetdrill::script::syntax::{Cookie, EcnSpec, OptionSpec, PacketSpec};

/// A segment that the endpoint sent, and the time at which it left.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    pub time: Time,
    pub segment: Segment,
    pub ecn: Ecn,
}

/// An endpoint, with the state that the translation from and to the script's notation needs.
#[derive(Debug)]
pub struct Connection {
    pub endpoint: TcpEndpoint,
    pub config: Arc<TcpConfig>,
    /// The offer in the endpoint's SYN; the next field has the agreed values.
    pub offer: Offer,
    pub agreed: Offer,
    /// Scale of the windows that the script writes into inbound packets.
    peer_scale: u64,
    /// Sequence numbers of the two SYNs in the script's notation.
    our_isn: u64,
    peer_isn: u64,
    /// Segments that were sent and not yet compared with the script.
    pub queue: VecDeque<Sent>,
    /// Timestamp values of the endpoint, by the value in the script.
    stamps: BTreeMap<u64, u32>,
    /// First timestamp value in the script, and its counterpart in the endpoint.
    first_stamp: Option<(u64, u32)>,
    /// Bytes, fewer than a segment, that `TCP_CORK` or `MSG_MORE` holds back; the next field is the
    /// time at which they are released.
    held: u64,
    held_until: Option<Time>,
    /// True if `TCP_CORK` is set.
    corked: bool,
    /// Time at which data last arrived.
    pub last_data: Time,
    /// Fast Open option in the SYN, as the script writes it; none if the SYN carries none, although
    /// it may carry data. The next field is the number of these data.
    pub cookie: Option<Cookie>,
    pub early: u64,
    /// True once data could flow, so that `accept` returns the connection even after a reset.
    pub was_open: bool,
    /// True once a call has returned the peer's reset, which only one call does.
    reset_is_known: bool,
}

impl Connection {
    pub fn new(config: TcpConfig, offer: Offer, agreed: Offer, peer: &Offer) -> Self {
        let config = Arc::new(config);
        Self {
            endpoint: TcpEndpoint::new(config.clone()),
            config,
            peer_scale: if agreed.window_scale.is_some() {
                peer.window_scale.unwrap_or(0)
            } else {
                0
            },
            offer,
            agreed,
            our_isn: 0,
            peer_isn: 0,
            queue: VecDeque::new(),
            stamps: BTreeMap::new(),
            first_stamp: None,
            held: 0,
            held_until: None,
            corked: false,
            last_data: Time::ZERO,
            cookie: Some(Cookie::default()),
            early: 0,
            was_open: false,
            reset_is_known: false,
        }
    }

    /// Returns true if the connection has ended by a reset of the peer, or by both ends.
    pub fn is_reset(&self) -> bool {
        self.endpoint.info().state == ConnectionState::Closed
    }

    /// Returns the error of a call after the connection has ended: the first one is told of a reset.
    pub fn take_reset(&mut self) -> Option<&'static str> {
        let is_known = std::mem::replace(&mut self.reset_is_known, true);
        (!is_known).then_some("ECONNRESET")
    }

    /// Writes bytes for the application. `more` announces further bytes (`MSG_MORE`).
    pub fn write_bytes(&mut self, now: Time, bytes: u64, more: bool) {
        self.held += bytes;
        let mss = u64::from(self.config.mss);
        let whole = self.held / mss * mss;
        if !(self.corked || more) {
            return self.release();
        }
        if whole > 0 {
            self.endpoint.write(whole);
            self.held -= whole;
        }
        let info = self.endpoint.info();
        if self.held > 0 && info.unacked == 0 && whole == 0 && self.held_until.is_none() {
            self.held_until = Some(now + info.rto);
        }
    }

    /// Writes a record for the application, together with the bytes held back.
    pub fn write_record(&mut self, bytes: u64) {
        let bytes = bytes + std::mem::take(&mut self.held);
        self.held_until = None;
        self.endpoint.write_record(bytes);
    }

    /// Passes the bytes held back to the endpoint.
    fn release(&mut self) {
        let bytes = std::mem::take(&mut self.held);
        self.held_until = None;
        if bytes > 0 {
            self.endpoint.write(bytes);
        }
    }

    /// Sets or clears `TCP_CORK`.
    pub fn set_cork(&mut self, corked: bool) {
        self.corked = corked;
        if !corked {
            self.release();
        }
    }

    /// Sets or clears `TCP_NODELAY`. Setting it sends the bytes held back, even with `TCP_CORK`.
    pub fn set_nodelay(&mut self, on: bool) {
        self.endpoint.set_nagle(!on);
        if on {
            self.release();
        }
    }

    /// Returns the earliest deadline.
    pub fn poll_timeout(&self) -> Option<Time> {
        let own = self.held_until.into_iter();
        own.chain(self.endpoint.poll_timeout()).min()
    }

    /// Fires the timers that are due.
    pub fn handle_timeout(&mut self, now: Time) {
        if self.held_until.is_some_and(|at| at <= now) {
            self.release();
        }
        if self.endpoint.poll_timeout().is_some_and(|at| at <= now) {
            self.endpoint.handle_timeout(now);
        }
    }

    /// Passes a packet that the script injects to the endpoint.
    pub fn receive(&mut self, now: Time, spec: &PacketSpec) {
        if spec.flags.contains('S') {
            self.peer_isn = spec.seq;
        }
        let segment = self.segment(spec);
        let ecn = match spec.ecn {
            Some(EcnSpec::Capable0 | EcnSpec::Capable) => Ecn::Capable0,
            Some(EcnSpec::Capable1) => Ecn::Capable1,
            Some(EcnSpec::Experienced) => Ecn::Experienced,
            Some(EcnSpec::NotCapable) | None => Ecn::NotCapable,
        };
        if segment.payload > 0 || !self.endpoint.is_established() {
            self.last_data = now;
        }
        let una = self.endpoint.stats().acked_bytes;
        self.endpoint.handle_packet(now, &segment, ecn);
        self.was_open |= self.endpoint.is_established();
        // An ACK releases the bytes that `MSG_MORE` holds back, but not those of `TCP_CORK`.
        if !self.corked && self.endpoint.stats().acked_bytes > una {
            self.release();
        }
    }

    /// Returns true if a SYN-ACK acknowledges the SYN, with all of its data or none.
    pub fn acknowledges_syn(&self, ack: Option<u64>) -> bool {
        let end = ack.map(|ack| ack.wrapping_sub(self.our_isn));
        end.is_some_and(|end| (1..=1 + self.early).contains(&end))
    }

    /// Returns the numbers of the two SYNs by which the script's sequence numbers are larger. Those of
    /// packets without SYN are relative.
    fn bases(&self, syn: bool) -> (u64, u64) {
        if syn {
            (self.our_isn, self.peer_isn)
        } else {
            (0, 0)
        }
    }

    fn segment(&self, spec: &PacketSpec) -> Segment {
        let (our_isn, peer_isn) = self.bases(spec.flags.contains('S'));
        let ack = spec.ack.map_or(0, |ack| ack.wrapping_sub(our_isn));
        let mut sack = SackBlocks::default();
        let mut timestamps = Timestamps::default();
        let mut accecn = AccEcnOption::default();
        let mut fast_open = FastOpenOption::None;
        for option in spec.options.iter().flatten() {
            match option {
                OptionSpec::Sack(blocks) => {
                    for (start, end) in blocks {
                        sack.push(ack, start - our_isn, end - our_isn);
                    }
                }
                OptionSpec::Timestamps(value, echo) => {
                    timestamps = Timestamps {
                        value: *value as u32,
                        echo: self.actual_stamp(*echo),
                    };
                }
                OptionSpec::AccEcn(option) => accecn = *option,
                OptionSpec::FastOpen(cookie) if cookie.text.is_empty() => {
                    fast_open = FastOpenOption::Request;
                }
                OptionSpec::FastOpen(_) => fast_open = FastOpenOption::Cookie,
                _ => {}
            }
        }
        let scale = if spec.flags.contains('S') {
            0
        } else {
            self.peer_scale
        };
        Segment {
            seq: spec.seq.wrapping_sub(peer_isn),
            ack,
            window: (spec.window.unwrap_or(0) << scale) as u32,
            payload: spec.payload as u32,
            header: 40,
            flags: flags_of(&spec.flags),
            sack,
            fast_open,
            timestamps,
        }
        .with_accecn(accecn)
    }

    /// Returns the endpoint's timestamp value for a value `echo` of the script.
    fn actual_stamp(&self, echo: u64) -> u32 {
        if let Some(actual) = self.stamps.get(&echo) {
            return *actual;
        }
        let Some((script, actual)) = self.first_stamp.filter(|_| echo != 0) else {
            return 0;
        };
        actual.wrapping_add((echo as u32).wrapping_sub(script as u32))
    }

    /// Records the script's value for a timestamp of the endpoint. Returns the value that the
    /// script should have.
    pub fn map_stamp(&mut self, script: u64, actual: u32) -> u64 {
        let (first_script, first_actual) = *self.first_stamp.get_or_insert((script, actual));
        self.stamps.insert(script, actual);
        first_script.wrapping_add(u64::from(actual.wrapping_sub(first_actual)))
    }

    /// Sets the initial sequence number that the script shows in the endpoint's SYN.
    pub fn set_our_isn(&mut self, seq: u64) {
        self.our_isn = seq;
    }

    /// Collects the segments that the endpoint can send, if the egress is open.
    pub fn drain(&mut self, now: Time, egress_open: bool) {
        while egress_open && let Some(segment) = self.endpoint.poll_transmit(now) {
            self.queue.push_back(Sent {
                time: now,
                segment,
                ecn: self.endpoint.transmit_ecn(),
            });
        }
    }

    /// Converts a segment of the endpoint to the script's notation.
    pub fn write(&self, sent: &Sent) -> PacketSpec {
        let segment = &sent.segment;
        let syn = segment.flags.contains(SegmentFlags::SYN);
        let ack = segment.flags.contains(SegmentFlags::ACK);
        let (our_isn, peer_isn) = self.bases(syn);
        let scale = match self.agreed.window_scale {
            Some(_) if !syn => self.offer.window_scale.unwrap_or(0),
            _ => 0,
        };
        PacketSpec {
            ecn: Some(EcnSpec::from(sent.ecn)),
            flags: letters(segment.flags),
            seq: segment.seq + our_isn,
            payload: u64::from(segment.payload),
            ack: ack.then_some(segment.ack + peer_isn),
            window: Some(u64::from(segment.window) >> scale),
            options: Some(self.options(segment, syn, ack)),
        }
    }

    fn options(&self, segment: &Segment, syn: bool, ack: bool) -> Vec<OptionSpec> {
        let mut list = Vec::new();
        // A SYN contains the offer, a SYN-ACK the agreed values.
        let shown = if ack { &self.agreed } else { &self.offer };
        if syn {
            list.push(OptionSpec::Mss(self.offer.mss));
            if shown.sack {
                list.push(OptionSpec::SackPermitted);
            }
            if shown.window_scale.is_some() {
                list.push(OptionSpec::WindowScale(
                    self.offer.window_scale.unwrap_or(0),
                ));
            }
        }
        if segment.timestamps.is_present() {
            let stamps = segment.timestamps;
            list.push(OptionSpec::Timestamps(
                u64::from(stamps.value),
                u64::from(stamps.echo),
            ));
        }
        if syn && !ack && shown.timestamps && !segment.timestamps.is_present() {
            // The endpoint already knows that the peer will decline, so it sends no timestamps.
            list.push(OptionSpec::Timestamps(0, 0));
        }
        if segment.accecn().is_present() {
            list.push(OptionSpec::AccEcn(segment.accecn()));
        }
        match (segment.fast_open, &self.cookie) {
            (FastOpenOption::Request, Some(cookie)) => list.push(OptionSpec::FastOpen(Cookie {
                text: String::new(),
                ..*cookie
            })),
            (FastOpenOption::Cookie, Some(cookie)) => {
                list.push(OptionSpec::FastOpen(cookie.clone()));
            }
            _ => {}
        }
        if !segment.sack.is_empty() {
            let blocks = segment.sack.ranges(segment.ack);
            list.push(OptionSpec::Sack(blocks.collect()));
        }
        list
    }
}

/// Flags and their letters. PSH is not compared, because endpoints set it only at the end of a unit.
const LETTERS: [(char, SegmentFlags); 7] = [
    ('S', SegmentFlags::SYN),
    ('F', SegmentFlags::FIN),
    ('R', SegmentFlags::RST),
    ('E', SegmentFlags::ECE),
    ('W', SegmentFlags::CWR),
    ('A', SegmentFlags::AE),
    ('.', SegmentFlags::ACK),
];

/// Returns the flags that `text` names.
pub fn flags_of(text: &str) -> SegmentFlags {
    let named = LETTERS.iter().filter(|(letter, _)| text.contains(*letter));
    named.fold(SegmentFlags::default(), |all, (_, flag)| all.with(*flag))
}

/// Returns the letters of the flags in the script's notation.
pub fn letters(flags: SegmentFlags) -> String {
    LETTERS
        .iter()
        .filter(|(_, flag)| flags.contains(*flag))
        .map(|(letter, _)| letter)
        .collect()
}
