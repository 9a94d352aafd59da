//! The machine on which a script runs. Its commands set options of the model.

use goodqueue_tcp::{
    AccEcnReports, CongestionControlConfig, EcnMode, IdleRestart, LossDetection, Profile, Recovery,
    SlowStart, TcpConfig,
};
use goodqueue_types::Span;

use super::fast_open;
use crate::packetdrill::script::syntax::{OptionSpec, Refusal, Script};

/// Settings that the option lines and the commands of a script have made.
#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent switches, each named"
)]
pub struct Settings {
    profile: Profile,
    pub congestion_control: String,
    timestamps: bool,
    /// True if the sender waits for more data when less than a third of the window could be sent.
    defers: bool,
    sack: bool,
    dsack: bool,
    tail_loss_probe: bool,
    rack: bool,
    frto: bool,
    window_scaling: bool,
    /// Value of `tcp_ecn`: 0 never, 1 always, 2 only if the peer requests it; 3 accurate ECN always, 4
    /// and 5 only if the peer requests it, and otherwise as 1 and 0.
    pub ecn: u64,
    /// Value of `tcp_ecn_option`: 0 never, 1 as rarely as possible, 2 always.
    accecn_option: AccEcnReports,
    restart_after_idle: bool,
    /// Bits of `tcp_fastopen`.
    pub fast_open: u64,
    /// The kernel's default and largest receive buffer, in bytes.
    receive_buffer: (u64, u64),
    pub nagle: bool,
    /// Largest segment, in bytes, as limited by `TCP_MAXSEG`.
    pub largest_segment: u64,
    pub rto_maximum: Option<Span>,
    reordering: u32,
    /// True if the queue discipline paces packets.
    pacing: bool,
    /// True if packets that the endpoint sends reach the network.
    pub egress_open: bool,
    /// Smallest tolerance of all times, in microseconds.
    pub tolerance: u64,
    /// Length of a tick of the timestamp clock, in microseconds, if the script checks timestamps.
    pub timestamp_tick: Option<u64>,
    /// Largest segment of inbound packets that a receiver has merged, or none.
    pub offload_segment: Option<u64>,
}

/// Largest payload of an Ethernet frame without the headers of IP and TCP, in bytes.
const LARGEST_SEGMENT: u64 = 1460;

impl Settings {
    /// Returns the default settings of a machine with a stack of this profile.
    pub fn new(profile: Profile) -> Self {
        Self {
            profile,
            congestion_control: "cubic".to_owned(),
            timestamps: true,
            defers: true,
            sack: true,
            dsack: true,
            tail_loss_probe: true,
            rack: true,
            frto: true,
            window_scaling: true,
            ecn: 2,
            accecn_option: AccEcnReports::Full,
            restart_after_idle: true,
            fast_open: fast_open::CLIENT,
            receive_buffer: (131_072, 6 << 20),
            nagle: true,
            largest_segment: LARGEST_SEGMENT,
            rto_maximum: None,
            reordering: 3,
            pacing: false,
            egress_open: true,
            tolerance: 4000,
            timestamp_tick: None,
            offload_segment: None,
        }
    }

    /// Applies the option lines and the commands before the first event.
    pub fn set_up(&mut self, script: &Script) -> Result<(), Refusal> {
        for (name, value, line) in &script.options {
            let number = value.parse::<u64>();
            match (name.as_str(), number) {
                ("tolerance_usecs", Ok(micros)) => self.tolerance = micros,
                ("tcp_ts_tick_usecs", Ok(micros)) => self.timestamp_tick = Some(micros),
                ("mss", Ok(bytes)) if bytes > 0 => self.offload_segment = Some(bytes),
                // Addresses and the tool's count of segments have no counterpart.
                ("local_ip" | "remote_ip" | "strict_segments", _) => {}
                ("ip_version", _) if value == "ipv4" => {}
                ("ip_version" | "tcp_ts_ecr_scaled" | "bind_port" | "mtu", _) => {
                    let reason = format!("the option --{name} is not modelled");
                    return Err(Refusal::NotApplicable(*line, reason));
                }
                _ => {
                    let complaint = format!("the option --{name}={value} is not known");
                    return Err(Refusal::Malformed(*line, complaint));
                }
            }
        }
        script
            .setup
            .iter()
            .try_for_each(|command| self.command(command.line, &command.text))
    }

    /// Runs a line of shell commands.
    pub fn command(&mut self, line: usize, text: &str) -> Result<(), Refusal> {
        let joined = text.replace("\\\n", " ").replace("&&", "\n");
        for command in joined.split(['\n', ';']) {
            let command = command.split('#').next().unwrap_or_default().trim();
            if !command.is_empty() && !self.run(command) {
                let reason = format!("the command `{command}` has no counterpart");
                return Err(Refusal::NotApplicable(line, reason));
            }
        }
        Ok(())
    }

    /// Runs one command. Returns false if it has no counterpart in the model.
    fn run(&mut self, command: &str) -> bool {
        let words = words(command);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let program = words[0].rsplit('/').next().unwrap_or_default();
        match (program, &words[1..]) {
            ("defaults.sh", []) => self.defaults(),
            ("sysctl" | "set_sysctls.py", settings) => {
                return settings
                    .iter()
                    .filter(|word| !word.starts_with('-'))
                    .all(|word| word.split_once('=').is_some_and(|(k, v)| self.sysctl(k, v)));
            }
            ("tc", ["qdisc", rest @ ..]) => return self.qdisc(rest),
            ("profile", [name]) => return self.choose_profile(name),
            // Bit 0 enables ACK trains, bit 1 delays. The kernel's default is both.
            ("echo", ["3", ">", file]) => return file.ends_with("/hystart_detect"),
            // The model keeps no metrics and never merges segments.
            ("ip", ["tcp_metrics", "flush", ..])
            | ("ethtool", ["-K", _, "tso", "off", "gso", "off"]) => {}
            _ => return program.starts_with("sysctl_restore"),
        }
        true
    }

    /// Sets the values that the public suites call production values.
    fn defaults(&mut self) {
        self.receive_buffer = (540_000, 15 << 20);
        self.timestamps = true;
        (self.sack, self.dsack, self.defers) = (true, true, true);
        (self.tail_loss_probe, self.rack, self.frto) = (true, true, true);
        self.reordering = 3;
        "cubic".clone_into(&mut self.congestion_control);
        self.restart_after_idle = false;
        self.fast_open = fast_open::CLIENT | fast_open::SERVER | fast_open::ALL_LISTENERS;
        self.ecn = 0;
    }

    /// Executes the `profile` command of goodqueue's own scripts.
    fn choose_profile(&mut self, name: &str) -> bool {
        self.profile = match name {
            "rfc" => Profile::Rfc,
            "linux" => Profile::Linux,
            _ => return false,
        };
        true
    }

    fn qdisc(&mut self, words: &[&str]) -> bool {
        match words {
            ["add" | "replace", "dev", _, "root", "pfifo", "limit", "0"] => {
                self.egress_open = false;
            }
            ["add" | "replace", "dev", _, "root", "pfifo"]
            | ["del" | "delete", "dev", _, "root", ..] => {
                self.egress_open = true;
            }
            ["add" | "replace", "dev", _, "root", "fq"] => self.pacing = true,
            _ => return false,
        }
        true
    }

    /// Sets a kernel variable. Returns false if the model has no counterpart of the value.
    fn sysctl(&mut self, path: &str, value: &str) -> bool {
        let name = path.rsplit(['/', '.']).next().unwrap_or_default();
        let number = value.parse::<u64>().ok();
        let on = number.is_some_and(|n| n != 0);
        match name {
            "tcp_timestamps" => self.timestamps = on,
            "tcp_sack" => self.sack = on,
            "tcp_window_scaling" => self.window_scaling = on,
            "tcp_ecn" => self.ecn = number.unwrap_or(0),
            "tcp_fastopen" => {
                let digits = value
                    .strip_prefix("0x")
                    .map(|hex| u64::from_str_radix(hex, 16));
                self.fast_open = digits.unwrap_or_else(|| value.parse()).unwrap_or(0);
            }
            "tcp_ecn_option" => {
                self.accecn_option = match number {
                    Some(0) => AccEcnReports::Off,
                    Some(1) => AccEcnReports::Minimum,
                    Some(2) => AccEcnReports::Full,
                    _ => return false,
                };
            }
            // The number of options per round trip matters only if not every segment has one.
            "tcp_ecn_option_beacon" => return self.accecn_option != AccEcnReports::Minimum,
            "tcp_slow_start_after_idle" => self.restart_after_idle = on,
            "tcp_congestion_control" => value.clone_into(&mut self.congestion_control),
            "tcp_reordering" => self.reordering = number.unwrap_or(3) as u32,
            "tcp_rto_max_ms" => self.rto_maximum = number.map(Span::from_millis),
            "tcp_rmem" => {
                let sizes: Vec<u64> = value.split_whitespace().filter_map(product).collect();
                let [_, default, largest] = sizes[..] else {
                    return false;
                };
                self.receive_buffer = (default, largest);
            }
            // These variables control super-segments, the send buffer, the number of attempts and
            // the content of cookies, which have none here.
            "tcp_min_tso_segs"
            | "tcp_fastopen_key"
            | "tcp_wmem"
            | "tcp_syn_retries"
            | "tcp_synack_retries"
            | "tcp_syncookies"
            | "tcp_no_metrics_save" => {}
            // The model's pacing has these gains.
            "tcp_pacing_ss_ratio" => return number == Some(200),
            "tcp_pacing_ca_ratio" => return number == Some(120),
            // Without a divisor, or with a very large one, the sender never waits for more data.
            "tcp_tso_win_divisor" => {
                self.defers = number.is_some_and(|part| (1..100).contains(&part));
            }
            "tcp_dsack" => self.dsack = on,
            "tcp_early_retrans" => self.tail_loss_probe = on,
            "tcp_recovery" => self.rack = number.is_some_and(|bits| bits & 1 != 0),
            "tcp_frto" => self.frto = on,
            _ => return false,
        }
        true
    }

    /// Returns the options of the endpoint's SYN.
    pub fn offer(&self) -> Offer {
        let stamps = TcpConfig::profile(self.profile).timestamps.is_some();
        Offer {
            mss: self.largest_segment,
            sack: self.sack,
            timestamps: self.timestamps && stamps,
            window_scale: self.window_scaling.then(|| self.window_scale()),
            accecn: false,
        }
    }

    /// Returns the smallest scale with which the largest buffer fits into 16 bits.
    fn window_scale(&self) -> u64 {
        (0..14)
            .find(|shift| self.receive_buffer.1 >> shift <= 0xFFFF)
            .unwrap_or(14)
    }

    /// Returns the endpoint's configuration for the options that both ends have agreed on.
    pub fn config(&self, agreed: &Offer, active: bool) -> Result<TcpConfig, String> {
        let mut config = TcpConfig::profile(self.profile);
        config.congestion_control = match self.congestion_control.as_str() {
            word if CongestionControlConfig::NAMES.contains(&word) => {
                CongestionControlConfig::defaults(word)
            }
            other => return Err(format!("the congestion control {other} is not modelled")),
        };
        config.mss = agreed.mss as u32;
        config.recovery = if agreed.sack {
            Recovery::Sack
        } else {
            Recovery::NewReno
        };
        config.window_scaling = agreed.window_scale.is_some();
        if !agreed.timestamps {
            config.timestamps = None;
        }
        let (initial, largest) = self.receive_buffer;
        config.receive_window = largest;
        if config.receive_window_moderation.is_some() {
            // The window gets half of the memory until the receiver has measured how full segments
            // are.
            config.receive_window_moderation = Some(initial / 2);
        }
        config.pacing |= self.pacing;
        if config.pacing {
            config.slow_start = SlowStart::HyStartPaced;
        }
        config.details.segmentation_offload &= self.defers;
        config.dsack &= self.dsack;
        config.tail_loss_probe &= self.tail_loss_probe;
        config.frto &= self.frto;
        if !self.rack {
            config.loss_detection = LossDetection::DuplicateAcks;
        }
        config.nagle = self.nagle;
        config.ecn = match (self.ecn, active) {
            (0..=2, _) if self.congestion_control == "dctcp" => EcnMode::Dctcp,
            (1, _) | (2, false) | (4, true) => EcnMode::Rfc3168,
            (0 | 2, _) | (5, true) => EcnMode::Off,
            (3, _) | (4 | 5, false) => EcnMode::AccEcn,
            (other, _) => return Err(format!("tcp_ecn={other} is not modelled")),
        };
        config.accecn_option = self.accecn_option;
        if !active || agreed.accecn {
            config.mss -= config.accecn_room();
        }
        config.duplicate_ack_threshold = self.reordering;
        if let Some(maximum) = self.rto_maximum {
            config.rto.maximum = maximum;
        }
        if !self.restart_after_idle {
            config.details.idle_restart = IdleRestart::Never;
        }
        Ok(config)
    }
}

/// The options of a SYN, or those that two SYNs agree on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    pub mss: u64,
    pub sack: bool,
    pub timestamps: bool,
    pub window_scale: Option<u64>,
    /// True for a SYN-ACK with the AccECN option.
    pub accecn: bool,
}

impl Offer {
    /// Returns the options of a SYN. Without the MSS option, the MSS is 536 (RFC 9293 section
    /// 3.7.1).
    pub fn from_options(options: &[OptionSpec]) -> Self {
        let mut offer = Self {
            mss: 536,
            sack: false,
            timestamps: false,
            window_scale: None,
            accecn: false,
        };
        for option in options {
            match option {
                OptionSpec::Mss(mss) => offer.mss = *mss,
                OptionSpec::SackPermitted => offer.sack = true,
                OptionSpec::Timestamps(..) => offer.timestamps = true,
                OptionSpec::WindowScale(scale) => offer.window_scale = Some((*scale).min(14)),
                OptionSpec::AccEcn(_) => offer.accecn = true,
                OptionSpec::Sack(_) | OptionSpec::FastOpen(_) => {}
            }
        }
        offer
    }

    /// Returns the options that both ends support. The timestamps take 12 bytes of every segment.
    #[must_use]
    pub fn agree(&self, peer: &Self) -> Self {
        let timestamps = self.timestamps && peer.timestamps;
        Self {
            mss: self.mss.min(peer.mss) - if timestamps { 12 } else { 0 },
            sack: self.sack && peer.sack,
            timestamps,
            window_scale: self.window_scale.and(peer.window_scale),
            accecn: peer.accecn,
        }
    }
}

/// Splits a command at spaces outside double quotes, and drops the quotes.
fn words(command: &str) -> Vec<String> {
    let mut list = vec![String::new()];
    let mut quoted = false;
    for c in command.chars() {
        if c == '"' {
            quoted = !quoted;
        } else if c.is_whitespace() && !quoted {
            list.push(String::new());
        } else if let Some(last) = list.last_mut() {
            last.push(c);
        }
    }
    list.retain(|word| !word.is_empty());
    list
}

/// Parses `4096` or the shell's `$((15*1024*1024))`.
fn product(word: &str) -> Option<u64> {
    let inner = word
        .strip_prefix("$((")
        .and_then(|w| w.strip_suffix("))"))
        .unwrap_or(word);
    inner
        .split('*')
        .map(|factor| factor.trim().parse::<u64>().ok())
        .product()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_become_switches_or_are_not_applicable() {
        let mut settings = Settings::new(Profile::Rfc);
        let command = "../common/defaults.sh\nsysctl -q net.ipv4.tcp_ecn=1 # on\n\
                       ../set_sysctls.py /proc/sys/net/ipv4/tcp_slow_start_after_idle=1 \\\n \
                       /proc/sys/net/ipv4/tcp_sack=0\n\
                       sysctl -q net.ipv4.tcp_rmem=\"4096 131072 $((32*1024*1024))\"";
        settings.command(1, command).expect("all known");
        assert_eq!(
            (settings.ecn, settings.restart_after_idle, settings.sack),
            (1, true, false)
        );
        assert_eq!(settings.receive_buffer, (131_072, 32 << 20));
        assert_eq!(settings.offer().window_scale, Some(10));
        settings
            .command(1, "tc qdisc replace dev tun0 root pfifo limit 0")
            .expect("known");
        assert!(!settings.egress_open);
        for unknown in ["rm -rf /", "sysctl net.ipv4.tcp_unheard_of=1", "sysctl x"] {
            let refusal = settings.command(7, unknown).expect_err(unknown);
            assert!(matches!(refusal, Refusal::NotApplicable(7, _)));
        }
    }
}
