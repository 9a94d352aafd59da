//! The network at the end of a script.

use super::model::{Flow, Link, Loss, Model, Work};
use super::{Action, Kind, Settings, World, classes};
use crate::error::{ImportError, refuse};
use std::collections::HashMap;

impl World {
    /// Returns the network. `last` is the line of the command that ended the script.
    pub fn finish(mut self, last: u32) -> Result<Model, ImportError> {
        if !self.running {
            let help = "write $ns run at the end; a script may need arguments";
            return Err(refuse(
                last,
                "the script ends before it runs a simulation",
                help,
            ));
        }
        if !self.ended || self.now == 0.0 {
            let help = r#"write $ns at 100.0 "exit 0" before $ns run"#;
            return Err(refuse(0, "the script never ends the run", help));
        }
        let mut places = HashMap::new();
        let mut nodes: Vec<String> = Vec::new();
        let mut used = HashMap::new();
        for (id, object) in self.objects.iter().enumerate() {
            if object.kind == Kind::Node {
                let name = object.names.as_ref().map_or("", |names| &names.1);
                places.insert(id, nodes.len());
                nodes.push(single(name, "node", &mut used));
            }
        }
        let links = self.directions.iter().map(|one| Link {
            from: places[&one.from],
            to: places[&one.to],
            rate_bps: one.rate_bps,
            delay_ps: one.delay_ps,
            queue: self.objects[one.queue].settings.clone(),
            loss: one.errors.and_then(|(id, after)| self.loss(id, after)),
            line: one.line,
        });
        let links: Vec<Link> = links.collect();
        let mut flows = Vec::new();
        for id in 0..self.objects.len() {
            flows.extend(self.flow(id, &places)?);
        }
        if flows.is_empty() {
            let help =
                r#"attach an Application/FTP to a TCP agent, and write $ns at 0.0 "$ftp start""#;
            return Err(refuse(0, "the script starts no flow", help));
        }
        self.reads.dedup();
        Ok(Model {
            nodes,
            links,
            flows,
            end: self.now,
            warmup: match self.reads[..] {
                [once] if once < self.now => Some(once),
                _ => None,
            },
            notes: self.notes,
            files: Vec::new(),
            draws: self.draws,
            unbounded: self.unbounded,
        })
    }

    fn loss(&self, id: usize, after: bool) -> Option<Loss> {
        match &self.objects[id].kind {
            Kind::Errors { unit, list } => Some(Loss {
                settings: self.objects[id].settings.clone(),
                unit: unit.clone(),
                list: list.clone(),
                after,
            }),
            _ => None,
        }
    }

    /// Returns the flow of an application; None if the object is none or never starts.
    fn flow(
        &mut self,
        id: usize,
        places: &HashMap<usize, usize>,
    ) -> Result<Option<Flow>, ImportError> {
        let object = &self.objects[id];
        let Kind::Application { agent, actions } = &object.kind else {
            return Ok(None);
        };
        let line = object.line;
        let Some(agent) = *agent else {
            return Ok(None);
        };
        let Some((start, mut stop, bulk)) = told(actions, line)? else {
            return Ok(None);
        };
        if let Some(quota) = quota(&object.settings)? {
            stop = Some(stop.unwrap_or(f64::MAX).min(start + quota));
        }
        let of = |id: usize| match &self.objects[id].kind {
            Kind::Agent {
                node,
                peer,
                control,
            } => (*node, *peer, control.clone()),
            _ => (None, None, None),
        };
        let (Some(from), Some(peer), control) = of(agent) else {
            let message = "the agent of this application has no node or no peer";
            return Err(refuse(
                line,
                message,
                "write $ns attach-agent and $ns connect",
            ));
        };
        let (Some(to), _, _) = of(peer) else {
            let message = "the receiver of this application has no node";
            return Err(refuse(line, message, "write $ns attach-agent NODE SINK"));
        };
        let name = object
            .names
            .clone()
            .or_else(|| self.objects[agent].names.clone());
        let sends = &self.objects[agent].settings;
        let tcp = classes::SENDERS.contains(&&*sends.class);
        let bulk_application = object.settings.class == "Application/FTP";
        if tcp != bulk_application {
            let message = format!("{} on {}", object.settings.class, sends.class);
            let help = "put Application/FTP on TCP, and Application/Traffic on Agent/UDP";
            return Err(refuse(line, message, help));
        }
        let without_effect = if tcp {
            object.settings.check(&[])?
        } else {
            Vec::new()
        };
        let flow = Flow {
            name: name.map_or_else(String::new, |names| names.0),
            from: places[&from],
            to: places[&to],
            start,
            jitter: 0.0,
            stop: stop.filter(|stop| *stop < self.now),
            work: if tcp {
                bulk
            } else {
                Work::Traffic(object.settings.clone())
            },
            agent: sends.clone(),
            control,
            sink: self.objects[peer].settings.clone(),
            line,
        };
        for variable in without_effect {
            self.note(format!(
                "{variable} of Application/FTP has no effect in ns-2"
            ));
        }
        Ok(Some(flow))
    }
}

/// Returns the time in seconds after which a source has sent its `maxpkts_` packets.
fn quota(settings: &Settings) -> Result<Option<f64>, ImportError> {
    if settings.class != "Application/Traffic/CBR" || !settings.set.contains_key("maxpkts_") {
        return Ok(None);
    }
    let packets = settings.number("maxpkts_")?;
    Ok(Some((packets.max(1.0) - 0.5) * settings.packet_interval()?))
}

/// Start and stop of an application, and its data.
type Told = (f64, Option<f64>, Work);

/// Returns what an application was told; None if it never starts.
fn told(actions: &[(f64, Action)], line: u32) -> Result<Option<Told>, ImportError> {
    let begins = |action: &Action| *action != Action::Stop;
    let mut starts = actions.iter().filter(|(_, action)| begins(action));
    let Some(&(start, first)) = starts.next() else {
        return Ok(None);
    };
    if starts.next().is_some() {
        let message = "an application starts more than once";
        return Err(refuse(line, message, "use an application for each start"));
    }
    let stop = actions
        .iter()
        .find(|(at, action)| !begins(action) && *at >= start);
    let work = match first {
        Action::Segments(count) => Work::Segments(count),
        Action::Bytes(count) => Work::Bytes(count),
        Action::Start | Action::Stop => Work::Endless,
    };
    Ok(Some((start, stop.map(|stop| stop.0), work)))
}

/// Returns a name that no other has. `used` has the last number of each name.
pub fn single(name: &str, otherwise: &str, used: &mut HashMap<String, u32>) -> String {
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic());
    let base = if starts { name } else { otherwise };
    loop {
        let number = used.entry(base.to_owned()).or_default();
        *number += 1;
        if *number == 1 {
            return base.to_owned();
        }
        let full = format!("{base}-{number}");
        // The script may have a variable of this name.
        if !used.contains_key(&full) {
            used.insert(full.clone(), 1);
            return full;
        }
    }
}
