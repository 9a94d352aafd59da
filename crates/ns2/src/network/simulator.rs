//! Methods of `Simulator`.

use super::settings::{picoseconds, rate, time};
use super::{Action, Direction, Kind, World, classes, methods};
use crate::error::{ImportError, quoted, refuse, unknown};
use crate::tcl::{Flow, Text, measured};

/// Methods that draw pictures, write traces or choose between equal ways to compute.
const SILENT: &[&str] = &[
    "attach-fmon",
    "color",
    "create-trace",
    "drop-trace",
    "duplex-link-op",
    "dumpq",
    "eventtrace-all",
    "flush-trace",
    "gen-map",
    "monitor-agent-trace",
    "namtrace-all",
    "namtrace-queue",
    "set-address-format",
    "set-animation-rate",
    "simplex-link-op",
    "trace-all",
    "trace-annotate",
    "trace-queue",
    "use-newtrace",
    "use-scheduler",
    "use-taggedtrace",
    "puts-nam-traceall",
    "add-agent-trace",
    "namtrace-config",
    "compute-routes",
    "create-eventtrace",
];

/// Methods that are understood, for messages.
const KNOWN: &[&str] = &[
    "node",
    "duplex-link",
    "simplex-link",
    "queue-limit",
    "attach-agent",
    "connect",
    "lossmodel",
    "link-lossmodel",
    "at",
    "at-now",
    "after",
    "now",
    "run",
    "halt",
    "link",
    "monitor-queue",
    "create-connection",
    "makeflowmon",
    "get-node-by-id",
    "set",
    "nullagent",
    "cancel",
    "detach-agent",
    "rtproto",
];

/// Methods that no scenario can express.
const REFUSED: &[(&str, &str)] = &[
    ("rtmodel-at", "leave out link failures"),
    ("rtmodel", "leave out link failures"),
    ("cost", "leave out costs: routes have the fewest links"),
    ("node-config", "import a script of wired links"),
    ("newLan", "join the nodes by duplex-link"),
    ("make-lan", "join the nodes by duplex-link"),
    ("multicast", "import a script of unicast flows"),
];

/// Runs a method of the simulator.
pub fn method(world: &mut World, words: &[Text], line: u32) -> Result<Text, Flow> {
    let name = words.get(1).map_or("", |word| &word.text);
    let of = |place: usize, form: &str| -> Result<&Text, Flow> {
        words.get(place).ok_or_else(|| {
            let message = format!("{} has too few words", quoted(name));
            refuse(line, message, format!("write $ns {form}")).into()
        })
    };
    match name {
        "node" => Ok(world.make("Node", Kind::Node, line)?),
        "duplex-link" | "simplex-link" => {
            let form = "duplex-link NODE NODE RATE DELAY QUEUE";
            of(6, form)?;
            world.unchanged(line)?;
            let (a, b) = (world.node(&words[2], line)?, world.node(&words[3], line)?);
            world.link(a, b, words, line)?;
            if name == "duplex-link" {
                world.link(b, a, words, line)?;
            }
            Ok(Text::empty())
        }
        "queue-limit" => {
            let limit = of(4, "queue-limit NODE NODE PACKETS")?.clone();
            let place = world.link_of(words, line)?;
            let queue = world.directions[place].queue;
            world.assign(queue, "limit_", &limit, line)?;
            Ok(Text::empty())
        }
        "attach-agent" => {
            let agent = world.agent(of(3, "attach-agent NODE AGENT")?, line)?;
            let place = world.node(&words[2], line)?;
            if let Kind::Agent { node, .. } = &mut world.objects[agent].kind {
                *node = Some(place);
            }
            Ok(Text::empty())
        }
        "connect" | "simplex-connect" => {
            let b = world.agent(of(3, "connect AGENT AGENT")?, line)?;
            let a = world.agent(&words[2], line)?;
            methods::connect(world, a, b);
            Ok(Text::empty())
        }
        "create-connection" => {
            of(6, "create-connection TYPE NODE SINK NODE FLOW")?;
            world.connection(words, line)
        }
        "lossmodel" | "link-lossmodel" => {
            of(4, "lossmodel MODEL NODE NODE")?;
            let errors = world.errors(&words[2], line)?;
            let place = world.link_of(&words[1..], line)?;
            world.directions[place].errors = Some((errors, name == "link-lossmodel"));
            Ok(Text::empty())
        }
        "at" | "at-now" | "after" => {
            let script = of(if name == "at-now" { 2 } else { 3 }, "at TIME {COMMANDS}")?.clone();
            let at = match name {
                "at" => moment(world, &words[2], line)?,
                "after" => world.now + words[2].number(line)?,
                _ => world.now,
            };
            Ok(world.schedule(at, &script, line)?)
        }
        "cancel" => {
            world.cancel(&of(2, "cancel EVENT")?.text);
            Ok(Text::empty())
        }
        "detach-agent" => {
            let agent = world.agent(of(3, "detach-agent NODE AGENT")?, line)?;
            world.detach(agent);
            Ok(Text::empty())
        }
        "rtproto" => {
            world.route_by(&of(2, "rtproto PROTOCOL")?.text, line)?;
            Ok(Text::empty())
        }
        "now" => Ok(Text::new(format!("{:?}", world.now))),
        "run" => {
            world.running = true;
            Ok(Text::empty())
        }
        "halt" | "stop" => Err(Flow::Exit),
        "link" => {
            let place = world.link_of(words, line)?;
            Ok(world.make("Link", Kind::Link(place), line)?)
        }
        "get-node-by-id" => {
            world.node_by_number(of(2, "get-node-by-id NUMBER")?.whole(line)?, line)
        }
        "monitor-queue" | "makeflowmon" => Ok(world.make("QueueMonitor", Kind::Other, line)?),
        "set" | "nullagent" => Ok(world.make("Other", Kind::Other, line)?),
        _ if SILENT.contains(&name) => Ok(Text::measured()),
        _ => {
            if let Some((_, help)) = REFUSED.iter().find(|(refused, _)| *refused == name) {
                let message = format!("$ns {name} has no equivalent here");
                return Err(refuse(line, message, *help).into());
            }
            Err(unknown(line, "the method of Simulator", name, KNOWN).into())
        }
    }
}

/// Returns the time of `at`, which may be relative.
fn moment(world: &World, text: &Text, line: u32) -> Result<f64, Flow> {
    if text.is_measured() {
        return Err(measured(line));
    }
    let (base, rest) = match text.text.strip_prefix('+') {
        Some(rest) => (world.now, rest),
        None => (0.0, &*text.text),
    };
    time(rest).map(|seconds| base + seconds).ok_or_else(|| {
        let message = format!("the time {} is not understood", quoted(&text.text));
        refuse(line, message, "write seconds, such as 1.5").into()
    })
}

impl World {
    /// Makes two agents on their nodes, and connects them.
    fn connection(&mut self, words: &[Text], line: u32) -> Result<Text, Flow> {
        let mut ends = Vec::new();
        for place in [2, 4] {
            let class = Text::new(format!("Agent/{}", words[place].text));
            let made = self.new_object(&[Text::new("new"), class], line)?;
            let id = self.agent(&made, line)?;
            let at = self.node(&words[place + 1], line)?;
            if let Kind::Agent { node, .. } = &mut self.objects[id].kind {
                *node = Some(at);
            }
            ends.push((id, made));
        }
        methods::connect(self, ends[0].0, ends[1].0);
        Ok(ends.swap_remove(0).1)
    }

    fn node_by_number(&self, number: i64, line: u32) -> Result<Text, Flow> {
        let nodes = self
            .objects
            .iter()
            .enumerate()
            .filter(|(_, one)| one.kind == Kind::Node);
        let mut ids = nodes.map(|(id, _)| id);
        let found = usize::try_from(number)
            .ok()
            .and_then(|number| ids.nth(number));
        found.map(super::handle).ok_or_else(|| {
            let message = format!("there is no node {number}");
            refuse(line, message, "write the number of a node").into()
        })
    }

    /// Returns the node that a text names.
    fn node(&self, text: &Text, line: u32) -> Result<usize, Flow> {
        self.of_kind(text, line, "a node", |kind| *kind == Kind::Node)
    }

    pub(super) fn agent(&self, text: &Text, line: u32) -> Result<usize, Flow> {
        self.of_kind(text, line, "an agent", |kind| {
            matches!(kind, Kind::Agent { .. })
        })
    }

    pub(super) fn errors(&self, text: &Text, line: u32) -> Result<usize, Flow> {
        self.of_kind(text, line, "an ErrorModel", |kind| {
            matches!(kind, Kind::Errors { .. })
        })
    }

    fn of_kind(
        &self,
        text: &Text,
        line: u32,
        what: &str,
        wanted: impl Fn(&Kind) -> bool,
    ) -> Result<usize, Flow> {
        if text.is_measured() {
            return Err(measured(line));
        }
        let found = self
            .id(&text.text)
            .filter(|id| wanted(&self.objects[*id].kind));
        found.ok_or_else(|| {
            let message = format!("{} is not {what}", quoted(&text.text));
            refuse(
                line,
                message,
                format!("name {what} that the script has made"),
            )
            .into()
        })
    }

    /// Takes an agent from its node. The run differs only if packets arrive for the agent afterwards.
    fn detach(&mut self, agent: usize) {
        let peer = match self.objects[agent].kind {
            Kind::Agent { peer, .. } => peer,
            _ => None,
        };
        let sends = self.objects.iter().any(|one| match &one.kind {
            Kind::Application { agent: on, actions } => {
                let own = *on == Some(agent) || (on.is_some() && *on == peer);
                let ends = actions
                    .last()
                    .is_some_and(|(_, action)| *action != Action::Stop);
                own && ends
            }
            _ => false,
        });
        if sends {
            let note = "detach-agent of an agent with traffic is left out: the flow goes on";
            self.note(note.to_owned());
        }
    }

    /// Chooses a routing protocol. All find the routes with the fewest links.
    fn route_by(&mut self, protocol: &str, line: u32) -> Result<(), ImportError> {
        match protocol {
            "Static" | "Session" | "Manual" => {}
            "DV" | "LS" => self.note(format!(
                "rtproto {protocol} sends messages in ns-2, which are left out"
            )),
            _ => {
                let known = ["Static", "Session", "Manual", "DV", "LS"];
                return Err(unknown(line, "the routing protocol", protocol, &known));
            }
        }
        Ok(())
    }

    /// Sets the rate or the delay of a direction.
    pub(super) fn assign_link(
        &mut self,
        direction: usize,
        variable: &str,
        value: &str,
        line: u32,
    ) -> Result<(), ImportError> {
        self.unchanged(line)?;
        let path = &mut self.directions[direction];
        match variable {
            "bandwidth_" => path.rate_bps = link_rate(value, line)?,
            "delay_" => path.delay_ps = link_delay(value, line)?,
            _ => {
                let known = ["bandwidth_", "delay_"];
                return Err(unknown(line, "the variable of a link", variable, &known));
            }
        }
        Ok(())
    }

    /// Returns the direction between the nodes that are words 2 and 3.
    fn link_of(&self, words: &[Text], line: u32) -> Result<usize, Flow> {
        let empty = Text::empty();
        let (a, b) = (
            words.get(2).unwrap_or(&empty),
            words.get(3).unwrap_or(&empty),
        );
        let ends = (self.node(a, line)?, self.node(b, line)?);
        self.pairs.get(&ends).copied().ok_or_else(|| {
            refuse(
                line,
                "there is no link between these nodes",
                "make it with duplex-link first",
            )
            .into()
        })
    }

    /// Makes a direction of a link.
    fn link(
        &mut self,
        from: usize,
        to: usize,
        words: &[Text],
        line: u32,
    ) -> Result<(), ImportError> {
        let [_, _, _, _, speed, delay, queue, ..] = words else {
            return Ok(());
        };
        let rate_bps = link_rate(&speed.text, line)?;
        let delay_ps = link_delay(&delay.text, line)?;
        let kind = queue.text.split_whitespace().next().unwrap_or_default();
        if !classes::QUEUES.contains(&kind) {
            return Err(classes::queue_refusal(kind, line));
        }
        if from == to || self.pairs.contains_key(&(from, to)) {
            let message = "a second link between the same nodes, or one from a node to itself";
            return Err(refuse(
                line,
                message,
                "make one link for each pair of nodes",
            ));
        }
        let queue = self.object(
            &format!("Queue/{kind}"),
            Kind::Queue(self.directions.len()),
            line,
        );
        self.pairs.insert((from, to), self.directions.len());
        self.directions.push(Direction {
            from,
            to,
            rate_bps,
            delay_ps,
            queue,
            errors: None,
            line,
        });
        Ok(())
    }
}

/// Returns the rate of a link in bits per second.
fn link_rate(text: &str, line: u32) -> Result<u64, ImportError> {
    let rate = rate(text).map(|bps| bps.round() as u64);
    rate.filter(|bps| *bps > 0).ok_or_else(|| {
        let message = format!("the rate {} is not understood", quoted(text));
        refuse(line, message, "write a rate such as 10Mb")
    })
}

/// Returns the delay of a link in picoseconds.
fn link_delay(text: &str, line: u32) -> Result<u64, ImportError> {
    time(text).map(picoseconds).ok_or_else(|| {
        let message = format!("the delay {} is not understood", quoted(text));
        refuse(line, message, "write a delay such as 10ms")
    })
}
