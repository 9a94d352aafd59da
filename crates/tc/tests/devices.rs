//! The queue of a device, from output of `tc` and from a switch's configuration.

use goodqueue_queue::Limit;
use goodqueue_tc::{Counters, parse_qdisc, read_device, read_switch, read_switch_queue};
use serde_json::{Value, json};

/// A qdisc as `tc -s -j qdisc show` prints it.
fn qdisc(kind: &str, handle: &str, place: &str, options: &Value, bytes: u64) -> Value {
    let mut qdisc = json!({
        "kind": kind, "handle": handle, "dev": "eth0", "options": options, "bytes": bytes,
        "packets": 9, "drops": 3, "qlen": 4, "backlog": 6000, "ecn_mark": 2
    });
    if place == "root" {
        qdisc["root"] = json!(true);
    } else {
        qdisc["parent"] = json!(place);
    }
    qdisc
}

/// Returns the limit of a device, or the reason why it is unknown.
fn limit(text: &str, name: Option<&str>) -> Result<Limit, String> {
    let device = read_device(text, name).unwrap_or_else(|error| panic!("{error}\n{text}"));
    device.limit
}

#[test]
fn a_device_has_the_counters_of_its_busiest_ring() {
    let ring = |class, bytes| {
        qdisc(
            "pfifo",
            "0:",
            &format!(":{class}"),
            &json!({"limit": class}),
            bytes,
        )
    };
    let text = json!([
        qdisc("mq", "0:", "root", &json!({}), 180),
        ring(1, 50),
        ring(2, 70),
        ring(3, 60)
    ]);
    let device = read_device(&text.to_string(), None).unwrap();
    assert_eq!((&device.name[..], &device.kind[..]), ("eth0", "pfifo"));
    assert_eq!(
        (device.limit, device.is_fifo),
        (Ok(Limit::Packets(2)), true)
    );
    assert_eq!(
        device.notes,
        ["mq has 3 queues: that of the ring :2 is taken, which sent most bytes"]
    );
    let counters = Counters {
        packets: 9,
        bytes: 70,
        drops: 3,
        marks: 2,
        backlog_packets: 4,
        backlog_bytes: 6000,
    };
    assert_eq!(device.counters, Some(counters));
}

/// Every classful qdisc of Linux has its queue in a child; a class may be named.
#[test]
fn the_queue_of_a_device_is_that_of_its_busiest_class() {
    for kind in [
        "htb", "hfsc", "prio", "mq", "drr", "ets", "qfq", "taprio", "mqprio", "multiq",
    ] {
        let text = json!([
            qdisc(
                kind,
                "1:",
                "root",
                &json!({"default": "0x10", "map": {"odd": null}}),
                300
            ),
            qdisc("bfifo", "110:", "1:10", &json!({"limit": 30_720}), 100),
            qdisc(
                "tbf",
                "120:",
                "1:20",
                &json!({"rate": 125_000, "burst": 2048, "limit": 9000}),
                200
            ),
            qdisc("ingress", "ffff:", "ffff:fff1", &json!({}), 900)
        ])
        .to_string();
        assert_eq!(limit(&text, None), Ok(Limit::Bytes(9000)), "{kind}");
        let is_shaped = read_device(&text, None).unwrap();
        assert!(
            is_shaped.is_fifo && is_shaped.kind == "tbf",
            "{is_shaped:?}"
        );
        for name in ["1:10", "eth0/1:10"] {
            assert_eq!(limit(&text, Some(name)), Ok(Limit::Bytes(30_720)), "{kind}");
        }
    }
}

#[test]
fn trees_have_the_queue_at_their_busiest_leaf() {
    let text = "qdisc htb 1: dev eth0 root refcnt 2 r2q 10 default 0x10\n Sent 30 bytes 3 pkt\n\
                qdisc pfifo 10: dev eth0 parent 1:10 limit 8p\n Sent 10 bytes 1 pkt\n\
                qdisc prio 20: dev eth0 parent 1:20 bands 2 priomap 1 1\n Sent 20 bytes 2 pkt\n\
                qdisc bfifo 21: dev eth0 parent 20:1 limit 30Kb\n Sent 5 bytes 1 pkt\n\
                qdisc pfifo 22: dev eth0 parent 20:2 limit 9p\n Sent 15 bytes 1 pkt \
                (dropped 7, overlimits 0 requeues 0)\n backlog 2Kb 2p requeues 0\n";
    let device = read_device(text, Some("eth0")).unwrap();
    assert_eq!(device.limit, Ok(Limit::Packets(9)));
    let counters = Counters {
        packets: 1,
        bytes: 15,
        drops: 7,
        marks: 0,
        backlog_packets: 2,
        backlog_bytes: 2048,
    };
    assert_eq!(device.counters, Some(counters));
    assert_eq!(device.notes.len(), 2, "{:?}", device.notes);
}

#[test]
fn an_odd_qdisc_spoils_neither_other_devices_nor_other_classes() {
    let fq = json!({"limit": 10000, "buckets": 1024, "horizon": 10_000_000, "horizon_drop": null});
    for odd in [
        qdisc("fq", "1:", "root", &fq, 5),
        qdisc(
            "future",
            "1:",
            "root",
            &json!({"of": {"a": [{"table": 1}]}}),
            5,
        ),
        qdisc(
            "fq_codel",
            "1:",
            "root",
            &json!({"limit": {"packets": 9}}),
            5,
        ),
        qdisc("htb", "1:", "root", &json!(7), 5),
        qdisc("pfifo", "1:", "root", &json!({"limit": null}), 5),
        json!({"kind": 5, "dev": "eth0"}),
        json!({}),
    ] {
        let mut other = qdisc("pfifo", "2:", "root", &json!({"limit": 1000}), 5);
        other["dev"] = json!("eth1");
        let text = json!([odd, other]).to_string();
        let device = read_device(&text, Some("eth1")).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(device.limit, Ok(Limit::Packets(1000)), "{text}");
        assert_eq!(device.notes, Vec::<String>::new());
        if let Ok(first) = read_device(&text, Some("eth0")) {
            assert!(first.limit.is_err(), "{first:?}");
        }
    }
    let text = json!([
        qdisc("htb", "1:", "root", &json!({}), 9),
        qdisc("fq", "10:", "1:10", &fq, 4),
        qdisc("bfifo", "20:", "1:20", &json!({"limit": 9000}), 5)
    ]);
    assert_eq!(limit(&text.to_string(), None), Ok(Limit::Bytes(9000)));
}

/// Null is how `tc` prints some flags.
#[test]
fn null_is_a_flag() {
    for null in ["null", "true"] {
        let text = format!(
            r#"[{{"kind":"sfq","root":true,"options":{{"limit":127,"headdrop":{null}}}}}]"#
        );
        let queue = parse_qdisc(&text).unwrap_or_else(|error| panic!("{error}"));
        let line = parse_qdisc("qdisc sfq 1: root limit 127p headdrop").unwrap();
        assert_eq!(queue.queue, line.queue);
    }
}

#[test]
fn a_device_without_a_visible_queue_is_named_with_the_reason() {
    for (text, reason) in [
        (
            "qdisc htb 1: root refcnt 2 r2q 10 default 0",
            "hierarchy of classes",
        ),
        ("qdisc mq 0: dev eth0 root", "a qdisc for each ring"),
        (
            "qdisc prio 1: root bands 3 priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1",
            "invisible",
        ),
        ("qdisc pfifo_fast 0: root bands 3", "txqueuelen"),
        ("qdisc noqueue 0: dev lo root refcnt 2", "holds nothing"),
    ] {
        let reason_given = limit(text, None).expect_err(text);
        assert!(reason_given.contains(reason), "{reason_given}");
    }
}

/// A line without statistics has no counters; they are not taken for zeros.
#[test]
fn counters_that_are_not_shown_are_absent() {
    for text in [
        "qdisc pfifo 1: root limit 9p",
        r#"[{"kind":"pfifo","root":true,"options":{"limit":9}}]"#,
    ] {
        assert_eq!(read_device(text, None).unwrap().counters, None);
    }
    let cake = "qdisc cake 1: root refcnt 2 bandwidth 1Mbit\n Sent 9 bytes 8 pkt (dropped 7, overlimits 6 \
                requeues 5)\n backlog 4b 3p requeues 2\n                   Bulk  Best Effort        Voice\n  \
                thresh       62496bit        1Mbit      250Kbit\n  drops            0      7     0\n  \
                marks            1            20            300\n  ack_drop            5      5    5\n";
    let counters = read_device(cake, None).unwrap().counters.unwrap();
    assert_eq!(
        (counters.packets, counters.drops, counters.marks),
        (8, 7, 321)
    );
}

#[test]
fn foreign_texts_are_named_and_the_expected_one_is_said() {
    for (text, seems) in [
        (
            r#"{"start":{},"intervals":[],"end":{}}"#,
            "output of iperf3",
        ),
        (
            r#"[{"class":"htb","handle":"1:10","root":true}]"#,
            "tc class show",
        ),
        (r#"[{"ifname":"lo","link_type":"loopback"}]"#, "ip link"),
        (r#"{"type":"FeatureCollection","features":[]}"#, "GeoJSON"),
        (r#"{"PORT":{"Ethernet0":{}}}"#, "without BUFFER_QUEUE"),
        (
            r#"{"a":1,"b":2,"c":3,"d":4,"e":5}"#,
            r#"keys "a", "b", "c", "d", …"#,
        ),
        (r#"{"name":"x"}"#, r#"a table with the keys "name""#),
        (r"{}", "an empty table"),
        (
            r#"[{"bytes":5}]"#,
            r#"a list of tables: a table with the keys "bytes""#,
        ),
        (r"[1,2]", "a list whose first value is a number"),
        (r"[[]]", "a list whose first value is a list"),
    ] {
        let error = read_device(text, Some("eth0")).expect_err(text);
        assert!(error.message.contains(seems), "{error}");
        assert!(
            error.help.contains("tc -s -j") && error.help.contains("config_db"),
            "{error}"
        );
    }
}

#[test]
fn json_that_is_no_output_of_tc_is_refused() {
    let deep = "[".repeat(100_000);
    let long = format!("[{}]", " ".repeat(20_000_000));
    for (json, message) in [
        ("[", "line 1, column 1"),
        ("[1]", "no list of qdiscs"),
        ("[]", "no root qdisc"),
        (r#"[{"root":true}]"#, "no list of qdiscs"),
        (r#"[{"root":true,"kind":""}]"#, "no root qdisc"),
        (
            r#"[{"root":true,"kind":"fifo limit 5"}]"#,
            "has no equivalent",
        ),
        (
            r#"[{"root":true,"kind":"pfifo","options":{"limit":{}}}]"#,
            "no single value",
        ),
        (r#"[{"root":true,"kind":"pfifo","options":[]}]"#, "no table"),
        (r#"[{"root":true,"kind":"mq"}]"#, "for each ring"),
        (
            r#"[{"root":true,"kind":"pfifo","dev":"a"},{"root":true,"kind":"pfifo","dev":"b"}]"#,
            "2 devices",
        ),
        (&deep, "no complete JSON"),
        (&long, "20000002 bytes"),
    ] {
        let error = parse_qdisc(json).expect_err(message);
        assert!(error.message.contains(message), "{error}");
    }
}

/// A name that no device has is refused with one that is there, as are loops of parents.
#[test]
fn names_and_trees_that_do_not_hold_are_refused() {
    let two = "qdisc pfifo 1: dev a root limit 9p\nqdisc pfifo 1: dev wan0 root limit 9p";
    for (text, name, message, help) in [
        (two, "wan1", "no device \"wan1\"", "did you mean \"wan0\""),
        (
            two,
            "a/1:1",
            "no qdisc belongs to the class \"1:1\"",
            "tc -s",
        ),
        (
            "qdisc htb 1: dev a parent 1:1\n",
            "a",
            "have no root",
            "tc -s",
        ),
        (
            "qdisc htb 1: dev a root qdisc htb 2: dev a parent 1:1 qdisc htb 1: dev a parent 2:1",
            "a",
            "more than 8 qdiscs below one another",
            "tc -s",
        ),
    ] {
        let error = read_device(text, Some(name)).expect_err(text);
        assert!(error.message.contains(message), "{error}");
        assert!(error.help.contains(help), "{error}");
    }
}

const SWITCH: &str = include_str!("config_db.json");

/// Alone, a queue with the threshold a holds a / (1 + a) of its pool and its reserved bytes.
#[test]
fn queues_of_a_switch_have_their_share_of_the_pool() {
    for (queue, bytes, alpha) in [
        ("Ethernet4|3", 8_000_000 + 1518, Some(8.0)),
        ("Ethernet0|4", 8_000_000 + 1518, Some(8.0)),
        ("Ethernet0|0", 1_800_000, Some(0.25)),
        ("Ethernet0|1", 300_000 + 1518, None),
    ] {
        let read = read_switch_queue(SWITCH, Some(queue)).unwrap();
        assert_eq!((read.bytes, read.alpha), (bytes, alpha), "{queue}");
        assert_eq!(read.pool_bytes, 9_000_000);
    }
}

/// A switch has the ports of PORT, and a queue with a dynamic threshold if none is named.
#[test]
fn a_switch_has_its_ports_and_a_dynamic_queue() {
    let ports = json!({
        "Ethernet0": {"speed": "10000"},
        "Ethernet1": {"speed": "10000"},
        "Ethernet48": {"speed": "100000", "lanes": "1,2,3,4"}
    });
    let switch = |ports: &Value| {
        let mut config: Value = serde_json::from_str(SWITCH).expect("it is JSON");
        config["PORT"] = ports.clone();
        config.to_string()
    };
    let read = read_switch(&switch(&ports), None).unwrap();
    assert_eq!(
        read.ports,
        [(2, 10_000_000_000), (1, 100_000_000_000)],
        "by their number"
    );
    assert!(read.queue.alpha.is_some());
    let named = read_switch(&switch(&ports), Some("Ethernet4|3")).unwrap();
    assert_eq!(
        (
            named.queue.alpha,
            named.queue.reserved,
            named.queue.pool_bytes
        ),
        (Some(8.0), 1_518, 9_000_000)
    );
    for (text, queue, message) in [
        (
            SWITCH.replace("\"PORT\"", "\"OTHER\""),
            None,
            "no table PORT",
        ),
        (
            switch(&json!({"a": {"speed": "1"}})),
            None,
            "PORT \"a\": speed \"1\"",
        ),
        (switch(&json!({"a": {}})), None, "PORT \"a\": speed \"\""),
        (switch(&json!({"a": {"speed": "1000"}})), None, "1 ports"),
        (switch(&ports), Some("Ethernet0|1"), "static threshold"),
        (
            switch(&ports),
            Some("Ethernet9|9"),
            "no queue \"Ethernet9|9\"",
        ),
        (
            "{\"BUFFER_QUEUE\": {}, \"PORT\": {}}".to_owned(),
            None,
            "0 ports",
        ),
        ("{}".to_owned(), None, "no table of buffers"),
        ("[]".to_owned(), None, "no configuration"),
    ] {
        let error = read_switch(&text, queue).expect_err(message);
        assert!(error.message.contains(message), "{error}");
        assert!(!error.help.is_empty(), "{error}");
    }
}

/// No queue holds more than its pool, and profiles that contradict their pool are named.
#[test]
fn a_switch_has_no_figures_that_its_pool_does_not_allow() {
    let switch = |mode: &str, profile: &Value| {
        json!({
            "BUFFER_POOL": {"pool": {"size": "1000000", "type": "egress", "mode": mode}},
            "BUFFER_PROFILE": {"p": profile},
            "BUFFER_QUEUE": {"Ethernet4|3": {"profile": "p"}}
        })
        .to_string()
    };
    for (mode, profile, bytes, notes) in [
        (
            "static",
            json!({"pool": "pool", "size": "0", "static_th": "900000"}),
            900_000,
            &[][..],
        ),
        (
            "static",
            json!({"pool": "pool", "size": "0", "static_th": "99999999"}),
            1_000_000,
            &["allows 99999999 B"],
        ),
        (
            "static",
            json!({"pool": "pool", "size": "2000000", "static_th": "5"}),
            1_000_000,
            &["allows 2000005 B"],
        ),
        (
            "static",
            json!({"pool": "pool", "size": "0", "dynamic_th": "0"}),
            500_000,
            &["dynamic_th, and its pool pool is static"],
        ),
        (
            "dynamic",
            json!({"pool": "pool", "size": "0", "static_th": "7"}),
            7,
            &["static_th, and its pool pool is dynamic"],
        ),
        (
            "dynamic",
            json!({"pool": "pool", "size": "7", "dynamic_th": "8"}),
            996_115,
            &[],
        ),
        (
            "dynamic",
            json!({"pool": "pool", "size": "9000", "dynamic_th": "8"}),
            1_000_000,
            &["allows 1005108 B"],
        ),
        (
            "static",
            json!({"pool": "pool", "size": "0", "dynamic_th": "1", "static_th": "7"}),
            7,
            &["static_th is taken"],
        ),
    ] {
        let text = switch(mode, &profile);
        let device = read_device(&text, Some("Ethernet4|3")).unwrap();
        assert_eq!(device.limit, Ok(Limit::Bytes(bytes)), "{text}");
        assert_eq!(device.notes.len(), notes.len(), "{:?}", device.notes);
        for (note, part) in device.notes.iter().zip(notes) {
            assert!(note.contains(part), "{note}");
        }
    }
    let ingress = switch(
        "dynamic",
        &json!({"pool": "pool", "size": "0", "dynamic_th": "1"}),
    );
    let ingress = ingress.replace("egress", "ingress");
    assert!(
        read_switch_queue(&ingress, Some("Ethernet4|3"))
            .unwrap()
            .notes[0]
            .contains("ingress")
    );
}

#[test]
fn a_switch_without_the_queue_is_refused_with_the_nearest_one() {
    for (text, queue, message, help) in [
        (
            SWITCH,
            "Ethernet0|7",
            "no queue \"Ethernet0|7\"",
            "Ethernet0|",
        ),
        (SWITCH, "Ethernet0|2", "dynamic_th \"x\"", "2^n"),
        (SWITCH, "Ethernet0|6", "no entry \"gone\"", "whole"),
        ("{", "Ethernet0|6", "line 1", "tc -s"),
        ("{}", "Ethernet0|6", "an empty table", "BUFFER_POOL"),
        (r#"{"BUFFER_POOL":{}}"#, "Ethernet0|6", "no queue", "empty"),
        (SWITCH, "", " queues", "name one, as in FILE:Ethernet"),
    ] {
        let queue = (!queue.is_empty()).then_some(queue);
        let error = read_switch_queue(text, queue).expect_err(message);
        assert!(error.message.contains(message), "{error}");
        assert!(error.help.contains(help), "{error}");
    }
}
