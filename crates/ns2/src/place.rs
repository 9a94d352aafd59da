//! Places in the files of a script: a line, and the file's number, in one number.

/// Bits of a line's number. A file of 1 MiB has no more lines.
const LINE_BITS: u32 = 22;

/// Most files whose lines have different numbers.
pub const MAX_FILES: usize = 1 << (u32::BITS - LINE_BITS);

/// Returns the place of a file's first line. The script itself is file 0.
pub fn first_line(file: usize) -> u32 {
    ((file as u32) << LINE_BITS) + 1
}

/// Returns the number of the file and the line of a place; line 0 means no line.
pub fn file_and_line(place: u32) -> (usize, u32) {
    (
        (place >> LINE_BITS) as usize,
        place & ((1 << LINE_BITS) - 1),
    )
}

/// Returns a place as the text of a note has it. `files` has the names of all files but the script's.
pub fn shown(place: u32, files: &[String]) -> String {
    match file_and_line(place) {
        (0, line) => format!("line {line}"),
        (file, line) => format!("{}, line {line}", files[file - 1]),
    }
}
