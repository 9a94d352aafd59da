//! Scripts of ns-2 as scenarios.

use goodqueue_ns2::{ImportError, Imported, import};
use goodqueue_scenario::Scenario;

const LESSON: &str = include_str!("scripts/lesson.tcl");
const MANY: &str = include_str!("scripts/many.tcl");

fn read(script: &str, arguments: &[&str]) -> Result<Imported, ImportError> {
    let arguments: Vec<String> = arguments.iter().map(|one| (*one).to_owned()).collect();
    import(script.as_bytes(), "script.tcl", None, &arguments)
}

/// Returns the scenario of a script, after the reader of scenarios has accepted it.
fn scenario(script: &str, arguments: &[&str]) -> String {
    let imported = read(script, arguments).unwrap_or_else(|error| panic!("{error}"));
    Scenario::parse(imported.toml.as_bytes(), "imported", &[])
        .unwrap_or_else(|error| panic!("{error}\n{}", imported.toml));
    imported.toml
}

fn has(toml: &str, lines: &[&str]) {
    for line in lines {
        let found = toml.lines().any(|one| one == *line);
        assert!(found, "{line:?} is missing in\n{toml}");
    }
}

/// A script of one flow, with commands before its agents, and more after its start.
fn one_flow(before: &str, after: &str) -> String {
    format!(
        "set ns [new Simulator]; {before}\n\
         set a [$ns node]; set b [$ns node]\n\
         $ns duplex-link $a $b 1Mb 10ms DropTail\n\
         set tcp [new Agent/TCP/Reno]; set sink [new Agent/TCPSink]\n\
         $ns attach-agent $a $tcp; $ns attach-agent $b $sink; $ns connect $tcp $sink\n\
         set ftp [new Application/FTP]; $ftp attach-agent $tcp\n\
         $ns at 0.5 \"$ftp start\"\n{after}\n\
         $ns at 10.0 \"exit 0\"\n$ns run\n"
    )
}

#[test]
fn a_lesson_has_its_links_flows_and_times() {
    let toml = scenario(LESSON, &[]);
    has(
        &toml,
        &[
            "duration = \"45s\"",
            "queue = { limit = \"49p\" }",
            "name = \"bottleneck\"",
            "rate = \"1700kbps\"",
            // The limit of ns-2 counts the packet in transmission.
            "queue = { limit = \"9p\" }",
            "recovery = \"newreno\"",
            "ack_every = 2",
            "delayed_ack_timeout = \"100ms\"",
            "start = \"1s\"",
            "stop = \"40s\"",
            "workload = { kind = \"cbr\", rate = \"1Mbps\", packet = \"1000B\" }",
            "stop = \"44500ms\"",
        ],
    );
    // 1000 bytes and 20 packets are the defaults of ns-2 and of the profile.
    assert!(
        !toml.contains("mss") && !toml.contains("receive_window"),
        "{toml}"
    );
}

#[test]
fn procedures_loops_and_arrays_make_the_same_network_as_without_them() {
    let toml = scenario(MANY, &["buffer=60"]);
    has(
        &toml,
        &[
            "duration = \"30s\"",
            "queue = { kind = \"ns2_red\", limit = \"60p\", unit = \"packets\", min = 10, max = 30, weight = 0.002, max_probability = 0.02, gentle = false, by_size = false }",
            "mss = \"1460B\"",
            "receive_window = \"1460000B\"",
            "start = \"2500ms\"",
            "tcp = { recovery = \"sack\" }",
            "from = \"node-11\"",
            "delay = \"6ms\"",
        ],
    );
    assert!(
        !toml.contains("warmup"),
        "recording at intervals is no warm-up:\n{toml}"
    );
    has(&scenario(MANY, &["delay=7ms"]), &["delay = \"7ms\""]);
}

#[test]
fn random_starts_are_a_jitter_and_other_random_values_are_drawn_once() {
    let start = "set rng [new RNG]; set later [new Application/FTP]; $later attach-agent $tcp\n\
                 $ns at [expr 2 + [$rng uniform 0 0.25]] \"$later start\"";
    let toml = scenario(&one_flow("", start), &[]);
    has(&toml, &["start = \"2s\"", "start_jitter = \"250ms\""]);
    let sizes = "set rng [new RNG]; set later [new Application/FTP]; $later attach-agent $tcp\n\
                 $ns at 2.0 \"$later produce [expr int([$rng uniform 10 20])]\"";
    let imported = read(&one_flow("", sizes), &[]).unwrap();
    assert!(
        imported.notes[0].contains("drawn once"),
        "{:?}",
        imported.notes
    );
    let size = imported
        .toml
        .lines()
        .find(|line| line.contains("size"))
        .unwrap();
    let segments: u64 = size
        .split('"')
        .nth(3)
        .unwrap()
        .strip_suffix("000B")
        .unwrap()
        .parse()
        .unwrap();
    assert!((10..20).contains(&segments), "{size}");
}

#[test]
fn counters_that_are_read_once_give_the_warmup() {
    let once = "set q [$ns monitor-queue $a $b \"\"]\n$ns at 2.5 {set arrived [$q set parrivals_]}";
    has(
        &scenario(&one_flow("", once), &[]),
        &["warmup = \"2500ms\""],
    );
    let twice = format!("{once}\n$ns at 5.0 {{set more [$q set parrivals_]}}");
    assert!(!scenario(&one_flow("", &twice), &[]).contains("warmup"));
}

/// Commands of a source of datagrams from `a` to `b`.
fn datagrams(class: &str, more: &str) -> String {
    format!(
        "set udp [new Agent/UDP]; set null [new Agent/Null]\n\
         $ns attach-agent $a $udp; $ns attach-agent $b $null; $ns connect $udp $null\n\
         set source [new Application/Traffic/{class}]; $source attach-agent $udp\n\
         {more}\n$ns at 1.0 \"$source start\""
    )
}

/// Workloads by the rules of `cbr_traffic.cc`, `expoo.cc` and of `CBR`'s `interval_` in `ns-source.tcl`.
#[test]
fn sources_of_datagrams_keep_their_gaps_sizes_and_ends() {
    let random = "$source set random_ 1; $source set rate_ 1Mb; $source set packetSize_ 500";
    let interval = "$source set interval_ 0.003; $source set packetSize_ 420";
    let quota = "$source set maxpkts_ 100; $source set interval_ 10ms; $ns at 9.0 \"$source stop\"";
    let poisson = "$source set burst_time_ 0; $source set idle_time_ 10ms; $source set rate_ 1Mb; \
                   $source set packetSize_ 500";
    for (class, commands, lines) in [
        (
            "CBR",
            random,
            vec![
                "workload = { kind = \"cbr\", rate = \"1Mbps\", packet = \"500B\", spread = 0.5 }",
            ],
        ),
        // The rate is that of 210 bytes in 3 ms, and the size doubles afterwards.
        (
            "CBR",
            interval,
            vec!["workload = { kind = \"cbr\", rate = \"560kbps\", packet = \"420B\" }"],
        ),
        // A hundred packets from 1 s on, the last at 1.99 s.
        (
            "CBR",
            quota,
            vec![
                "workload = { kind = \"cbr\", interval = \"10ms\", packet = \"210B\" }",
                "stop = \"1995ms\"",
            ],
        ),
        (
            "Exponential",
            "$ns at 7.0 \"$source stop\"",
            vec!["stop = \"7s\""],
        ),
        (
            "Exponential",
            poisson,
            vec![
                "workload = { kind = \"on_off\", interval = \"4ms\", packet = \"500B\", on = \"4ms\", off = { law = \"exponential\", mean = \"10ms\" } }",
            ],
        ),
    ] {
        has(
            &scenario(&one_flow("", &datagrams(class, commands)), &[]),
            &lines,
        );
    }
}

#[test]
fn what_differs_from_ns2_has_a_note() {
    let linux = "$ns at 0.0 \"$tcp select_ca cubic\"";
    let linux = one_flow("", linux)
        .replace("TCP/Reno", "TCP/Linux")
        .replace("TCPSink", "TCPSink/Sack1");
    let short = "$source set burst_time_ 1ms; $source set rate_ 1Mb; $source set packetSize_ 500";
    let detached = "$ns at 5.0 \"$ns detach-agent $a $tcp\"";
    for (script, note) in [
        (linux, "Linux 2.6.22"),
        (
            flow("").replace("TCP/Reno", "TCP/Vegas"),
            "Agent/TCP/Vegas of ns-2 also",
        ),
        (flow(&datagrams("CBR", "")), "nothing here is random"),
        (
            flow(&datagrams("Exponential", short)),
            "whole packets in ns-2",
        ),
        (flow(&datagrams("Pareto", "")), "begins with a silence"),
        (flow("$ns rtproto DV"), "rtproto DV sends messages"),
        (flow(detached), "detach-agent of an agent with traffic"),
    ] {
        let notes = read(&script, &[])
            .unwrap_or_else(|error| panic!("{error}"))
            .notes;
        assert!(
            notes.iter().any(|one| one.contains(note)),
            "{note}: {notes:?}"
        );
    }
    let stopped = "$ns at 4.0 \"$ftp stop\"; $ns at 5.0 \"$ns detach-agent $a $tcp\"";
    let random = datagrams("CBR", "$source set random_ 1");
    for script in [flow(""), flow(stopped), flow(&random)] {
        assert_eq!(read(&script, &[]).unwrap().notes, [""; 0]);
    }
}

#[test]
fn idioms_of_lessons_are_understood() {
    let instance = "proc sample {} { global sink\nset ns [Simulator instance]\nset bytes [$sink set bytes_]\n\
                    $sink set bytes_ 0\n$ns at [expr [$ns now] + 0.5] sample }\n$ns at 0.0 sample";
    let plain = scenario(&one_flow("", ""), &[]);
    for same in [
        instance,
        "set late [$ns at 2.0 \"$ftp stop\"]; $ns cancel $late",
        "$ns rtproto Manual",
    ] {
        assert_eq!(scenario(&one_flow("", same), &[]), plain, "{same}");
    }
    let link = "[[$ns link $a $b] link] set bandwidth_ 2Mb; [[$ns link $a $b] link] set delay_ 7ms";
    has(
        &scenario(&one_flow("", link), &[]),
        &["rate = \"2Mbps\"", "delay = \"7ms\""],
    );
    // Commands behind the run are for the time after it.
    let after = one_flow("", "").replace("exit 0", "$ns halt") + "puts done\nexit 0\n";
    assert_eq!(scenario(&after, &[]), plain);
    let vegas = scenario(&flow("").replace("TCP/Reno", "TCP/Vegas"), &[]);
    has(
        &vegas,
        &[
            "congestion_control = { kind = \"vegas\", variant = \"ns2\", alpha = 1, beta = 3, gamma = 1 }",
            "limited_transmit = false",
            "mss = \"960B\"",
        ],
    );
    refused(&flow("Node set multiPath_ 1"), 8, "multiPath_", "one route");
    refused(
        "set ns [Simulator instance]",
        1,
        "no simulator yet",
        "new Simulator",
    );
}

#[test]
fn losses_are_before_the_queue_or_behind_it() {
    let errors = "set em [new ErrorModel]; $em set rate_ 0.01; $em unit pkt\n\
                  $em ranvar [new RandomVariable/Uniform]; $em drop-target [new Agent/Null]\n";
    let before = scenario(
        &one_flow("", &format!("{errors}$ns lossmodel $em $a $b")),
        &[],
    );
    has(&before, &["loss = { probability = 0.01 }"]);
    let behind = scenario(
        &one_flow("", &format!("{errors}$ns link-lossmodel $em $b $a")),
        &[],
    );
    has(
        &behind,
        &["reverse = { loss = { probability = 0.01, after_transmission = true } }"],
    );
    let list = "set em [new ErrorModel/List]; $em droplist {3 14}; $ns lossmodel $em $a $b";
    has(
        &scenario(&one_flow("", list), &[]),
        &["drop_list = [3, 14]"],
    );
    // The first packet that reaches `offset_` is lost, then one of each `period_`.
    for (offset, first) in [("", 1), ("$em set offset_ 5", 5)] {
        let commands = format!(
            "set em [new ErrorModel/Periodic]; $em set period_ 100; {offset}; $ns lossmodel $em $a $b"
        );
        let line = format!("loss = {{ kind = \"periodic\", interval = 100, first = {first} }}");
        has(&scenario(&one_flow("", &commands), &[]), &[&line]);
    }
}

#[test]
fn units_are_those_of_ns2() {
    // Measured with ns-2.35: a large B means bytes, and 10m are milliseconds.
    for (rate, ours) in [
        ("1.5M", "1500kbps"),
        ("2MB", "16Mbps"),
        ("100kB", "800kbps"),
        ("1e6", "1Mbps"),
    ] {
        let script = one_flow("", "").replace("1Mb", rate);
        has(&scenario(&script, &[]), &[&format!("rate = \"{ours}\"")]);
    }
    for (delay, ours) in [
        ("10m", "10ms"),
        ("0.25", "250ms"),
        ("10us", "10us"),
        ("10msec", "10ms"),
    ] {
        let script = one_flow("", "").replace("10ms", delay);
        has(&scenario(&script, &[]), &[&format!("delay = \"{ours}\"")]);
    }
}

#[test]
fn routes_have_the_fewest_links_as_in_ns2() {
    // The direct link is slower to cross than the two others together.
    let ring = "set c [$ns node]; $ns duplex-link $a $c 1Mb 1ms DropTail; $ns duplex-link $c $b 1Mb 1ms DropTail";
    has(&scenario(&one_flow("", ring), &[]), &["route = [\"a-b\"]"]);
}

#[test]
fn switches_of_tcp_are_those_that_the_script_sets() {
    let set = "Agent/TCP set minrto_ 1\nAgent/TCP set tcpTick_ 0.1\nAgent/TCP set singledup_ 0\n\
               Agent/TCP set windowInitOption_ 2\nAgent/TCP set packetSize_ 512\nAgent/TCP set ecn_ 1\n\
               Agent/TCP set maxcwnd_ 15\nAgent/TCP set precisionReduce_ false";
    has(
        &scenario(&one_flow(set, ""), &[]),
        &[
            "mss = \"512B\"",
            "initial_window = \"4p\"",
            "receive_window = \"7680B\"",
            "limited_transmit = false",
            "ecn = \"rfc3168\"",
            "rto.minimum = \"1s\"",
            "rto.granularity = \"100ms\"",
            "details.window_arithmetic = \"real_whole_decrease\"",
        ],
    );
}

#[test]
fn a_variable_that_ns2_does_not_have_is_noted() {
    let imported = read(&one_flow("", "$tcp set window 5000"), &[]).unwrap();
    assert_eq!(
        imported.notes,
        ["window of Agent/TCP/Reno has no effect in ns-2"]
    );
    assert!(imported.toml.contains("# - window of Agent/TCP/Reno"));
    let imported = read(&one_flow("", "$ftp set rate_ 1Mb; $ftp set type_ FTP"), &[]).unwrap();
    assert_eq!(
        imported.notes,
        ["rate_ of Application/FTP has no effect in ns-2"]
    );
}

fn flow(after: &str) -> String {
    one_flow("", after)
}

/// Checks the line, the message and the help of a refused script.
fn refused(script: &str, line: u32, message: &str, help: &str) {
    let error = read(script, &[]).expect_err(script);
    assert_eq!(error.line, line, "{error}\n{script}");
    assert!(error.message.contains(message), "{error}");
    assert!(error.help.contains(help), "{error}");
    assert_eq!(error.to_string().lines().count(), 2, "{error}");
}

#[test]
fn what_is_not_understood_is_refused_with_its_line_and_the_nearest_choice() {
    refused(
        &flow("$ns duplex-lnk $a $b 1Mb 1ms DropTail"),
        8,
        "'duplex-lnk'",
        "duplex-link",
    );
    refused(
        &flow("set x [new Agent/TCP/Sack]"),
        8,
        "'Agent/TCP/Sack'",
        "Agent/TCP/Sack1",
    );
    refused(&flow("set x [expr 1 / 0]"), 8, "divides by zero", "numbers");
    refused(
        &flow("set x $unknown"),
        8,
        "'unknown' has no value",
        "set it first",
    );
    refused(&flow("sett x 5"), 8, "'sett'", "set");
    refused(
        &flow("$ns rtmodel-at 1.0 down $a $b"),
        8,
        "rtmodel-at",
        "link failures",
    );
    refused(
        &flow("$tcp set window_ [$tcp set cwnd_]"),
        8,
        "only a simulation knows",
        "as a number",
    );
    refused(
        &flow("$ns at 5.0 \"$tcp set window_ 5\""),
        8,
        "changes the network at 5 s",
        "two scripts",
    );
    refused(
        &flow("$ns at 5.0 \"$ftp start\""),
        6,
        "starts more than once",
        "an application for each",
    );
    refused(
        &flow("$tcp set T_SRTT_BITS 5"),
        8,
        "T_SRTT_BITS",
        "leave it at 3",
    );
    refused(&flow("if {$a > {"), 8, "never closed", "close it");
    refused(
        &flow("proc loop {} { loop }\nloop"),
        8,
        "nested more than",
        "recursion",
    );
    refused(&flow("while {1} {}"), 8, "steps", "fewer");
    refused(
        &flow("set x a; while {1} {append x $x}"),
        8,
        "steps",
        "fewer",
    );
    refused("set ns [new Simulator]\n$ns run", 0, "never ends", "exit 0");
    refused("puts hello", 1, "before it runs", "$ns run");
    let sack = flow("").replace("Agent/TCP/Reno", "Agent/TCP/Sack1");
    refused(&sack, 6, "no SACK blocks", "Agent/TCPSink/Sack1");
}

#[test]
fn classes_and_queues_without_an_equivalent_are_refused_with_the_nearest_one() {
    refused(
        &flow("set c [$ns node]\n$ns duplex-link $a $c 1Mb 1ms SFQ"),
        9,
        "the queue 'SFQ' of ns-2 has no equivalent",
        "write DropTail, and choose kind = \"sfq\" in the scenario",
    );
    refused(
        &flow("").replace("DropTail", "DropTial"),
        3,
        "'DropTial' is not understood",
        "did you mean DropTail?",
    );
    refused(
        &flow("set x [new Agent/TCP/FullTcp/Sack]"),
        8,
        "the class 'Agent/TCP/FullTcp/Sack' has no equivalent here",
        "Agent/TCP/Sack1 with Agent/TCPSink/Sack1",
    );
    refused(
        &flow("set x [new Application/Telnet]"),
        8,
        "'Application/Telnet'",
        "choose from Application/FTP, Application/Traffic/CBR, \
         Application/Traffic/Exponential, Application/Traffic/Pareto",
    );
    refused(
        &flow("set x [new PagePool/Math]"),
        8,
        "'PagePool/Math'",
        "docs/exchange.md lists the classes that are understood",
    );
    for script in ["Class Mine", "Class Mine -superclass Agent/TCP"] {
        refused(
            &flow(script),
            8,
            "the script defines the class 'Mine'",
            "cannot be imported",
        );
    }
    refused(
        &flow("Agent/TCP instproc done {} { puts x }"),
        8,
        "'instproc' of the class 'Agent/TCP' is not understood",
        "cannot be imported",
    );
}

#[test]
fn conditions_on_measured_values_are_left_out_with_a_note() {
    let script = one_flow("", "$ns at 5.0 {if {[$tcp set cwnd_] > 5} {puts large}}");
    assert_eq!(
        read(&script, &[]).unwrap().notes,
        ["line 8: commands that depend on measured values were left out"]
    );
}

#[test]
fn a_script_is_not_run() {
    let file = std::env::temp_dir().join("goodqueue-ns2-import");
    let path = file.display();
    let write = format!("exec touch {path}\nset f [open {path} w]\nputs $f x\nclose $f");
    scenario(&one_flow("", &write), &[]);
    assert!(!file.exists());
}

#[test]
fn expressions_have_the_values_of_tcl() {
    // Values of tclsh 8.6.
    for (expression, value) in [
        ("7 / 2", "3"),
        ("-7 / 2", "-4"),
        ("-7 % 3", "2"),
        ("7 / 2.0", "3.5"),
        ("1 + 2 * 3 - 4", "3"),
        ("(1 + 2) * 3", "9"),
        ("10 - 4 - 3", "3"),
        ("1 ? 2 : 1 / 0", "2"),
        ("0 && [nothing]", "0"),
        ("1 || $nothing", "1"),
        ("2 < 10", "1"),
        ("\"abc\" < \"abd\"", "1"),
        ("\"a\" == \"a\"", "1"),
        ("\"1.0\" == 1", "1"),
        ("\"1.0\" eq 1", "0"),
        ("!0 + !5", "1"),
        ("- -3", "3"),
        ("1 << 4 | 1", "17"),
        ("6 & 3 ^ 1", "3"),
        ("round(2.5)", "3"),
        ("int(-2.7)", "-2"),
        ("pow(2, 10)", "1024.0"),
        ("sqrt(16)", "4.0"),
        ("max(3, 7, 5)", "7"),
        ("double(3)", "3.0"),
        ("fmod(7, 4)", "3.0"),
        ("abs(-4)", "4"),
        ("0x10 + 1", "17"),
        ("1e3", "1e3"),
        ("1e3 + 0", "1000.0"),
        ("5 > 3 && 2 > 1", "1"),
        ("3 == 3.0", "1"),
        ("true && !false", "1"),
        ("9223372036854775807 + 1 > 9e18", "1"),
    ] {
        let check = format!(
            "if {{[expr {{{expression}}}] ne \"{value}\"}} {{error [expr {{{expression}}}]}}"
        );
        if let Err(error) = read(&one_flow(&check, ""), &[]) {
            panic!("{expression}: {error}");
        }
    }
}

#[test]
fn lists_and_texts_have_the_values_of_tcl() {
    // Values of tclsh 8.6.
    for (command, value) in [
        ("lindex {a {b c} d} 1", "b c"),
        ("lindex {a b c} end", "c"),
        ("lindex {a b c} end-1", "b"),
        ("llength {a {b c} d}", "3"),
        ("list a {b c} {}", "a {b c} {}"),
        ("lrange {a b c d} 1 2", "b c"),
        ("lsort -integer {10 9 8}", "8 9 10"),
        ("split a=b=c =", "a b c"),
        ("join {a b c} -", "a-b-c"),
        ("concat a {b c}", "a b c"),
        ("format %05.2f|%-4d|%4s 3.14159 7 x", "03.14|7   |   x"),
        ("string toupper abc", "ABC"),
        ("string match *.tcl a.tcl", "1"),
        ("string range abcdef 1 3", "bcd"),
        ("string compare a b", "-1"),
        ("set y {$a [b]}", "$a [b]"),
        ("eval set z 5", "5"),
        ("catch {expr 1 / 0}", "1"),
        ("switch b {a {set q 1} b {set q 2} default {set q 3}}", "2"),
        ("info exists nothing", "0"),
    ] {
        let check = format!("if {{[{command}] ne {{{value}}}}} {{error [{command}]}}");
        if let Err(error) = read(&one_flow(&check, ""), &[]) {
            panic!("{command}: {error}");
        }
    }
}
