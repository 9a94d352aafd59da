//! A run of programs behind an emulated network.

use super::clock::{Clock, Sleeper, Wake};
use super::host::{Host, HostConfig};
use super::used::Used;
use crate::address::{HostTable, stays_on_link};
use crate::answers::Answers;
use crate::emulator::{Emulator, Finished, Hosts, fidelity_of};
use crate::fidelity::Fidelity;
use crate::record::{Activity, Records};
use goodqueue_queue::Backlog;
use goodqueue_sim::Network;
use goodqueue_types::{Direction, FlowId, LinkId, Packet, PacketEvent, Span, Time};
use nix::poll::{PollFd, PollFlags};
use nix::sys::mman::{MlockAllFlags, mlockall};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use std::fs::{File, read_to_string};
use std::io;
use std::mem::take;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Most packets that are read from one host before the others have their turn.
const READ_AT_ONCE: usize = 64;
/// Largest IP packet in bytes.
const LARGEST_PACKET: usize = 65_535;
/// Time that a server has to open its port.
const PATIENCE: Duration = Duration::from_secs(10);

/// Kernel parameters that are recorded, below `/proc/sys/net/ipv4`.
const RECORDED: [&str; 20] = [
    "tcp_congestion_control",
    "tcp_adv_win_scale",
    "tcp_autocorking",
    "tcp_comp_sack_delay_ns",
    "tcp_early_retrans",
    "tcp_ecn",
    "tcp_fastopen",
    "tcp_frto",
    "tcp_limit_output_bytes",
    "tcp_min_tso_segs",
    "tcp_moderate_rcvbuf",
    "tcp_no_metrics_save",
    "tcp_pacing_ca_ratio",
    "tcp_pacing_ss_ratio",
    "tcp_recovery",
    "tcp_rmem",
    "tcp_sack",
    "tcp_slow_start_after_idle",
    "tcp_timestamps",
    "tcp_wmem",
];

/// A program and its place.
#[derive(Clone, Debug)]
pub struct Program {
    /// Flow to whose ends the program belongs.
    pub flow: FlowId,
    /// True if the program runs on the server's host. The run ends when all others have ended.
    pub is_server: bool,
    /// Time at which the program starts. Those of servers start before the run.
    pub start: Time,
    /// Program and arguments.
    pub command: Vec<String>,
}

/// End of one program.
#[derive(Clone, Debug)]
pub struct Ended {
    /// The program.
    pub program: Program,
    /// Its exit code; none if a signal ended it, or the run did.
    pub code: Option<i32>,
    /// The signal that ended it before the run ended.
    pub signal: Option<i32>,
}

/// Properties of the hosts' kernel on which the behaviour of TCP depends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Version of the kernel.
    pub release: String,
    /// Kernel parameters below `/proc/sys/net/ipv4` of the first host, by name.
    pub parameters: Vec<(String, String)>,
}

/// Results of a run in real time.
#[derive(Debug)]
pub struct Emulated {
    /// The hosts' kernel.
    pub kernel: Kernel,
    /// Figures of links and flows, and quantities over time.
    pub finished: Finished,
    /// Lateness of the emulation.
    pub fidelity: Fidelity,
    /// Ends of the programs.
    pub ended: Vec<Ended>,
    /// True if the run was interrupted.
    pub interrupted: bool,
}

/// Function that turns a program into the command that starts it in its host.
pub type Launch<'a> = dyn Fn(&Program) -> Command + 'a;

/// Time between two calls of a [`Watch`].
const WATCH_EVERY: Span = Span::from_millis(1000);

/// Receiver of the activity and the backlog of all links, each second.
pub type Watch<'a> = dyn FnMut(Time, &[(Activity, Backlog)]) + 'a;

/// Receiver of the network of the first flow's far host, before programs start.
pub type Join<'a> = dyn FnMut(BorrowedFd<'_>) -> io::Result<()> + 'a;

/// A run to make.
pub struct Job<'a> {
    /// Links and routes. Its end is the latest end of the run.
    pub network: &'a Network,
    /// Programs to run.
    pub programs: &'a [Program],
    /// Kernel parameters of all hosts below `/proc/sys/net/ipv4`, by name.
    pub parameters: &'a [(String, String)],
    /// Starter of programs.
    pub launch: &'a Launch<'a>,
    /// A file whose other end is closed to end the run.
    pub stop: &'a File,
    /// Records of the run.
    pub records: Records,
    /// Receiver of the present activity, if anybody watches.
    pub watch: Option<&'a mut Watch<'a>>,
    /// Connects a far host with the outside, if anything does.
    pub join: Option<&'a mut Join<'a>>,
}

/// Runs programs behind a network until all clients have ended, the network's end is reached, a
/// signal arrives, or the other end of the job's `stop` is closed.
///
/// # Errors
/// Returns the kernel's error, with the step that failed, or a trace that cannot be written.
pub fn run(job: Job<'_>) -> io::Result<Emulated> {
    let Job {
        network,
        programs,
        launch,
        stop,
        ..
    } = job;
    let mut router = Router::new(network, job.parameters, job.records)?;
    if let Some(join) = job.join {
        join(router.far_network(FlowId(0)))?;
    }
    let mut running = Vec::new();
    let order = |servers| {
        programs
            .iter()
            .filter(move |program| program.is_server == servers)
    };
    for program in order(true) {
        running.push(router.start(program, launch)?);
    }
    router.wait_for_servers(&mut running)?;
    router.begin();
    let mut pending: Vec<_> = order(false).collect();
    pending.sort_by_key(|program| std::cmp::Reverse(program.start));
    let mut watched = job.watch;
    let mut seen = WATCH_EVERY;
    let end = network.end;
    loop {
        while let Some(program) = pending.pop_if(|program| program.start <= router.clock.now()) {
            running.push(router.start(program, launch)?);
        }
        let starts = pending.last().map_or(end, |program| program.start);
        let seen_next = watched.as_ref().map_or(end, |_| Time::ZERO + seen);
        let until = end.min(starts).min(seen_next);
        let paused = router.route(until, &mut running, !pending.is_empty(), stop)?;
        if let (Some(watch), true) = (&mut watched, paused.time >= seen_next) {
            watch(paused.time, &router.activities(network));
            seen += WATCH_EVERY;
        }
        if paused.over || paused.time >= end {
            return router.finish(network, paused, running);
        }
    }
}

/// State of a run after its packets were moved for a while.
#[derive(Clone, Copy, Debug)]
struct Paused {
    time: Time,
    /// True if all programs have ended, or the run was interrupted.
    over: bool,
    interrupted: bool,
}

/// A program that was started.
struct Running {
    program: Program,
    child: Child,
    status: Option<ExitStatus>,
}

/// Files that can be read after a wait.
struct Ready {
    /// Hosts whose packets can be read.
    hosts: Vec<usize>,
    stop: bool,
    signal: bool,
    /// Longest time for which these packets may have waited.
    unread: Span,
}

/// Hosts, the links between them, and measurements of lateness.
struct Router {
    clock: Clock,
    sleeper: Sleeper,
    emulator: Emulator,
    ports: Ports,
    signals: SignalFd,
    used: Used,
    /// Time of the last look for packets, since which the process worked.
    looked: Time,
    /// The packet that is read at present.
    bytes: Box<[u8]>,
}

/// The hosts of all flows.
struct Ports {
    table: HostTable,
    hosts: Vec<Host>,
    /// True for hosts that received packets since they were last read. Hosts answer at once.
    received: Vec<bool>,
    clock: Clock,
    answers: Answers,
    fidelity: Fidelity,
}

impl Hosts for Ports {
    fn deliver(&mut self, packet: &Packet, bytes: &[u8]) {
        let to_server = packet.direction == Direction::Forward;
        // A host that no longer takes packets loses them, as in a real network.
        let host = self.table.host(packet.flow, to_server);
        // The host may acknowledge a packet while it is written.
        self.answers.delivered(self.clock.now(), packet);
        self.hosts[host].deliver(bytes).ok();
        self.received[host] = true;
    }

    fn observe(&mut self, event: &PacketEvent, _bytes: &[u8]) {
        if event.kind == goodqueue_types::PacketEventKind::Delivered {
            let late = self.clock.now().saturating_since(event.time);
            self.fidelity.delivered(late);
        }
    }
}

impl Router {
    fn new(
        network: &Network,
        parameters: &[(String, String)],
        records: Records,
    ) -> io::Result<Self> {
        let mut wanted = SigSet::empty();
        wanted.add(Signal::SIGCHLD);
        let ignored = ignored();
        for signal in [Signal::SIGINT, Signal::SIGTERM] {
            // The starter of a job in the background lets it ignore Ctrl-C. A signal that is blocked
            // would arrive even so.
            if ignored >> (signal as u32 - 1) & 1 == 0 {
                wanted.add(signal);
            }
        }
        wanted.thread_block()?;
        let signals =
            SignalFd::with_flags(&wanted, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?;
        let table = HostTable::new(network);
        let hosts = (0..table.count()).map(|host| {
            Host::new(&HostConfig {
                pairs: table.pairs(host),
                parameters: parameters.to_vec(),
            })
        });
        let hosts = hosts.collect::<io::Result<Vec<_>>>()?;
        let clock = Clock::start();
        Ok(Self {
            clock,
            sleeper: Sleeper::new(clock),
            emulator: Emulator::new(network, records),
            ports: Ports {
                received: vec![false; hosts.len()],
                table,
                hosts,
                clock,
                answers: Answers::default(),
                fidelity: fidelity_of(network),
            },
            signals,
            used: Used::now(),
            looked: Time::ZERO,
            bytes: vec![0; LARGEST_PACKET].into(),
        })
    }

    /// Starts the time of the run.
    fn begin(&mut self) {
        // A page that was swapped out would take milliseconds. Without permission, none is locked.
        mlockall(MlockAllFlags::MCL_CURRENT).ok();
        self.clock = Clock::start();
        self.sleeper = Sleeper::new(self.clock);
        self.ports.clock = self.clock;
        self.used = Used::now();
    }

    /// Returns the network of a flow's far host.
    fn far_network(&self, flow: FlowId) -> BorrowedFd<'_> {
        let host = self.ports.table.host(flow, true);
        self.ports.hosts[host].network().as_fd()
    }

    fn start(&self, program: &Program, launch: &Launch<'_>) -> io::Result<Running> {
        let host = self.ports.table.host(program.flow, program.is_server);
        let host = &self.ports.hosts[host];
        let child = host.start(&mut launch(program)).map_err(|error| {
            let name = program.command.first().map_or("", String::as_str);
            io::Error::new(error.kind(), format!("{name} cannot be started: {error}"))
        })?;
        let program = program.clone();
        Ok(Running {
            program,
            child,
            status: None,
        })
    }

    /// Waits until each server has opened a port, has ended, or had time enough.
    fn wait_for_servers(&self, servers: &mut [Running]) -> io::Result<()> {
        let until = Instant::now() + PATIENCE;
        let mut wanted = vec![0; self.ports.hosts.len()];
        for server in servers {
            let index = self.ports.table.host(server.program.flow, true);
            let host = &self.ports.hosts[index];
            wanted[index] += 1;
            let ready = || Ok::<_, io::Error>(host.open_ports()? >= wanted[index]);
            while Instant::now() < until && server.status.is_none() && !ready()? {
                sleep(Duration::from_millis(5));
                server.status = server.child.try_wait()?;
            }
        }
        Ok(())
    }

    /// Moves packets until a time, or until all clients have ended if no more are started.
    fn route(
        &mut self,
        end: Time,
        running: &mut [Running],
        more_start: bool,
        stop: &File,
    ) -> io::Result<Paused> {
        loop {
            let next = self.emulator.next_delivery();
            let ready = self.wait(next.map_or(end, |next| next.min(end)), stop)?;
            for index in ready.hosts {
                self.read(index, ready.unread)?;
            }
            let stop = ready.stop || ready.signal && self.take_signals(running)?;
            let now = self.clock.now();
            self.emulator.advance(now.min(end), &mut self.ports);
            for index in 0..self.ports.hosts.len() {
                if take(&mut self.ports.received[index]) {
                    let unread = self.clock.now().saturating_since(now);
                    self.read(index, unread)?;
                }
            }
            let ended = !more_start && all_ended(running);
            let over = ended || stop || self.emulator.has_failed();
            if now >= end || over {
                return Ok(Paused {
                    time: now.min(end),
                    over,
                    interrupted: stop && !ended,
                });
            }
        }
    }

    /// Waits until `next`, a packet, a signal, or the closing of `stop`.
    fn wait(&mut self, next: Time, stop: &File) -> io::Result<Ready> {
        let hosts = self.ports.hosts.len();
        let devices = self.ports.hosts.iter().map(Host::device);
        let files = devices.chain([stop.as_fd(), self.signals.as_fd()]);
        let files = files.map(|file| PollFd::new(file, PollFlags::POLLIN));
        let mut files: Vec<_> = files.collect();
        let begin = self.clock.now();
        let wake = self.sleeper.wait(next, &mut files)?;
        let woken = self.clock.now();
        let any = wake == Wake::Ready;
        let is_ready = |index: usize| any && files[index].any().unwrap_or(true);
        let worked = begin.saturating_since(self.looked);
        let fidelity = &mut self.ports.fidelity;
        fidelity.paused(worked);
        fidelity.paused(woken.saturating_since(next.max(begin)));
        if let Wake::Slept(late) = wake {
            fidelity.woken(late);
        }
        self.looked = woken;
        Ok(Ready {
            hosts: (0..hosts).filter(|index| is_ready(*index)).collect(),
            stop: is_ready(hosts),
            signal: is_ready(hosts + 1),
            unread: worked,
        })
    }

    /// Lets the packets that a host has sent arrive at their first link. They may have waited for
    /// `unread`.
    fn read(&mut self, index: usize, unread: Span) -> io::Result<()> {
        for _ in 0..READ_AT_ONCE {
            let Some(length) = self.ports.hosts[index].receive(&mut self.bytes)? else {
                break;
            };
            self.ports.fidelity.read(unread);
            let bytes = &self.bytes[..length];
            if stays_on_link(bytes) {
                continue;
            }
            let (flow, direction) = self.ports.table.way(index, bytes);
            let now = self.clock.now();
            let packet = self.emulator.send(now, flow, direction, bytes);
            if let Some(delay) = self.ports.answers.sent(now, &packet) {
                self.ports.fidelity.answered(delay);
            }
        }
        Ok(())
    }

    /// Takes signals. Returns true if one asks for the end of the run.
    fn take_signals(&mut self, running: &mut [Running]) -> io::Result<bool> {
        let mut stop = false;
        while let Some(signal) = self.signals.read_signal()? {
            stop |= signal.ssi_signo != Signal::SIGCHLD as u32;
        }
        for running in running {
            if running.status.is_none() {
                running.status = running.child.try_wait()?;
            }
        }
        Ok(stop)
    }

    /// Returns the activity of all links since the last call, and their backlogs.
    fn activities(&mut self, network: &Network) -> Vec<(Activity, Backlog)> {
        let links = (0..network.links.len() as u32).map(LinkId);
        links
            .map(|link| self.emulator.take_activity(link))
            .collect()
    }

    fn finish(
        self,
        network: &Network,
        paused: Paused,
        mut running: Vec<Running>,
    ) -> io::Result<Emulated> {
        for running in &mut running {
            if running.status.is_none() {
                running.child.kill().ok();
                running.child.wait().ok();
            }
        }
        let kernel = kernel(self.ports.hosts.first())?;
        let mut fidelity = self.ports.fidelity;
        for host in &self.ports.hosts {
            fidelity.ring_drops += host.ring_drops()?;
        }
        self.used.report(&mut fidelity, paused.time);
        let ended = running.into_iter().map(|running| Ended {
            code: running.status.and_then(|status| status.code()),
            signal: running.status.and_then(|status| status.signal()),
            program: running.program,
        });
        let finished = self.emulator.finish(network, paused.time);
        let finished = finished.map_err(io::Error::other)?;
        let ended = ended.collect();
        Ok(Emulated {
            kernel,
            finished,
            fidelity,
            ended,
            interrupted: paused.interrupted,
        })
    }
}

/// Returns the signals that this process ignores, a bit for each, the first for signal 1.
fn ignored() -> u64 {
    let status = read_to_string("/proc/self/status").unwrap_or_default();
    let mut lines = status.lines();
    let mask = lines.find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or_default()
}

fn kernel(host: Option<&Host>) -> io::Result<Kernel> {
    let release = read_to_string("/proc/sys/kernel/osrelease")?;
    let parameters = host.map(|host| host.parameters(&RECORDED)).transpose()?;
    Ok(Kernel {
        release: release.trim().to_owned(),
        parameters: parameters.unwrap_or_default(),
    })
}

fn all_ended(running: &[Running]) -> bool {
    let mut clients = running.iter().filter(|running| !running.program.is_server);
    clients.all(|running| running.status.is_some())
}
