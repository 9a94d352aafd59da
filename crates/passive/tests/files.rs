//! Reading of files: progress is reported, and files that do not belong together are refused.

use goodqueue_passive::{FileError, Options, analyze_files};
use std::fs;
use std::path::PathBuf;

fn file(name: &str, content: &[u8]) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, content).expect("a disk with room");
    path
}

/// Returns a pcap capture with `count` frames that hold no IP packet.
fn frames_of_arp(count: usize) -> Vec<u8> {
    let mut content = Vec::new();
    for word in [0xA1B2_C3D4_u32, 0x0004_0002, 0, 0, 262_144, 1] {
        content.extend(word.to_le_bytes());
    }
    for _ in 0..count {
        for word in [1_u32, 0, 60, 60] {
            content.extend(word.to_le_bytes());
        }
        let mut frame = [0; 60];
        frame[12..14].copy_from_slice(&[8, 6]);
        content.extend(frame);
    }
    content
}

const LINE: &str = "d 1 0 9 tcp 40 ------- 0 0.0 3.1 2 6\n";

#[test]
fn progress_is_called_whatever_a_file_holds() {
    let lines = |line: &str| [LINE, &line.repeat(50_000)].concat().into_bytes();
    for (name, content) in [
        ("arp.pcap", frames_of_arp(50_000)),
        ("good.tr", lines(LINE)),
        (
            "bad.tr",
            lines("no line of a trace, nor of anything else\n"),
        ),
    ] {
        let options = Options {
            path: file(name, &content),
            ..Options::default()
        };
        let mut reported = Vec::new();
        let stopped = analyze_files(&options, |bytes| {
            reported.push(bytes);
            false
        });
        assert!(matches!(stopped, Err(FileError::Stopped)), "{name}");
        // Progress stops at once, for a trace during the first pass.
        assert_eq!(reported.len(), 1, "{name}");
        assert!(reported[0] <= content.len() as u64, "{name}");
    }
}

#[test]
fn a_trace_of_ns2_has_no_second_file() {
    let (trace, capture) = (
        file("alone.tr", LINE.as_bytes()),
        file("a.pcap", &frames_of_arp(1)),
    );
    for (path, after) in [(&trace, &capture), (&capture, &trace)] {
        let options = Options {
            path: path.clone(),
            after: Some(after.clone()),
            ..Options::default()
        };
        let refused = analyze_files(&options, |_| true).expect_err("two sides of two sides");
        assert!(
            refused.to_string().contains("alone.tr: a trace of ns-2"),
            "{refused}"
        );
    }
}
