//! Questions of the page and their answers: the protocol of both back ends.
//!
//! A question has an action and a body, which is a JSON object.
//!
//! | action | body | answer |
//! | --- | --- | --- |
//! | `start` | | names of queues and controls, and the bounds on runs |
//! | `open` | `text`, `files` | contents of a scenario file |
//! | `picture` | `text`, `files`, `overrides`, `limit`, `seed`, `columns`, `flows`, `first_packets` | picture of a run |
//! | `packets` | `text`, `files`, `overrides`, `from_ms`, `to_ms` | packets of a short part of a run |
//! | `tc` | `text`, `files`, `overrides`, `link` | commands of `tc` for a link's queue |
//! | `theory` | `rate`, `rtt`, `flows`, `control` | answer of calibrated theory, and rules |
//! | `intervals` | `figures` of several runs | means with their intervals |
//! | `differences` | `figures` of several runs, `others` | mean differences of the pairs with their intervals |

use crate::bounds::Bounds;
use crate::calibrated::instant_answer;
use crate::contents::{contents, tc, words};
use crate::experiment::{Experiment, Run, Setting, View};
use crate::figures::{differences, intervals};
use crate::packets::{PacketRun, Watch};
use crate::refusal::LabError;
use goodqueue_scenario::UnitError;
use goodqueue_types::{Span, Time};
use serde_json::{Map, Value};

/// Latest time of packets that are shown, in milliseconds.
const LONGEST_MS: u64 = 1_000_000;

/// Work for one question of the page.
#[derive(Debug)]
pub enum Job {
    /// A run for its picture.
    Picture(Box<Run>),
    /// A run for its packets.
    Packets(Box<PacketRun>),
    /// The answer, which is known already.
    Answered(String),
    /// A run that exceeded a bound.
    Stopped(LabError),
}

impl Job {
    /// Begins with a question.
    ///
    /// # Errors
    /// Returns the mistake of the page or of its user.
    pub fn start(action: &str, body: &str) -> Result<Self, LabError> {
        let body: Value =
            serde_json::from_str(body).map_err(|error| damaged(&error.to_string()))?;
        let Value::Object(body) = body else {
            return Err(damaged("it is no object"));
        };
        let body = Body(&body);
        let answer = match action {
            "picture" => return picture(&body).map(|run| Self::Picture(Box::new(run))),
            "packets" => return packets(&body).map(|run| Self::Packets(Box::new(run))),
            "start" => words(),
            "open" => contents(&body.setting()?)?,
            "tc" => tc(&body.setting()?, body.text("link")?)?,
            "theory" => instant_answer(
                body.text("rate")?,
                body.text("rtt")?,
                body.number("flows")?,
                body.text("control")?,
            )?,
            "intervals" => intervals(body.list("figures")?)?,
            "differences" => differences(body.list("figures")?, body.list("others")?)?,
            _ => return Err(damaged("there is no such action")),
        };
        Ok(Self::Answered(answer.to_string()))
    }

    /// Works for some milliseconds. Returns the share that is done, or none if the answer is
    /// ready or the run was stopped.
    pub fn advance(&mut self) -> Option<f64> {
        let next = match self {
            Self::Picture(run) => run.advance(),
            Self::Packets(run) => run.advance(),
            Self::Answered(_) | Self::Stopped(_) => return None,
        };
        next.unwrap_or_else(|refusal| {
            *self = Self::Stopped(refusal);
            None
        })
    }

    /// Status of HTTP for the answer.
    pub fn status(&self) -> u16 {
        match self {
            Self::Stopped(refusal) => refusal.status(),
            _ => 200,
        }
    }

    /// Returns the answer, or the refusal of a run that was stopped.
    ///
    /// # Panics
    /// Panics before the answer is ready.
    pub fn answer(self) -> String {
        match self {
            Self::Picture(run) => run.picture().to_string(),
            Self::Packets(run) => run.picture().to_string(),
            Self::Answered(text) => text,
            Self::Stopped(refusal) => refusal.json().to_string(),
        }
    }
}

fn picture(body: &Body<'_>) -> Result<Run, LabError> {
    let view = View {
        columns: body.number("columns")? as usize,
        flows: body.number("flows")? as usize,
    };
    let setting = body.setting()?;
    let whole = Experiment::set_up(&setting, Bounds::default())?;
    let packets = body.given("first_packets", "a whole number", Value::as_u64)?;
    let short = packets.and_then(|packets| whole.shortened(&setting, packets));
    Ok(short.unwrap_or(whole).start(view))
}

fn packets(body: &Body<'_>) -> Result<PacketRun, LabError> {
    let at = |key| -> Result<Time, LabError> {
        Ok(Time::ZERO + Span::from_millis(body.number(key)?.min(LONGEST_MS)))
    };
    let watch = Watch {
        from: at("from_ms")?,
        to: at("to_ms")?,
        most: Watch::MAX_PACKETS,
    };
    let experiment = Experiment::set_up(&body.setting()?, Bounds::default())?;
    let run = experiment.watch(watch);
    run.ok_or_else(|| {
        UnitError::new("no link of this scenario has a queue", "give one a rate").into()
    })
}

fn damaged(reason: &str) -> LabError {
    LabError::Damaged(format!("this question of the page is damaged: {reason}"))
}

/// Body of a question.
struct Body<'a>(&'a Map<String, Value>);

impl<'a> Body<'a> {
    /// Returns a value if the body has it and it is not null.
    fn given<T>(
        &self,
        key: &str,
        kind: &str,
        read: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Result<Option<T>, LabError> {
        match self.0.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => read(value)
                .map(Some)
                .ok_or_else(|| damaged(&format!("\"{key}\" is not {kind}"))),
        }
    }

    fn text(&self, key: &str) -> Result<&'a str, LabError> {
        let text = self.given(key, "a text", Value::as_str)?;
        text.ok_or_else(|| damaged(&format!("\"{key}\" is missing")))
    }

    fn number(&self, key: &str) -> Result<u64, LabError> {
        let number = self.given(key, "a whole number", Value::as_u64)?;
        number.ok_or_else(|| damaged(&format!("\"{key}\" is missing")))
    }

    fn list(&self, key: &str) -> Result<&'a [Value], LabError> {
        let list = self.given(key, "a list", Value::as_array)?;
        list.map(Vec::as_slice)
            .ok_or_else(|| damaged(&format!("\"{key}\" is missing")))
    }

    /// Returns the scenario of the question with its changes.
    fn setting(&self) -> Result<Setting, LabError> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let files = self.given("files", "an object of texts", |files| {
            let files = files.as_object()?.iter();
            files
                .map(|(name, file)| Some((name.clone(), text(file)?.into_bytes())))
                .collect()
        })?;
        let overrides = self.given("overrides", "an object of texts", |overrides| {
            let overrides = overrides.as_object()?.iter();
            overrides
                .map(|(key, value)| Some((key.clone(), text(value)?)))
                .collect()
        })?;
        let limit = self.given("limit", "a link and its limit", |limit| {
            Some((text(&limit["link"])?, text(&limit["limit"])?))
        })?;
        Ok(Setting {
            text: self.text("text")?.to_owned(),
            files: files.unwrap_or_default(),
            overrides: overrides.unwrap_or_default(),
            limit,
            seed: self.given("seed", "a whole number", Value::as_u64)?,
        })
    }
}
