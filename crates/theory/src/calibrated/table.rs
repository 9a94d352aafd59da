//! The fitted table: a few small networks that were fitted to different parts of the links.
//!
//! Their mean is the correction to the published forms. Their disagreement adds to its error.

use crate::calibrated::groups::COUNT;
use crate::calibrated::network::{Layer, Network};
use crate::calibrated::npz;
use crate::link::{Link, Profile};
use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::sync::LazyLock;

/// The file of the package.
static FILE: &[u8] = include_bytes!("../../../../python/goodqueue/sizing/calibrated/table.npz");

/// The table of [`FILE`].
static PACKAGE: LazyLock<Table> =
    LazyLock::new(|| Table::read(FILE).expect("the table of the package is complete"));

/// Number of figures that are predicted.
const FIGURES: usize = 3;

/// Number of kinds of links whose intervals have ends of their own ([`Table::tails`]).
pub const KINDS: usize = 4;

/// A fitted table.
#[derive(Clone, Debug)]
pub struct Table {
    /// Networks of the correction.
    pub(super) members: Vec<Network>,
    /// Network of the logarithm of the error.
    pub(super) spread: Network,
    /// Value subtracted from each group, which is then divided by `scale`.
    pub(super) centre: [f64; COUNT],
    /// Divisor of each group less its centre.
    pub(super) scale: [f64; COUNT],
    /// Value added to the networks' outputs times `stretch`.
    pub(super) offset: [f64; FIGURES],
    /// Factor on the networks' outputs.
    pub(super) stretch: [f64; FIGURES],
    /// Least and largest value of each group that was fitted.
    pub(super) ranges: Vec<(f64, f64)>,
    /// Factors on the errors, by figure, with which 90 % intervals cover 90 %.
    pub widths: [f64; FIGURES],
    /// Standard errors below and above for the interval of a smallest buffer, by kind of link
    /// ([`kind`]). They differ, because the simulated smallest buffer is more often far above than far
    /// below the prediction.
    pub tails: [[f64; 2]; KINDS],
    /// Root mean square error of the published forms alone, for each figure.
    pub theory_errors: [f64; FIGURES],
}

/// A file that is no table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableError(String);

impl fmt::Display for TableError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "this is no table of calibrated theory: it needs {}",
            self.0
        )
    }
}

impl Error for TableError {}

impl Table {
    /// Returns the table of the package.
    pub fn of_package() -> &'static Self {
        &PACKAGE
    }

    /// Returns the table with one of its networks of the correction alone; None if it has no such
    /// network.
    pub fn alone(&self, member: usize) -> Option<Self> {
        let members = vec![self.members.get(member)?.clone()];
        Some(Self {
            members,
            ..self.clone()
        })
    }

    /// Reads a table from the bytes of an `.npz` file without compression. Arrays of other names are
    /// ignored.
    ///
    /// # Errors
    /// Returns the part that is missing or has another shape.
    pub fn read(file: &[u8]) -> Result<Self, TableError> {
        let mut arrays = npz::arrays(file).map_err(TableError)?;
        let mut members = Vec::new();
        loop {
            let name = format!("member{}", members.len());
            match layers(&mut arrays, &name) {
                found if found.is_empty() => break,
                found => members.push(network(found, &name)?),
            }
        }
        if members.is_empty() {
            return Err(TableError("member0".to_owned()));
        }
        let spread = network(layers(&mut arrays, "spread"), "spread")?;
        let ranges: [f64; 2 * COUNT] = array(&mut arrays, "ranges")?;
        Ok(Self {
            members,
            spread,
            centre: array(&mut arrays, "centre")?,
            scale: array(&mut arrays, "scale")?,
            offset: array(&mut arrays, "offset")?,
            stretch: array(&mut arrays, "stretch")?,
            ranges: ranges.chunks(2).map(|ends| (ends[0], ends[1])).collect(),
            widths: array(&mut arrays, "widths")?,
            tails: tails(array::<{ 2 * KINDS }>(&mut arrays, "tails")?),
            theory_errors: array(&mut arrays, "theory_errors")?,
        })
    }
}

/// Returns the place of a kind of link in [`Table::tails`]: hosts with the `rfc` profile come before all
/// others, and links on which utilisation decides before those on which loss does.
pub fn kind(link: &Link, loss_decides: bool) -> usize {
    2 * usize::from(link.profile != Some(Profile::Rfc)) + usize::from(loss_decides)
}

fn tails(ends: [f64; 2 * KINDS]) -> [[f64; 2]; KINDS] {
    std::array::from_fn(|kind| [ends[2 * kind], ends[2 * kind + 1]])
}

fn layers(arrays: &mut HashMap<String, Vec<f64>>, name: &str) -> Vec<Layer> {
    let mut layers = Vec::new();
    loop {
        let depth = layers.len();
        let matrix = arrays.remove(&format!("{name}.{depth}.matrix"));
        let offset = arrays.remove(&format!("{name}.{depth}.offset"));
        let (Some(matrix), Some(offset)) = (matrix, offset) else {
            return layers;
        };
        layers.push(Layer { matrix, offset });
    }
}

fn network(layers: Vec<Layer>, name: &str) -> Result<Network, TableError> {
    Network::new(layers, COUNT, FIGURES).ok_or_else(|| TableError(format!("the layers of {name}")))
}

fn array<const N: usize>(
    arrays: &mut HashMap<String, Vec<f64>>,
    name: &str,
) -> Result<[f64; N], TableError> {
    let found = arrays.remove(name).unwrap_or_default();
    found
        .try_into()
        .map_err(|_| TableError(format!("{N} numbers named {name}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_the_package_is_complete() {
        let table = Table::of_package();
        assert!(table.members.len() > 1);
        assert!(table.alone(0).is_some_and(|one| one.members.len() == 1));
        assert!(table.alone(table.members.len()).is_none());
    }

    #[test]
    fn another_file_is_refused_with_what_it_lacks() {
        let error = Table::read(b"no archive").unwrap_err();
        assert_eq!(
            error.to_string(),
            "this is no table of calibrated theory: it needs member0"
        );
    }
}
