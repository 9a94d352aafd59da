//! Keys of a study file other than its axes: seeds, stopping rule, stored tables, pictures.

use super::axis::{Condition, Sweep, leaves};
use super::measure::measure;
use crate::language::document::{Node, Value};
use crate::language::error::{Checked, Origin, shorten};
use crate::language::field::Field;
use crate::language::reader::Reader;
use serde_json::{Map, json};

/// All keys except the axes.
#[derive(Debug)]
pub(crate) struct Outline {
    title: String,
    seeds: Vec<u64>,
    stop: Option<serde_json::Value>,
    min_replicates: u64,
    keep: serde_json::Value,
    plots: Vec<serde_json::Value>,
    /// Names that must be metrics, with their places and keys.
    metrics: Vec<(String, Origin, String)>,
}

impl Outline {
    pub(crate) fn read(
        root: &Reader<'_>,
        sweep: &Sweep,
        points: &[Vec<usize>],
        first_seed: u64,
    ) -> Checked<Self> {
        let mut outline = Self {
            title: root.text("title")?.unwrap_or_default(),
            seeds: seeds(root, first_seed)?,
            stop: None,
            min_replicates: 0,
            keep: keep(root)?,
            plots: Vec::new(),
            metrics: Vec::new(),
        };
        root.text("description")?;
        if let Some(stop) = root.table("stop")? {
            outline.read_stop(&stop, sweep, points)?;
        }
        if let Some(field) = root.get("plot") {
            for (index, plot) in field.tables()?.iter().enumerate() {
                let plot = outline.read_plot(plot, sweep, points, index)?;
                outline.plots.push(plot);
            }
        }
        Ok(outline)
    }

    fn read_stop(
        &mut self,
        stop: &Reader<'_>,
        sweep: &Sweep,
        points: &[Vec<usize>],
    ) -> Checked<()> {
        let field = stop.require("width")?;
        if !field.is_table() {
            let message = format!("expected a table, found {}", field.node.value.describe());
            return Err(field.problem(message, "write width.bottleneck.utilization = 0.01, say"));
        }
        let mut widths = Map::new();
        for (name, node) in leaves(field.node, "") {
            widths.insert(name.clone(), width(&field, node)?);
            self.metrics.push((name, node.at, field.path.clone()));
        }
        let min = stop
            .integer("min_replicates")?
            .unwrap_or(5)
            .max(self.seeds.len() as u64);
        let max = stop.integer("max_replicates")?.unwrap_or(1000.max(min));
        if max < min {
            let help = "write at least as many, or fewer \"seeds\" and \"min_replicates\"";
            let message = format!("the smallest number of replicates is {min}");
            return Err(stop.problem("max_replicates", message, help));
        }
        self.min_replicates = min;
        let baseline = stop
            .get("compare_to")
            .map(|field| baseline(&field, sweep, points));
        self.stop = Some(json!({
            "width": widths,
            "min_replicates": min,
            "max_replicates": max,
            "max_runs": stop.integer("max_runs")?,
            "max_time_s": stop.span("max_time")?.map(goodqueue_types::Span::as_secs_f64),
            "baseline": baseline.transpose()?,
        }));
        Ok(())
    }

    fn read_plot(
        &mut self,
        plot: &Reader<'_>,
        sweep: &Sweep,
        points: &[Vec<usize>],
        index: usize,
    ) -> Checked<serde_json::Value> {
        let kind = plot.choice("kind")?.unwrap_or("lines");
        let x = self.read_x(plot, sweep, kind)?;
        let mut ys = Vec::new();
        let y = plot.require("y")?;
        let items = match &y.node.value {
            Value::List(_) => y.items()?,
            _ => vec![y],
        };
        for item in items {
            let name = item.text()?;
            self.metrics
                .push((name.clone(), item.node.at, item.path.clone()));
            ys.push(name);
        }
        let (series, facets) = read_parts(plot, sweep, &x)?;
        let name_of = plot
            .name("name")?
            .unwrap_or_else(|| format!("plot-{}", index + 1));
        if self
            .plots
            .iter()
            .any(|other| other["name"] == json!(name_of))
        {
            let message = format!("another plot is called \"{name_of}\" too");
            return Err(plot.problem("name", message, "give each a name of its own"));
        }
        Ok(json!({
            "name": name_of,
            "title": plot.text("title")?.unwrap_or_default(),
            "kind": kind,
            "x": x,
            "y": ys,
            "series": series,
            "facets": facets,
            "where": read_where(plot, sweep, points)?,
            "band": plot.choice("band")?.unwrap_or("interval"),
            "x_scale": plot.choice("x_scale")?.unwrap_or("linear"),
            "y_scale": plot.choice("y_scale")?.unwrap_or("linear"),
        }))
    }

    /// Reads the axis or metric along x; a cumulative distribution has its values there.
    fn read_x(&mut self, plot: &Reader<'_>, sweep: &Sweep, kind: &str) -> Checked<String> {
        let field = match plot.get("x") {
            Some(field) if kind == "cdf" => {
                let help = "leave \"x\" out, or write another kind";
                return Err(field.problem("a distribution has its values along x", help));
            }
            None if kind == "cdf" => return Ok(String::new()),
            Some(field) => field,
            None => return Err(plot.missing("x")),
        };
        let name = field.text()?;
        if let Some(column) = sweep.column(&name) {
            return Ok(column.to_owned());
        }
        let ambiguous = sweep.that_end_in(&name).len() > 1;
        if ambiguous || matches!(kind, "box" | "heatmap") {
            return Err(sweep.no_axis(field.node.at, &field.path, &name));
        }
        self.metrics.push((name.clone(), field.node.at, field.path));
        Ok(name)
    }

    /// Returns the smallest number of replicates of a variant.
    pub(crate) fn least_replicates(&self) -> u64 {
        self.min_replicates.max(self.seeds.len() as u64)
    }

    pub(crate) fn metrics(&self) -> &[(String, Origin, String)] {
        &self.metrics
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        json!({
            "title": self.title,
            "seeds": self.seeds,
            "stop": self.stop,
            "keep": self.keep,
            "plots": self.plots,
        })
    }
}

/// Reads the axes of a plot's lines and of its panels, which must differ from each other and from
/// x.
fn read_parts(plot: &Reader<'_>, sweep: &Sweep, x: &str) -> Checked<(Option<String>, Vec<String>)> {
    let mut taken = vec![("x", x.to_owned())];
    let mut axis = |key: &'static str, field: Field<'_>| -> Checked<String> {
        let name = field.text()?;
        let Some(column) = sweep.column(&name) else {
            return Err(sweep.no_axis(field.node.at, &field.path, &name));
        };
        if let Some((before, _)) = taken.iter().find(|(_, other)| other == column) {
            let message = format!("\"{before}\" names the axis {} too", shorten(&name));
            return Err(field.problem(message, "name another axis, or leave the key out"));
        }
        taken.push((key, column.to_owned()));
        Ok(column.to_owned())
    };
    let series = plot.get("series").map(|field| axis("series", field));
    let series = series.transpose()?;
    let Some(field) = plot.get("facets") else {
        return Ok((series, Vec::new()));
    };
    let items = if field.is_list() {
        field.items()?
    } else {
        vec![field.clone()]
    };
    if items.len() > 2 {
        let message = format!("{} axes stand where one or two belong", items.len());
        let help = "write the axis of the rows and that of the columns; \"where\" fixes others";
        return Err(field.problem(message, help));
    }
    let facets: Checked<Vec<String>> = items.into_iter().map(|item| axis("facets", item)).collect();
    Ok((series, facets?))
}

/// Reads the values to which a plot is restricted, by column.
fn read_where(
    plot: &Reader<'_>,
    sweep: &Sweep,
    points: &[Vec<usize>],
) -> Checked<Map<String, serde_json::Value>> {
    let Some(field) = plot.get("where") else {
        return Ok(Map::new());
    };
    if !field.is_table() {
        let found = field.node.value.describe();
        let message = format!("expected a table, found {found}");
        return Err(field.problem(message, "write where = { tcp.pacing = true }, say"));
    }
    let leaves = leaves(field.node, "").into_iter();
    let conditions: Checked<Vec<Condition>> = leaves
        .map(|(path, node)| sweep.condition(&path, node))
        .collect();
    let conditions = conditions.map_err(|mut problem| {
        problem.key = format!("{}.{}", field.path, problem.key);
        problem
    })?;
    let all = |point: &&Vec<usize>| conditions.iter().all(|one| one.holds(point));
    if !points.iter().any(|point| all(&point)) {
        let message = "no variant of the study is like this";
        return Err(field.problem(message, "ask for less, or exclude less below [sweep]"));
    }
    let values = conditions.iter().map(|condition| {
        let (column, values) = sweep.values(condition);
        (column.to_owned(), json!(values))
    });
    Ok(values.collect())
}

fn seeds(root: &Reader<'_>, first: u64) -> Checked<Vec<u64>> {
    let Some(field) = root.get("seeds") else {
        return Ok(vec![first]);
    };
    if matches!(field.node.value, Value::List(_)) {
        let seeds = field.integers()?;
        return if seeds.is_empty() {
            Err(field.problem("there is no seed", "write at least one"))
        } else {
            Ok(seeds)
        };
    }
    let count = field.integer()?;
    Ok((first..first.saturating_add(count)).collect())
}

fn keep(root: &Reader<'_>) -> Checked<serde_json::Value> {
    let Some(table) = root.table("keep")? else {
        return Ok(json!({ "series": false, "histograms": false, "flows": false }));
    };
    let flag = |name: &str| Ok(table.flag(name)?.unwrap_or(false));
    Ok(json!({
        "series": flag("series")?,
        "histograms": flag("histograms")?,
        "flows": flag("flows")?,
    }))
}

/// Reads `0.01`, `"1ms"` or, relative to the mean, `"2%"`.
fn width(field: &Field<'_>, node: &Node) -> Checked<serde_json::Value> {
    let relative = matches!(&node.value, Value::Text(text) if text.ends_with('%'));
    let found = measure(node).filter(|width| width.value > 0.0);
    let Some(width) = found else {
        let what = node.value.describe();
        let own = Field {
            node,
            ..field.clone()
        };
        let message = format!("{what} is not a width of an interval");
        return Err(own.problem(
            message,
            "write a number above zero, or a share of the mean, as in \"2%\"",
        ));
    };
    Ok(json!({ "width": width.value, "relative": relative }))
}

/// Returns the baseline of each variant: the one that differs from it only in the stated axes, and
/// has the stated values.
fn baseline(field: &Field<'_>, sweep: &Sweep, points: &[Vec<usize>]) -> Checked<Vec<usize>> {
    let stated: Checked<Vec<(usize, usize)>> = leaves(field.node, "")
        .iter()
        .map(|(path, node)| sweep.stated(path, node))
        .collect();
    let stated = stated?;
    if stated.is_empty() {
        let help = "write compare_to.tcp.congestion_control = \"reno\", say";
        return Err(field.problem("there is nothing to compare with", help));
    }
    let index: std::collections::BTreeMap<&Vec<usize>, usize> = points
        .iter()
        .enumerate()
        .map(|(index, point)| (point, index))
        .collect();
    let of = |point: &Vec<usize>| {
        let mut other = point.clone();
        for (axis, value) in &stated {
            other[*axis] = *value;
        }
        index.get(&other).copied()
    };
    let found: Option<Vec<usize>> = points.iter().map(of).collect();
    found.ok_or_else(|| {
        let message = "what some variants would be compared with is excluded";
        field.problem(message, "exclude less, or compare with another value")
    })
}
