//! Scripts that read other scripts.

use goodqueue_ns2::{ImportError, Imported, import};
use std::fs;
use std::path::{Path, PathBuf};

const PART: &str = "set a [$ns node]; set b [$ns node]\n\
    $ns duplex-link $a $b $rate 10ms DropTail\n\
    set tcp [new Agent/TCP]; set sink [new Agent/TCPSink]\n\
    $ns attach-agent $a $tcp; $ns attach-agent $b $sink; $ns connect $tcp $sink\n\
    set ftp [new Application/FTP]; $ftp attach-agent $tcp\n\
    $ns at 0.0 \"$ftp start\"\n";

/// A folder that goes with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let outer =
            std::env::temp_dir().join(format!("goodqueue-ns2-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&outer);
        fs::create_dir_all(outer.join("inner/below")).unwrap();
        fs::write(outer.join("outside.tcl"), "set rate 9Mb\n").unwrap();
        let folder = Self(outer);
        for (file, text) in files {
            fs::write(folder.inner().join(file), text).unwrap();
        }
        folder
    }

    fn inner(&self) -> PathBuf {
        self.0.join("inner")
    }

    fn import(&self, begin: &str) -> Result<Imported, ImportError> {
        let script = format!(
            "set ns [new Simulator]\nset rate 1Mb\n{begin}\n$ns at 5.0 \"exit 0\"\n$ns run\n"
        );
        import(
            script.as_bytes(),
            "inner/main.tcl",
            Some(&self.inner()),
            &[],
        )
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_script_reads_those_beside_it_and_below() {
    let folder = Folder::new("beside", &[("part.tcl", PART), ("below/part.tcl", PART)]);
    let absolute = format!("source {}", folder.inner().join("part.tcl").display());
    for source in [
        "source part.tcl",
        "source ./part.tcl",
        "source below/part.tcl",
        "source below/../part.tcl",
        "source [file join [file dirname [info script]] below part.tcl]",
        "source [file dirname $argv0]/part.tcl",
        "set rate 5Mb; source part.tcl; set rate 1",
        &absolute,
    ] {
        let imported = folder
            .import(source)
            .unwrap_or_else(|error| panic!("{source}: {error}"));
        let rate = if source.contains("5Mb") {
            "5Mbps"
        } else {
            "1Mbps"
        };
        assert!(
            imported.toml.contains(&format!("rate = \"{rate}\"")),
            "{}",
            imported.toml
        );
    }
    // A script may return early, and it may be read several times.
    let folder = Folder::new("return", &[("part.tcl", "return\nnonsense\n")]);
    let script = format!("source part.tcl; source part.tcl\n{PART}");
    folder
        .import(&script)
        .unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn files_elsewhere_are_not_read() {
    let folder = Folder::new("elsewhere", &[("large.tcl", &"#".repeat((1 << 20) + 1))]);
    let inner = folder.inner();
    std::os::unix::fs::symlink("../outside.tcl", inner.join("link.tcl")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", inner.join("device.tcl")).unwrap();
    std::os::unix::fs::symlink("..", inner.join("up")).unwrap();
    let outside = folder.0.join("outside.tcl");
    let absolute = outside.display().to_string();
    for (name, reason) in [
        (&*absolute, "not in the script's folder"),
        ("/etc/passwd", "not in the script's folder"),
        ("/dev/zero", "not in the script's folder"),
        ("../outside.tcl", "not in the script's folder"),
        ("below/../../outside.tcl", "not in the script's folder"),
        ("link.tcl", "not in the script's folder"),
        ("device.tcl", "not in the script's folder"),
        ("up/outside.tcl", "not in the script's folder"),
        ("below", "not a plain file"),
        ("none.tcl", "cannot be read: no such file"),
        ("large.tcl", "1048577 bytes, which is too much"),
        ("[exec ls]", "depends on the machine"),
    ] {
        let error = folder.import(&format!("source {name}")).expect_err(name);
        assert_eq!((&*error.file, error.line), ("inner/main.tcl", 3), "{error}");
        assert!(error.message.contains(reason), "{name}: {error}");
    }
    let text = b"source part.tcl".to_vec();
    let error = import(&text, "<stdin>", None, &[]).unwrap_err();
    assert!(error.message.contains("no folder"), "{error}");
    assert!(import(&text, "x", Some(Path::new("/nowhere")), &[]).is_err());
}

#[test]
fn a_pipe_is_not_waited_for() {
    let folder = Folder::new("pipe", &[]);
    let pipe = folder.inner().join("pipe.tcl");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let error = folder.import("source pipe.tcl").unwrap_err();
    assert!(error.message.contains("not a plain file"), "{error}");
}

#[test]
fn reading_is_bounded_in_depth_number_and_bytes() {
    let folder = Folder::new(
        "bounds",
        &[
            ("one.tcl", "source two.tcl"),
            ("two.tcl", "source one.tcl"),
            ("self.tcl", "source self.tcl"),
            ("empty.tcl", ""),
            ("wide.tcl", &"#".repeat(1 << 20)),
        ],
    );
    for number in 0..150 {
        let next = format!("source deep{}.tcl", number + 1);
        fs::write(folder.inner().join(format!("deep{number}.tcl")), next).unwrap();
    }
    for (script, reason) in [
        ("source one.tcl", "it reads itself"),
        ("source self.tcl", "it reads itself"),
        (
            "while 1 {source empty.tcl}",
            "more than 100 scripts are read",
        ),
        (
            "for {set i 0} {$i < 50} {incr i} {source wide.tcl}",
            "which is too much",
        ),
        ("source deep0.tcl", "nested more than"),
    ] {
        let error = folder.import(script).expect_err(script);
        assert!(error.message.contains(reason), "{script}: {error}");
    }
}

#[test]
fn errors_and_notes_name_the_file_and_its_line() {
    let broken = format!("{PART}\nproc late {{}} {{\n  nonsense 1\n}}\n");
    let folder = Folder::new(
        "errors",
        &[
            ("part.tcl", &broken),
            ("wrong.tcl", "\n\nset x [new Agent/TCP/Sack]\n"),
            (
                "queue.tcl",
                &format!("{PART}\nset q [[$ns link $a $b] queue]\n$q set limit_ x"),
            ),
            (
                "reads.tcl",
                &format!("{PART}\n\n$ns at 1.0 {{if {{[$tcp set cwnd_] > 5}} {{puts x}}}}"),
            ),
        ],
    );
    for (script, line, file) in [
        ("source wrong.tcl", 3, "inner/wrong.tcl"),
        // A procedure of another file, called here or by a scheduled command.
        ("source part.tcl; late", 9, "inner/part.tcl"),
        ("source part.tcl; $ns at 2.0 late", 9, "inner/part.tcl"),
        // Values that the scenario refuses.
        ("source queue.tcl", 9, "inner/queue.tcl"),
        ("source part.tcl\nnonsense", 4, "inner/main.tcl"),
    ] {
        let error = folder.import(script).expect_err(script);
        assert_eq!(
            (&*error.file, error.line),
            (file, line),
            "{script}: {error}"
        );
    }
    let notes = folder.import("source reads.tcl").unwrap().notes;
    assert_eq!(
        notes,
        ["inner/reads.tcl, line 9: commands that depend on measured values were left out"]
    );
}
