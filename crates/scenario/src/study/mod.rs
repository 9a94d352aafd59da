//! The study file: a scenario, the values of some of its keys, and the seeds.

mod axis;
mod labels;
mod measure;
mod outline;
mod range;
mod toml;

use crate::language::bounds::ReadBounds;
use crate::language::document::{Document, Node, Value, apply, lay, position};
use crate::language::error::{Checked, Origin, Problem, ScenarioError, nearest, shorten};
use crate::language::file::Files;
use crate::language::python::Checksums;
use crate::language::reader::Reader;
use crate::language::spec::{MAX_RUNS, MAX_VARIANTS, STUDY};
use crate::scenario::{Scenario, read_file, read_scenario};
use axis::{Sweep, Swept};
pub use measure::measure_text;
use outline::Outline;
use std::fmt::Write;
use std::path::Path;

/// Most tests of points of the grid with excluding conditions.
const MAX_TESTS: u128 = 1_000_000_000;

/// A study file whose own keys are valid. Each of its scenarios is read when it is needed.
#[derive(Debug)]
pub struct Study {
    file: String,
    text: String,
    base: Base,
    overrides: Vec<(String, String)>,
    outline: Outline,
    sweep: Sweep,
    /// Index of the value of each axis, for each variant.
    points: Vec<Vec<usize>>,
    root: Node,
}

/// Base scenario, which the axes change.
#[derive(Debug)]
struct Base {
    file: String,
    text: String,
    root: Node,
}

impl Study {
    /// Reads a study. `file` is its name in messages, and files that it names are searched in the
    /// same folder. Overrides are applied to its base scenario.
    ///
    /// # Errors
    /// Returns the first mistake of the study file itself. [`Study::scenario`] finds mistakes of
    /// the scenarios.
    pub fn parse(
        text: &[u8],
        file: &str,
        overrides: &[(String, String)],
    ) -> Result<Self, ScenarioError> {
        let document = Document::read(text, file, &[])?;
        let mut base = read_base(&document)?;
        let laid = apply(&mut base.root, overrides);
        laid.map_err(|problem| {
            Document::from_tree(&base.file, &base.text, overrides, base.root.clone())
                .locate(problem)
        })?;
        let read = || -> Checked<(Outline, Sweep, Vec<Vec<usize>>)> {
            let root = Reader::open(&document.root, &STUDY, String::new())?;
            root.require("schema_version")?.integer()?;
            let sweep = match root.get("sweep") {
                Some(field) => Sweep::read(field.node)?,
                None => Sweep::default(),
            };
            let (count, points) = points(&root, &sweep)?;
            let outline = Outline::read(&root, &sweep, &points, seed_of(&base.root))?;
            check_size(&root, count, &outline)?;
            Ok((outline, sweep, points))
        };
        let (outline, sweep, points) = read().map_err(|problem| document.locate(problem))?;
        Ok(Self {
            file: file.to_owned(),
            text: document.text.to_owned(),
            base,
            overrides: overrides.to_vec(),
            outline,
            sweep,
            points,
            root: document.root,
        })
    }

    /// Returns the number of points of the grid that are not excluded.
    pub fn variants(&self) -> usize {
        self.points.len()
    }

    /// Returns all but the variants, as JSON: title, axes, seeds, stop, keep, plots.
    pub fn outline_json(&self) -> String {
        let mut outline = self.outline.json();
        let columns = self.sweep.axes.iter().flat_map(|axis| &axis.keys);
        let columns: Vec<&str> = columns.map(|swept| swept.column.as_str()).collect();
        outline["axes"] = serde_json::json!(columns);
        outline.to_string()
    }

    /// Returns the value of each axis at a variant, by column, as JSON.
    pub fn parameters_json(&self, variant: usize) -> String {
        let chosen = self.chosen(variant);
        let pairs = chosen.map(|(swept, value)| (swept.column.clone(), swept.shown[value].clone()));
        serde_json::Value::Object(pairs.collect()).to_string()
    }

    /// Returns the scenario of a variant.
    ///
    /// # Errors
    /// Returns the first mistake, located at the axis with the value or in the base scenario.
    pub fn scenario(&self, variant: usize) -> Result<Scenario, ScenarioError> {
        self.scenario_with(variant, None)
    }

    /// Returns the scenario of a variant, which may name classes in Python if the function for the
    /// checksums of their sources is given.
    ///
    /// # Errors
    /// Returns the first mistake, located at the axis with the value or in the base scenario.
    pub fn scenario_with(
        &self,
        variant: usize,
        checksums: Option<&Checksums<'_>>,
    ) -> Result<Scenario, ScenarioError> {
        let mut settings: Vec<(&Swept, &Node)> = self
            .chosen(variant)
            .map(|(swept, value)| (swept, &swept.values[value]))
            .collect();
        // Values inside a table are set after the table.
        settings.sort_by_key(|(swept, _)| swept.path.matches('.').count());
        let mut root = self.base.root.clone();
        for (index, (swept, value)) in settings.iter().enumerate() {
            let at = Origin::Override(self.overrides.len() + index);
            lay(&mut root, at, &swept.path, |at| Ok(value.placed(at)))
                .map_err(|problem| self.locate(problem, &settings))?;
        }
        let Base { file, text, .. } = &self.base;
        let document = Document::from_tree(file, text, &self.overrides, root);
        read_scenario(
            &document,
            Files::beside(file),
            ReadBounds::default(),
            checksums,
        )
        .map_err(|problem| self.locate(problem, &settings))
    }

    fn chosen(&self, variant: usize) -> impl Iterator<Item = (&Swept, usize)> {
        let axes = self.sweep.axes.iter().zip(&self.points[variant]);
        axes.flat_map(|(axis, value)| axis.keys.iter().map(|swept| (swept, *value)))
    }

    /// Locates a mistake: in the study if an axis has the value, else in the base scenario.
    fn locate(&self, problem: Problem, settings: &[(&Swept, &Node)]) -> ScenarioError {
        let axis = match problem.at {
            Origin::Override(index) => index.checked_sub(self.overrides.len()),
            Origin::File(_) => None,
        };
        if let Some((_, value)) = axis.and_then(|index| settings.get(index)) {
            let at = value.at;
            return self.locate_own(Problem { at, ..problem });
        }
        let Base { file, text, root } = &self.base;
        let document = Document::from_tree(file, text, &self.overrides, root.clone());
        let mut error = document.locate(problem);
        if !settings.is_empty() {
            let place = |(swept, value): &(&Swept, &Node)| {
                format!("{} = {}", swept.path, toml::inline_value(value))
            };
            let place: Vec<String> = settings.iter().map(place).collect();
            error.message = format!("{}, with {}", error.message, place.join(", "));
        }
        error
    }

    fn locate_own(&self, problem: Problem) -> ScenarioError {
        let Origin::File(offset) = problem.at else {
            unreachable!("values of axes stand in the study")
        };
        let (line, column) = position(&self.text, offset);
        ScenarioError {
            file: self.file.clone(),
            line: Some(line),
            column: Some(column),
            key: shorten(&problem.key),
            message: problem.message,
            help: problem.help,
        }
    }

    /// Checks the names of metrics in `[stop]` and in plots against those of runs.
    ///
    /// # Errors
    /// Returns the first name that is not a metric, with the nearest one.
    pub fn check_metrics(&self, names: &[String]) -> Result<(), ScenarioError> {
        for (name, at, key) in self.outline.metrics() {
            if names.contains(name) {
                continue;
            }
            let metrics = names.iter().map(String::as_str);
            // A plot has a metric or an axis along x.
            let axes = self.sweep.names().into_iter();
            let axes = axes.filter(|_| key.rsplit('.').next() == Some("x"));
            let help = match nearest(name, metrics.chain(axes)) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => "`goodqueue sweep FILE --dry-run --metrics` lists them".to_owned(),
            };
            let message = format!("no run of this study has a metric \"{}\"", shorten(name));
            return Err(self.locate_own(Problem::new(*at, key, message, help)));
        }
        Ok(())
    }

    /// Returns the study with its base scenario written into it: an equivalent file.
    pub fn resolved_toml(&self) -> String {
        let mut out = String::new();
        let Value::Table(table) = &self.root.value else {
            unreachable!("a file is a table")
        };
        let entry = |name: &str| table.entries.iter().find(|entry| entry.name == name);
        for name in ["schema_version", "title", "description", "seeds"] {
            if let Some(entry) = entry(name) {
                let _ = writeln!(out, "{name} = {}", toml::inline_value(&entry.node));
            }
        }
        if let Some(sweep) = entry("sweep") {
            toml::write_sweep(&mut out, &sweep.node);
        }
        for name in ["stop", "keep"] {
            if let Some(entry) = entry(name) {
                toml::write_table(&mut out, name, &entry.node);
            }
        }
        if let Some(Value::List(plots)) = entry("plot").map(|entry| &entry.node.value) {
            for plot in plots {
                out.push_str("\n[[plot]]\n");
                out.push_str(&toml::lines(plot));
            }
        }
        let folder = Path::new(&self.base.file).parent();
        let mut base = self.base.root.clone();
        find_files(&mut base, folder.unwrap_or(Path::new("")));
        toml::write_table(&mut out, "scenario", &base);
        out
    }
}

/// Returns the base scenario's tree, from a table of the study or from its own file.
fn read_base(study: &Document<'_>) -> Result<Base, ScenarioError> {
    let field = || {
        let root = Reader::open(&study.root, &STUDY, String::new())?;
        let field = root.require("scenario")?;
        if field.is_table() {
            return Ok((field, None));
        }
        let name = field.text()?;
        Ok((field, Some(name)))
    };
    let (field, name) = field().map_err(|problem| study.locate(problem))?;
    let Some(name) = name else {
        return Ok(Base {
            file: study.file.to_owned(),
            text: study.text.to_owned(),
            root: field.node.clone(),
        });
    };
    let folder = Path::new(study.file).parent().unwrap_or(Path::new(""));
    let path = folder.join(&name);
    let bytes = read_file(&path).map_err(|error| {
        let message = format!(
            "cannot read {}: {error}",
            shorten(&path.display().to_string())
        );
        let help = "give the path of a scenario file, seen from the study's folder";
        study.locate(field.problem(message, help))
    })?;
    let file = path.display().to_string();
    let document = Document::read(&bytes, &file, &[])?;
    let (text, root) = (document.text.to_owned(), document.root);
    Ok(Base { file, text, root })
}

/// Returns the seed of the base scenario.
fn seed_of(base: &Node) -> u64 {
    let Value::Table(table) = &base.value else {
        return 1;
    };
    match table.get("seed").map(|node| &node.value) {
        Some(Value::Integer(_, Some(seed))) => u64::try_from(*seed).unwrap_or(1),
        _ => 1,
    }
}

/// Returns the number of points that are not excluded, and as many of them as a study may have.
fn points(root: &Reader<'_>, sweep: &Sweep) -> Checked<(u64, Vec<Vec<usize>>)> {
    let count = sweep.points();
    // The grid itself is bounded too, because each of its points is tested for exclusion.
    if count > u128::from(MAX_VARIANTS) * 100 {
        return Err(too_many(root, count, "points"));
    }
    let tests = count * sweep.conditions() as u128;
    if tests > MAX_TESTS {
        let message = format!(
            "the {} points of this grid take {} tests with the excluding conditions",
            thousands(count),
            thousands(tests)
        );
        let help = format!("exclude less: at most {} tests", thousands(MAX_TESTS));
        return Err(root.problem("sweep", message, help));
    }
    let (count, points) = sweep.grid(MAX_VARIANTS);
    if points.is_empty() {
        let help = "exclude less";
        return Err(root.problem("sweep", "every point of the grid is excluded", help));
    }
    Ok((count, points))
}

fn check_size(root: &Reader<'_>, variants: u64, outline: &Outline) -> Checked<()> {
    let replicates = outline.least_replicates();
    let runs = u128::from(variants) * u128::from(replicates);
    if variants > MAX_VARIANTS {
        return Err(too_many(root, variants.into(), "variants"));
    }
    if runs > u128::from(MAX_RUNS) {
        return Err(too_many(root, runs, "runs"));
    }
    Ok(())
}

fn too_many(root: &Reader<'_>, count: u128, what: &str) -> Problem {
    let most = if what == "runs" {
        MAX_RUNS
    } else {
        MAX_VARIANTS
    };
    let message = format!(
        "this sweep has {} {what}; a study has at most {} variants and {} runs",
        thousands(count),
        thousands(u128::from(MAX_VARIANTS)),
        thousands(u128::from(MAX_RUNS)),
    );
    let help = format!(
        "take longer steps, fewer seeds, or several studies of at most {} {what} each",
        thousands(u128::from(most))
    );
    root.problem("sweep", message, help)
}

/// Formats a number as `1,000,000`.
fn thousands(count: u128) -> String {
    let digits = count.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Replaces names of files by full paths, because a study's folder may differ from its scenario's.
fn find_files(node: &mut Node, folder: &Path) {
    match &mut node.value {
        Value::List(items) => items.iter_mut().for_each(|item| find_files(item, folder)),
        Value::Table(table) => {
            for entry in &mut table.entries {
                match (&*entry.name, &mut entry.node.value) {
                    ("file", Value::Text(file)) => {
                        let path = folder.join(&*file);
                        let path = std::path::absolute(&path).unwrap_or(path);
                        *file = path.display().to_string();
                    }
                    _ => find_files(&mut entry.node, folder),
                }
            }
        }
        _ => {}
    }
}
