//! The fitted table of calibrated theory, from the file that the Python package reads.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Archive of uncompressed arrays in single precision, as `numpy.savez` writes it.
static FILE: &[u8] = include_bytes!("../../../../python/goodqueue/sizing/calibrated/table.npz");

/// Bytes of an entry's header in a ZIP archive before its name.
const ZIP_HEADER: usize = 30;

/// Bytes of an array's header before its description, in version 1 of the format.
const ARRAY_HEADER: usize = 10;

/// Layer of a network: a matrix by rows of inputs, and an offset for each output.
struct Layer {
    matrix: Vec<f64>,
    offset: Vec<f64>,
}

/// A network whose layers are joined by hyperbolic tangents.
pub struct Network(Vec<Layer>);

impl Network {
    /// Returns the outputs for these inputs.
    pub fn values(&self, inputs: &[f64]) -> Vec<f64> {
        let mut values = inputs.to_vec();
        for (depth, layer) in self.0.iter().enumerate() {
            if depth > 0 {
                for value in &mut values {
                    *value = libm::tanh(*value);
                }
            }
            let mut outputs = layer.offset.clone();
            for (value, row) in values.iter().zip(layer.matrix.chunks(outputs.len())) {
                for (output, weight) in outputs.iter_mut().zip(row) {
                    *output += value * weight;
                }
            }
            values = outputs;
        }
        values
    }
}

/// The table; `goodqueue.sizing.calibrated.surface.Surfaces` has the meaning of each part.
pub struct Table {
    pub members: Vec<Network>,
    pub spread: Network,
    pub centre: Vec<f64>,
    pub scale: Vec<f64>,
    pub offset: Vec<f64>,
    pub stretch: Vec<f64>,
    /// Least and largest value of each group that was fitted.
    pub ranges: Vec<(f64, f64)>,
    pub widths: Vec<f64>,
    pub tails: Vec<f64>,
    pub theory_errors: Vec<f64>,
}

/// The table of the package.
pub static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut arrays = arrays(FILE);
    let mut members = Vec::new();
    while let Some(member) = network(&mut arrays, &format!("member{}", members.len())) {
        members.push(member);
    }
    let spread = network(&mut arrays, "spread").expect("a network of the error");
    let mut array = |name: &str| arrays.remove(name).expect("a part of the table");
    let ranges = array("ranges");
    Table {
        members,
        spread,
        centre: array("centre"),
        scale: array("scale"),
        offset: array("offset"),
        stretch: array("stretch"),
        ranges: ranges.chunks(2).map(|ends| (ends[0], ends[1])).collect(),
        widths: array("widths"),
        tails: array("tails"),
        theory_errors: array("theory_errors"),
    }
});

fn network(arrays: &mut HashMap<String, Vec<f64>>, name: &str) -> Option<Network> {
    let mut layers = Vec::new();
    while let Some(matrix) = arrays.remove(&format!("{name}.{}.matrix", layers.len())) {
        let offset = arrays.remove(&format!("{name}.{}.offset", layers.len()))?;
        layers.push(Layer { matrix, offset });
    }
    (!layers.is_empty()).then_some(Network(layers))
}

/// Returns the arrays of an archive by name. Each entry follows the one before, without gaps.
fn arrays(mut file: &[u8]) -> HashMap<String, Vec<f64>> {
    let mut found = HashMap::new();
    while file.starts_with(b"PK\x03\x04") {
        let short = |at: usize| usize::from(u16::from_le_bytes([file[at], file[at + 1]]));
        assert_eq!(short(8), 0, "the table is not compressed");
        let (name, extra) = (short(26), short(28));
        let start = ZIP_HEADER + name + extra;
        let described = usize::from(u16::from_le_bytes([file[start + 8], file[start + 9]]));
        let data = start + ARRAY_HEADER + described;
        let description = String::from_utf8_lossy(&file[start + ARRAY_HEADER..data]);
        let plain = description.contains("'descr': '<f4', 'fortran_order': False");
        assert!(plain, "rows of numbers in single precision");
        let end = data + 4 * count(&description);
        let numbers = file[data..end].chunks_exact(4);
        let numbers =
            numbers.map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
        let name = String::from_utf8_lossy(&file[ZIP_HEADER..ZIP_HEADER + name]);
        let name = name.trim_end_matches(".npy").to_owned();
        found.insert(name, numbers.map(f64::from).collect());
        file = &file[end..];
    }
    found
}

/// Returns the number of elements of an array, the product of the numbers in `'shape': (18, 32)`.
fn count(description: &str) -> usize {
    let shape = description.split("'shape': (").nth(1);
    let shape = shape.and_then(|rest| rest.split(')').next()).unwrap_or("");
    let sides = shape
        .split(',')
        .filter_map(|side| side.trim().parse::<usize>().ok());
    sides.product()
}
