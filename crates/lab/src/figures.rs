//! Figures of runs, and their means with intervals over several seeds.

use crate::refusal::LabError;
use serde_json::{Map, Value, json};

/// Confidence of the intervals.
const CONFIDENCE: f64 = 0.95;

/// Most runs of which a mean is taken.
const MOST_RUNS: usize = 1_000;

/// Keys of a link's summary that are figures.
const OF_LINKS: [&str; 6] = [
    "utilization",
    "loss_rate",
    "p99_queueing_delay_s",
    "p50_queueing_delay_s",
    "mean_queueing_delay_s",
    "jain_index",
];

/// Figures that are shares, whose intervals end at 1.
const SHARES: [&str; 3] = ["utilization", "loss_rate", "jain_index"];

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

/// Returns the mean of each figure with the ends of its 95 % interval, in the form of the figures
/// of one run. The ends are null for a single run.
///
/// # Errors
/// Fails without a run, or if the runs do not have the same figures.
pub fn intervals(runs: &[Value]) -> Result<Value, LabError> {
    if runs.is_empty() || runs.len() > MOST_RUNS {
        let text = format!("intervals need 1 to {MOST_RUNS} runs");
        return Err(LabError::Damaged(text));
    }
    let runs: Vec<&Value> = runs.iter().collect();
    Ok(merged("", &runs))
}

/// Merges figures of the same name. A figure that a run lacks is left out.
fn merged(name: &str, runs: &[&Value]) -> Value {
    let Value::Object(first) = runs[0] else {
        let values: Option<Vec<f64>> = runs.iter().map(|value| value.as_f64()).collect();
        return values.map_or(Value::Null, |values| interval(name, &values));
    };
    let merge = |key: &String| {
        let values: Option<Vec<&Value>> = runs.iter().map(|run| run.get(key)).collect();
        Some((key.clone(), merged(key, &values?)))
    };
    Value::Object(first.keys().filter_map(merge).collect())
}

fn interval(name: &str, values: &[f64]) -> Value {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    if values.len() < 2 {
        return json!({"mean": mean, "low": null, "high": null});
    }
    let squares: f64 = values
        .iter()
        .map(|value| (value - mean) * (value - mean))
        .sum();
    let half = t_quantile(values.len() - 1) * (squares / (count - 1.0) / count).sqrt();
    let most = if SHARES.contains(&name) {
        1.0
    } else {
        f64::INFINITY
    };
    json!({"mean": mean, "low": (mean - half).max(0.0), "high": (mean + half).min(most)})
}

/// Returns the two-sided quantile of Student's t distribution by bisection.
fn t_quantile(freedom: usize) -> f64 {
    let (mut low, mut high) = (0.0_f64, 1e3_f64);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if t_within(middle, freedom) < CONFIDENCE {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// Returns the probability of a value between -t and t: Abramowitz and Stegun, Handbook of
/// Mathematical Functions, 26.7.3 and 26.7.4.
fn t_within(t: f64, freedom: usize) -> f64 {
    let angle = libm::atan(t / (freedom as f64).sqrt());
    let (sine, cosine) = (libm::sin(angle), libm::cos(angle));
    let odd = freedom % 2 == 1;
    let (mut sum, mut term) = (0.0, if odd { cosine } else { 1.0 });
    for step in ((if odd { 3 } else { 2 })..=freedom).step_by(2) {
        sum += term;
        term *= cosine * cosine * (step as f64 - 1.0) / step as f64;
    }
    if odd {
        return (angle + sine * sum) * std::f64::consts::FRAC_2_PI;
    }
    sine * sum
}
