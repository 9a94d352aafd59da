//! Figures of runs, and their means with intervals over several seeds.

use crate::refusal::LabError;
use goodqueue_statistics::t_quantile;
use serde_json::{Map, Value, json};

/// Probability below the upper end of a two-sided 95 % interval.
const UPPER: f64 = 0.975;

/// Most runs of which a mean is taken.
const MAX_RUNS: usize = 1_000;

/// Keys of a link's summary that are figures.
const OF_LINKS: [&str; 6] = [
    "utilization",
    "loss_rate",
    "p99_queueing_delay_s",
    "p50_queueing_delay_s",
    "mean_queueing_delay_s",
    "jain_index",
];

/// Figures that are shares, whose intervals end at 1. The page works out the last two.
const SHARES: [&str; 5] = [
    "utilization",
    "loss_rate",
    "jain_index",
    "loss_synchronization",
    "others_share",
];

/// Returns the figures of a run's summary: those of each link, and the goodput of each flow or
/// group of flows.
pub fn figures(summary: &Value) -> Value {
    let of = |tables: &str, keys: &[&str]| {
        let named = summary[tables].as_object().into_iter().flatten();
        let chosen = named.map(|(name, table)| {
            let keys = keys.iter().filter(|key| table[**key].is_number());
            let chosen: Map<String, Value> = keys
                .map(|key| ((*key).to_owned(), table[*key].clone()))
                .collect();
            (name.clone(), Value::Object(chosen))
        });
        Value::Object(chosen.collect())
    };
    json!({
        "links": of("links", &OF_LINKS),
        "flows": of("flows", &["goodput_bps"]),
    })
}

/// Returns the mean of each figure with half the width of its 95 % interval and its ends, in the
/// form of the figures of one run. All but the mean are null for a single run.
///
/// # Errors
/// Fails without a run.
pub fn intervals(runs: &[Value]) -> Result<Value, LabError> {
    let runs: Vec<&Value> = counted(runs)?.iter().collect();
    Ok(merged(&runs, "", &interval))
}

/// Returns the mean difference of each figure with its 95 % interval, in the form of the figures of
/// one run. Each run is compared with the one of `others` at the same place, because runs of the
/// same seed share their random numbers.
///
/// # Errors
/// Fails without a run, or if the lists have different lengths.
pub fn differences(runs: &[Value], others: &[Value]) -> Result<Value, LabError> {
    if runs.len() != others.len() {
        return Err(LabError::Damaged("pairs need lists of one length".into()));
    }
    let both: Vec<&Value> = counted(runs)?.iter().chain(others).collect();
    let paired = |_: &str, values: &[f64]| {
        let (ours, theirs) = values.split_at(values.len() / 2);
        let pairs = ours.iter().zip(theirs);
        let apart: Vec<f64> = pairs.map(|(one, other)| one - other).collect();
        bounded(&apart, f64::NEG_INFINITY, f64::INFINITY)
    };
    Ok(merged(&both, "", &paired))
}

/// Returns the runs if there are as many as a mean may have.
fn counted(runs: &[Value]) -> Result<&[Value], LabError> {
    if runs.is_empty() || runs.len() > MAX_RUNS {
        let text = format!("intervals need 1 to {MAX_RUNS} runs");
        return Err(LabError::Damaged(text));
    }
    Ok(runs)
}

/// Merges the values of figures of the same name. A figure that a run lacks is left out.
fn merged(runs: &[&Value], name: &str, merge: &dyn Fn(&str, &[f64]) -> Value) -> Value {
    let Value::Object(first) = runs[0] else {
        let values: Option<Vec<f64>> = runs.iter().map(|value| value.as_f64()).collect();
        return values.map_or(Value::Null, |values| merge(name, &values));
    };
    let named = |key: &String| {
        let values: Option<Vec<&Value>> = runs.iter().map(|run| run.get(key)).collect();
        Some((key.clone(), merged(&values?, key, merge)))
    };
    Value::Object(first.keys().filter_map(named).collect())
}

fn interval(name: &str, values: &[f64]) -> Value {
    let most = if SHARES.contains(&name) {
        1.0
    } else {
        f64::INFINITY
    };
    bounded(values, 0.0, most)
}

/// Returns the interval of a mean. Its ends are kept within the range of the quantity.
fn bounded(values: &[f64], least: f64, most: f64) -> Value {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    if values.len() < 2 {
        return json!({"mean": mean, "half": null, "low": null, "high": null});
    }
    let squares: f64 = values
        .iter()
        .map(|value| (value - mean) * (value - mean))
        .sum();
    let freedom = count - 1.0;
    let half = t_quantile(freedom, UPPER) * (squares / freedom / count).sqrt();
    json!({
        "mean": mean,
        "half": half,
        "low": (mean - half).max(least),
        "high": (mean + half).min(most),
    })
}
