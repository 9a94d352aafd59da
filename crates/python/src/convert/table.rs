//! Tables that Python reads without a copy per value: a column consists of its numpy type and its
//! bytes.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

/// Converts rows to columns, one column at a time.
pub struct Table<'py, 'rows, R> {
    py: Python<'py>,
    rows: &'rows [R],
    columns: Bound<'py, PyDict>,
}

impl<'py, 'rows, R> Table<'py, 'rows, R> {
    /// Creates a table without columns.
    pub fn new(py: Python<'py>, rows: &'rows [R]) -> Self {
        let columns = PyDict::new(py);
        Self { py, rows, columns }
    }

    /// Adds a column of integers.
    pub fn integers(self, name: &str, value: impl Fn(&R) -> i64) -> PyResult<Self> {
        self.column(name, "<i8", |row| value(row).to_le_bytes())
    }

    /// Adds a column of floating-point numbers.
    pub fn numbers(self, name: &str, value: impl Fn(&R) -> f64) -> PyResult<Self> {
        self.column(name, "<f8", |row| value(row).to_le_bytes())
    }

    /// Returns the columns, by name.
    pub fn finish(self) -> Bound<'py, PyDict> {
        self.columns
    }

    /// Adds a column. Each value is written once, directly into the memory that Python will read.
    fn column(self, name: &str, kind: &str, value: impl Fn(&R) -> [u8; 8]) -> PyResult<Self> {
        self.py.check_signals()?;
        let bytes = PyBytes::new_with(self.py, self.rows.len() * 8, |memory| {
            for (place, row) in memory.chunks_exact_mut(8).zip(self.rows) {
                place.copy_from_slice(&value(row));
            }
            Ok(())
        })?;
        self.columns.set_item(name, (kind, bytes))?;
        Ok(self)
    }
}
