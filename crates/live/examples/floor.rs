//! Processor time of the least program that can emulate a link: `floor RATE_MBPS SECONDS`, as root.
//!
//! Two hosts, a TCP flow of iperf3 between them, and a FIFO of 33 packets in each direction that is only a
//! list of due times. Each packet is read, waits for its time as in an emulation, and is written. What this
//! takes is the kernel's part: a sleep, a wake-up, and the TCP of the hosts within the writes.

#[cfg(target_os = "linux")]
fn main() -> std::io::Result<()> {
    linux::main()
}

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
mod linux {
    use goodqueue_live::linux::clock::{Clock, Sleeper};
    use goodqueue_live::linux::host::{Host, HostConfig};
    use goodqueue_types::{Rate, Span, Time};
    use nix::poll::{PollFd, PollFlags};
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::sys::time::TimeValLike;
    use std::collections::VecDeque;
    use std::io;
    use std::net::IpAddr;
    use std::process::{Command, Stdio};

    /// Packets that wait in each direction.
    const LIMIT: usize = 33;
    /// Delay of each direction.
    const DELAY: Span = Span::from_millis(20);

    /// A direction: the time at which the link is free, and packets with the times at which they arrive.
    #[derive(Default)]
    struct Way {
        free: Time,
        waiting: VecDeque<(Time, Box<[u8]>)>,
    }

    pub fn main() -> io::Result<()> {
        let mut numbers = std::env::args().skip(1).map(|text| text.parse::<u64>());
        let mut number = |or| numbers.next().and_then(Result::ok).unwrap_or(or);
        let (rate, seconds) = (Rate(number(10) * 1_000_000), number(8));
        let [near, far] = ["10.64.0.1", "10.64.0.2"].map(str::parse::<IpAddr>);
        let (near, far) = (near.expect("an address"), far.expect("an address"));
        let host = |own, other| {
            let parameters = Vec::new();
            let pairs = vec![(own, other)];
            Host::new(&HostConfig { pairs, parameters })
        };
        let hosts = [host(near, far)?, host(far, near)?];
        let quiet = |command: &mut Command| {
            command.stdout(Stdio::null());
        };
        let mut serve = Command::new("iperf3");
        quiet(serve.arg("-s"));
        let mut server = hosts[1].start(&mut serve)?;
        while hosts[1].open_ports()? == 0 {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let mut load = Command::new("iperf3");
        let span = seconds.to_string();
        quiet(load.args(["-c", &far.to_string(), "-t", &span]));
        let mut client = hosts[0].start(&mut load)?;
        let packets = forward(&hosts, rate, Span::from_secs(seconds))?;
        client.kill()?;
        server.kill()?;
        client.wait()?;
        server.wait()?;
        let usage = getrusage(UsageWho::RUSAGE_SELF)?;
        let each = |time: nix::sys::time::TimeVal| time.num_microseconds() as f64 / packets as f64;
        let (user, system) = (each(usage.user_time()), each(usage.system_time()));
        println!("{packets} packets, {user:.1} us of user and {system:.1} us of system time each");
        Ok(())
    }

    /// Forwards packets for a time. Returns their number.
    fn forward(hosts: &[Host; 2], rate: Rate, span: Span) -> io::Result<u64> {
        let clock = Clock::start();
        let mut sleeper = Sleeper::new(clock);
        let mut ways = [Way::default(), Way::default()];
        let mut bytes = vec![0; 65_536];
        let (mut packets, end) = (0, Time::ZERO + span);
        while clock.now() < end {
            let due = |way: &Way| way.waiting.front().map(|(time, _)| *time);
            let next = ways.iter().filter_map(due).min().unwrap_or(end).min(end);
            let files = hosts.iter().map(Host::device);
            let mut files: Vec<_> = files
                .map(|file| PollFd::new(file, PollFlags::POLLIN))
                .collect();
            sleeper.wait(next, &mut files)?;
            for (from, way) in ways.iter_mut().enumerate() {
                let now = clock.now();
                while way.waiting.front().is_some_and(|(time, _)| *time <= now) {
                    let (_, packet) = way.waiting.pop_front().expect("it is there");
                    hosts[1 - from].deliver(&packet).ok();
                    packets += 1;
                }
                while let Some(length) = hosts[from].receive(&mut bytes)? {
                    let now = clock.now();
                    let began = way.free.max(now);
                    let sending = rate.transmission_time(goodqueue_types::Bytes(length as u64));
                    if began.saturating_since(now) < sending * LIMIT as u64 {
                        way.free = began + sending;
                        way.waiting
                            .push_back((way.free + DELAY, bytes[..length].into()));
                    }
                }
            }
        }
        Ok(packets)
    }
}
