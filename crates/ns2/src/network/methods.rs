//! Methods of objects other than the simulator.

use super::settings::time;
use super::{Action, Kind, World, classes, simulator};
use crate::error::{quoted, refuse, unknown};
use crate::tcl::{Flow, Interpreter, Text, measured, split_list};

/// Runs a method of an object.
pub fn method(tcl: &mut Interpreter, id: usize, words: &[Text]) -> Result<Text, Flow> {
    let line = tcl.line();
    let world = &mut tcl.world;
    let Some(name) = words.get(1).map(|word| word.text.clone()) else {
        let message = "an object is called without a method";
        return Err(refuse(line, message, "write $object METHOD").into());
    };
    let kind = world.objects[id].kind.clone();
    if &*name == "set" && kind != Kind::Simulator {
        return world.variable_command(id, words, line);
    }
    match kind {
        Kind::Simulator => simulator::method(world, words, line),
        Kind::Node | Kind::Delay(_) => Ok(Text::measured()),
        Kind::Agent { .. } => world.agent_method(id, &name, words, line),
        Kind::Application { .. } => world.application_method(id, &name, words, line),
        Kind::Link(direction) => world.link_method(direction, &name, words, line),
        Kind::Queue(_) => world.queue_method(&name, line),
        Kind::Errors { .. } => world.errors_method(id, &name, words, line),
        Kind::Random => world.random_method(id, &name, words, line),
        Kind::Other => {
            world.current.reads = true;
            Ok(Text::measured())
        }
    }
}

/// Connects two agents.
pub fn connect(world: &mut World, a: usize, b: usize) {
    for (one, other) in [(a, b), (b, a)] {
        if let Kind::Agent { peer, .. } = &mut world.objects[one].kind {
            *peer = Some(other);
        }
    }
}

impl World {
    /// Reads or sets a variable of an object.
    fn variable_command(&mut self, id: usize, words: &[Text], line: u32) -> Result<Text, Flow> {
        let variable = words.get(2).map_or("", |word| &word.text);
        if let Some(value) = words.get(3) {
            self.assign(id, variable, value, line)?;
            return Ok(value.clone());
        }
        let settings = &self.objects[id].settings;
        let known = classes::default(&settings.class, variable);
        let value = settings.set.get(variable).map(String::as_str).or(known);
        if value.is_none() {
            self.current.reads = true;
        }
        Ok(value.map_or_else(Text::measured, Text::new))
    }

    /// Sets a variable of an object.
    pub(super) fn assign(
        &mut self,
        id: usize,
        variable: &str,
        value: &Text,
        line: u32,
    ) -> Result<(), Flow> {
        let observer = matches!(
            self.objects[id].kind,
            Kind::Other | Kind::Node | Kind::Simulator
        );
        if observer {
            return Ok(());
        }
        if let Kind::Delay(direction) = self.objects[id].kind {
            return Ok(self.assign_link(direction, variable, &value.text, line)?);
        }
        if classes::harmless(&self.objects[id].settings.class, variable) {
            return Ok(());
        }
        if value.is_measured() {
            return Err(measured(line));
        }
        if self.objects[id].early {
            self.unchanged(line)?;
        }
        let application = matches!(self.objects[id].kind, Kind::Application { .. });
        let settings = &mut self.objects[id].settings;
        let traffic = application && settings.class.starts_with("Application/Traffic");
        // ns-2 knows the packet size of applications by two names.
        let variable = match variable {
            "packet_size_" if traffic => "packetSize_",
            other => other,
        };
        if settings.class == "Application/Traffic/CBR" {
            if variable == "interval_" {
                // CBR keeps the rate that gives this interval with the present size.
                let bits = settings.number("packetSize_")? * 8.0;
                let seconds = time(&value.text).filter(|seconds| *seconds > 0.0);
                let rate = bits / seconds.unwrap_or(f64::MAX);
                settings.set.insert("rate_".to_owned(), format!("{rate}"));
            } else if matches!(variable, "rate_" | "packetSize_") {
                settings.set.remove("interval_");
            }
        }
        settings
            .set
            .insert(variable.to_owned(), value.text.to_string());
        settings.line = line;
        Ok(())
    }

    fn agent_method(
        &mut self,
        id: usize,
        name: &str,
        words: &[Text],
        line: u32,
    ) -> Result<Text, Flow> {
        let tcp = self.objects[id].settings.class.starts_with("Agent/TCP/")
            || self.objects[id].settings.class == "Agent/TCP";
        match (name, words.get(2)) {
            ("attach-app" | "attach-source" | "attach-traffic", Some(class)) => {
                let class = format!("Application/{}", class.text);
                let new = [Text::new("new"), Text::new(class)];
                let made = self.new_object(&new, line)?;
                self.put_on(&made, id);
                Ok(made)
            }
            ("connect", Some(peer)) => {
                let peer = self.agent(peer, line)?;
                connect(self, id, peer);
                Ok(Text::empty())
            }
            ("send" | "advance" | "advanceby", Some(amount)) if tcp => {
                let new = [Text::new("new"), Text::new("Application/FTP")];
                let made = self.new_object(&new, line)?;
                self.put_on(&made, id);
                let method = if name == "send" { "send" } else { "produce" };
                let amount = amount.clone();
                let call = [made.clone(), Text::new(method), amount];
                let application = self.id(&made.text).unwrap_or(id);
                self.application_method(application, method, &call, line)
            }
            ("select_ca", Some(control)) => {
                let chosen = control.text.to_string();
                if let Kind::Agent { control, .. } = &mut self.objects[id].kind {
                    *control = Some(chosen);
                }
                Ok(Text::empty())
            }
            (
                "attach" | "attach-trace" | "trace" | "tracevar" | "close" | "reset" | "listen",
                _,
            ) => Ok(Text::empty()),
            _ => {
                let known = [
                    "set",
                    "attach-app",
                    "connect",
                    "send",
                    "advance",
                    "select_ca",
                    "attach",
                    "trace",
                ];
                Err(unknown(line, "the method of an agent", name, &known).into())
            }
        }
    }

    fn put_on(&mut self, application: &Text, on: usize) {
        if let Some(id) = self.id(&application.text)
            && let Kind::Application { agent, .. } = &mut self.objects[id].kind
        {
            *agent = Some(on);
        }
    }

    fn application_method(
        &mut self,
        id: usize,
        name: &str,
        words: &[Text],
        line: u32,
    ) -> Result<Text, Flow> {
        const MAX_ACTIONS: usize = 10_000;
        let count = |text: Option<&Text>| -> Result<u64, Flow> {
            let number = text.map_or(Ok(0.0), |text| text.number(line))?;
            if !(1.0..=1e12).contains(&number) {
                let message = format!("{name} is asked for {number}");
                return Err(refuse(line, message, "write a positive number").into());
            }
            Ok(number as u64)
        };
        let action = match name {
            "attach-agent" => {
                let agent = self.agent(words.get(2).unwrap_or(&Text::empty()), line)?;
                self.put_on(&words[0], agent);
                return Ok(Text::empty());
            }
            "agent" => {
                let Kind::Application {
                    agent: Some(agent), ..
                } = self.objects[id].kind
                else {
                    return Ok(Text::measured());
                };
                return Ok(super::handle(agent));
            }
            "start" => Action::Start,
            "stop" => Action::Stop,
            "produce" | "producemore" => Action::Segments(count(words.get(2))?),
            "send" if words.get(2).is_some_and(|word| &*word.text == "-1") => Action::Start,
            "send" => Action::Bytes(count(words.get(2))?),
            _ => {
                let known = ["set", "attach-agent", "start", "stop", "produce", "send"];
                return Err(unknown(line, "the method of an application", name, &known).into());
            }
        };
        let now = self.now;
        if let Kind::Application { actions, .. } = &mut self.objects[id].kind
            && actions.len() < MAX_ACTIONS
        {
            actions.push((now, action));
        }
        Ok(Text::empty())
    }

    fn link_method(
        &mut self,
        direction: usize,
        name: &str,
        words: &[Text],
        line: u32,
    ) -> Result<Text, Flow> {
        match name {
            "queue" => Ok(super::handle(self.directions[direction].queue)),
            "link" => Ok(self.make("DelayLink", Kind::Delay(direction), line)?),
            "cost" | "down" | "up" => {
                let message = format!("{} of a link has no equivalent here", quoted(name));
                Err(refuse(line, message, "leave it out").into())
            }
            "errormodule" | "install-error" if words.len() > 2 => {
                let errors = self.errors(&words[2], line)?;
                self.directions[direction].errors = Some((errors, true));
                Ok(Text::empty())
            }
            _ => Ok(self.make("Other", Kind::Other, line)?),
        }
    }

    fn queue_method(&mut self, name: &str, line: u32) -> Result<Text, Flow> {
        let silent = [
            "attach",
            "trace",
            "early-drop-target",
            "drop-target",
            "reset",
            "length",
            "link",
            "print",
        ];
        if silent.contains(&name) {
            self.current.reads = true;
            return Ok(Text::measured());
        }
        Err(unknown(line, "the method of a queue", name, &silent).into())
    }

    fn errors_method(
        &mut self,
        id: usize,
        name: &str,
        words: &[Text],
        line: u32,
    ) -> Result<Text, Flow> {
        let value = words.get(2).cloned().unwrap_or_else(Text::empty);
        match name {
            "drop-target" | "eventtrace" => {}
            "ranvar" => {
                let uniform = self.id(&value.text).is_some_and(|id| {
                    let settings = &self.objects[id].settings;
                    settings.class == "RandomVariable/Uniform" && settings.set.is_empty()
                });
                if !uniform {
                    let message =
                        "the random variable of an ErrorModel is no RandomVariable/Uniform";
                    return Err(refuse(line, message, "write [new RandomVariable/Uniform]").into());
                }
            }
            "unit" | "droplist" => {
                let mut numbers = Vec::new();
                if name == "droplist" {
                    for number in split_list(&value, line)? {
                        numbers.push(number.whole(line)?.max(0).unsigned_abs());
                    }
                }
                if let Kind::Errors { unit, list } = &mut self.objects[id].kind {
                    if name == "unit" {
                        *unit = value.text.to_string();
                    } else {
                        *list = numbers;
                    }
                }
            }
            _ => {
                let known = ["set", "unit", "ranvar", "drop-target", "droplist"];
                return Err(unknown(line, "the method of an ErrorModel", name, &known).into());
            }
        }
        Ok(Text::empty())
    }

    fn random_method(
        &mut self,
        id: usize,
        name: &str,
        words: &[Text],
        line: u32,
    ) -> Result<Text, Flow> {
        let number = |place: usize, default: f64| -> Result<f64, Flow> {
            words
                .get(place)
                .map_or(Ok(default), |text| text.number(line))
        };
        let value = match name {
            "value" => {
                let settings = self.objects[id].settings.clone();
                self.variable(&settings)?
            }
            "uniform" => {
                let (low, high) = (number(2, 0.0)?, number(3, 1.0)?);
                self.uniform(low, high)
            }
            "integer" => {
                let most = number(2, 1.0)?;
                let drawn = self
                    .uniform(0.0, most)
                    .floor()
                    .clamp(0.0, (most - 1.0).max(0.0));
                return Ok(Text::new(format!("{drawn}")));
            }
            "exponential" => {
                let mean = number(2, 1.0)?;
                self.exponential(mean)
            }
            "seed" | "use-rng" | "reset-start-substream" | "next-substream" | "default" => {
                return Ok(Text::empty());
            }
            _ => {
                let known = [
                    "seed",
                    "uniform",
                    "integer",
                    "exponential",
                    "value",
                    "use-rng",
                ];
                return Err(unknown(line, "the method of a random stream", name, &known).into());
            }
        };
        Ok(Text::new(format!("{value:?}")))
    }
}
