//! Caches: those of the machine at hand, and those in which callgrind counts the misses of a case.

use serde::Serialize;
use std::fs;
use std::path::Path;

/// Level 1 cache for data, and instructions alike, in valgrind's form: bytes, ways, bytes of a line.
const LEVEL_1: &str = "49152,12,64";

/// The two last-level caches: the second level of one core, as a machine offers it whose cores share
/// their last level with other load, and the last level of a machine without other load.
const LAST_LEVELS: [&str; 2] = ["1048576,16,64", "33554432,16,64"];

/// Names of the columns of misses in the table of the documentation.
pub const COLUMNS: [&str; 3] = ["misses of 48 KiB", "misses of 1 MiB", "misses of 32 MiB"];

/// Data that a case did not find in a cache, when it read or wrote them, in cache lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Misses {
    /// Level 1.
    pub level_1: u64,
    /// The small and the large last level.
    pub last: [u64; 2],
}

impl Misses {
    /// Returns the counts in the order of [`COLUMNS`].
    pub fn columns(&self) -> [u64; 3] {
        [self.level_1, self.last[0], self.last[1]]
    }

    /// Returns the counts that were written in the order of [`COLUMNS`].
    pub fn from_columns([level_1, small, large]: [u64; 3]) -> Self {
        Self {
            level_1,
            last: [small, large],
        }
    }

    /// Counts the misses of a program in both last-level caches. `collect` runs the program under
    /// callgrind with these options and returns the counts that callgrind collected.
    ///
    /// # Panics
    /// Panics if callgrind prints other counts than those of its caches.
    pub fn count(mut collect: impl FnMut(&[String]) -> Vec<u64>) -> Self {
        let [small, large] = LAST_LEVELS.map(|last| {
            let options = [
                "--cache-sim=yes".to_owned(),
                format!("--I1={LEVEL_1}"),
                format!("--D1={LEVEL_1}"),
                format!("--LL={last}"),
            ];
            Self::parse(&collect(&options)).expect("nine counts of a simulated cache")
        });
        Self {
            level_1: small.0,
            last: [small.1, large.1],
        }
    }

    /// Returns the misses of data in level 1 and in the last level, from callgrind's counts: Ir Dr Dw
    /// I1mr D1mr D1mw `ILmr` `DLmr` `DLmw`.
    fn parse(counts: &[u64]) -> Option<(u64, u64)> {
        let [_, _, _, _, read, written, _, last_read, last_written] = counts else {
            return None;
        };
        Some((read + written, last_read + last_written))
    }
}

/// Returns the sizes of the machine's data caches in words, such as "48 KiB, 1 MiB and 32 MiB of cache".
pub fn of_machine() -> String {
    described(Path::new("/sys/devices/system/cpu/cpu0/cache"))
}

fn described(folder: &Path) -> String {
    let read = |index: usize, name: &str| {
        let text = fs::read_to_string(folder.join(format!("index{index}")).join(name)).ok()?;
        Some(text.trim().to_owned())
    };
    let sizes: Vec<String> = (0..8)
        .filter(|index| read(*index, "type").is_some_and(|kind| kind != "Instruction"))
        .filter_map(|index| Some(in_words(&read(index, "size")?)))
        .collect();
    match sizes.split_last() {
        None => "of unknown caches".to_owned(),
        Some((one, [])) => format!("{one} of cache"),
        Some((last, others)) => format!("{} and {last} of cache", others.join(", ")),
    }
}

/// Returns a size that Linux writes in KiB, as "32768K", in the largest whole unit.
fn in_words(size: &str) -> String {
    match size
        .strip_suffix('K')
        .and_then(|size| size.parse::<u64>().ok())
    {
        Some(kib) if kib % 1024 == 0 => format!("{} MiB", kib / 1024),
        Some(kib) => format!("{kib} KiB"),
        None => size.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misses_of_reads_and_writes_are_added() {
        let mut runs = [
            [90, 40, 20, 9, 5, 2, 0, 4, 1],
            [90, 40, 20, 9, 5, 2, 0, 1, 0],
        ]
        .iter();
        let mut last_levels = Vec::new();
        let misses = Misses::count(|options| {
            last_levels.push(options[3].clone());
            runs.next().expect("two runs").to_vec()
        });
        assert_eq!(misses.columns(), [7, 5, 1]);
        assert_eq!(Misses::from_columns(misses.columns()), misses);
        assert_eq!(last_levels, ["--LL=1048576,16,64", "--LL=33554432,16,64"]);
    }

    #[test]
    fn the_machine_is_described_by_its_data_caches() {
        let folder = std::env::temp_dir().join(format!("goodqueue-caches-{}", std::process::id()));
        let caches = [
            ("Data", "48K"),
            ("Instruction", "32K"),
            ("Unified", "1024K"),
        ];
        for (index, (kind, size)) in caches.iter().enumerate() {
            let cache = folder.join(format!("index{index}"));
            fs::create_dir_all(&cache).expect("a folder");
            fs::write(cache.join("type"), format!("{kind}\n")).expect("a file");
            fs::write(cache.join("size"), format!("{size}\n")).expect("a file");
        }
        assert_eq!(described(&folder), "48 KiB and 1 MiB of cache");
        fs::remove_dir_all(&folder).expect("the folder");
        assert_eq!(described(&folder), "of unknown caches");
    }
}
