//! Study files, written out with their base scenario.

use goodqueue_scenario::Study;

const BASE: &str = r#"
[scenario]
schema_version = 1
duration = "5s"
[scenario.topology]
shape = "dumbbell"
access = { rate = "100Mbps", delay = "5ms" }
bottleneck = { rate = "2Mbps", delay = "20ms" }
[[scenario.flow]]
name = "up"
workload = { kind = "bulk" }
"#;

fn study(sweep: &str) -> Study {
    let text = format!("schema_version = 1\nseeds = 2\n{sweep}\n{BASE}");
    Study::parse(text.as_bytes(), "study.toml", &[]).unwrap_or_else(|error| panic!("{error}"))
}

/// The first axis of the file varies slowest, whatever the order of its headers.
#[test]
fn axes_are_written_out_in_their_order() {
    let zip = "[[sweep.zip]]\nduration = [\"5s\", \"6s\"]\nwarmup = [\"1s\", \"2s\"]\n";
    let axis = "[sweep]\nflow.up.count = [1, 2, 3]\n";
    let inline = "sweep = { flow.up.count = [1, 2], zip = [{ duration = [\"5s\", \"6s\"] }], \
                  topology.bottleneck.rate = [\"1Mbps\", \"2Mbps\"], \
                  exclude = [{ flow.up.count = 1, duration = \"5s\" }] }\n";
    for sweep in [
        format!("{zip}{axis}"),
        format!("{axis}{zip}"),
        inline.to_owned(),
    ] {
        let study = study(&sweep);
        let resolved = study.resolved_toml();
        let again = Study::parse(resolved.as_bytes(), "resolved.toml", &[])
            .unwrap_or_else(|error| panic!("{error}\n{resolved}"));
        assert_eq!(again.resolved_toml(), resolved);
        assert_eq!(
            again.outline_json(),
            study.outline_json(),
            "{sweep}\n{resolved}"
        );
        let points = |study: &Study| -> Vec<String> {
            let variants = 0..study.variants();
            variants
                .map(|variant| study.parameters_json(variant))
                .collect()
        };
        assert_eq!(points(&again), points(&study), "{sweep}\n{resolved}");
    }
}

/// Repeated values are found without comparing each with every other.
#[test]
fn long_axes_are_read_in_no_time() {
    let started = std::time::Instant::now();
    let study =
        study("[sweep]\nflow.up.start = { from = \"1us\", to = \"100ms\", step = \"1us\" }\n");
    assert_eq!(study.variants(), 100_000);
    // It took half a minute when each value was compared with every other.
    assert!(started.elapsed().as_secs() < 15);
}

const AXES: &str = r#"
[sweep]
topology.bottleneck.queue = [{ label = "codel", value = { kind = "codel" } }, { label = "pie", value = { kind = "pie" } }]
topology.bottleneck.rate = ["1Mbps", "2500kbps", "10Mbps"]
topology.bottleneck.delay = ["5ms", "20ms"]
flow.up.count = [1, 2, 4, 8]
flow.up.tcp.pacing = [true, false]
[[sweep.exclude]]
rate = "1Mbps"
count = 8
[[plot]]
"#;

/// Returns the only plot of a study over five axes.
fn plot(keys: &str) -> serde_json::Value {
    let text = study(&format!("{AXES}y = \"bottleneck.utilization\"\n{keys}")).outline_json();
    let outline: serde_json::Value = serde_json::from_str(&text).expect("an outline is JSON");
    outline["plots"][0].clone()
}

/// Returns the message and the help for a mistake in a plot, and the text of its line.
fn mistake(keys: &str) -> (String, String) {
    let text = format!("schema_version = 1\n{AXES}y = \"bottleneck.utilization\"\n{keys}\n{BASE}");
    let error = Study::parse(text.as_bytes(), "study.toml", &[]).expect_err(keys);
    let line = error.line.expect("a mistake in a file has a line") as usize;
    let found = text.lines().nth(line - 1).expect("the line is in the file");
    (found.to_owned(), error.to_string())
}

#[test]
fn a_plot_is_narrowed_down_by_values_with_their_units() {
    let column = "topology.bottleneck.rate_bps";
    for (rate, values) in [
        ("\"10Mbps\"", serde_json::json!([10_000_000])),
        ("\"2.5Mbps\"", serde_json::json!([2_500_000])),
        (
            "[\"1000kbps\", \"10Mbps\"]",
            serde_json::json!([1_000_000, 10_000_000]),
        ),
        (
            "{ above = \"1Mbps\", below = \"1Gbps\" }",
            serde_json::json!([2_500_000, 10_000_000]),
        ),
    ] {
        for name in ["rate", "bottleneck.rate", "topology.bottleneck.rate"] {
            let plot = plot(&format!(
                "x = \"count\"\nwhere = {{ {name} = {rate}, pacing = true }}"
            ));
            assert_eq!(plot["where"][column], values, "{name} = {rate}");
            assert_eq!(
                plot["where"]["flow.up.tcp.pacing"],
                serde_json::json!(["true"])
            );
        }
    }
    let plot = plot("x = \"count\"\nwhere = { queue = \"codel\" }");
    assert_eq!(
        plot["where"]["topology.bottleneck.queue"],
        serde_json::json!(["codel"])
    );
}

#[test]
fn a_plot_has_up_to_two_axes_of_panels() {
    let both = serde_json::json!(["topology.bottleneck.queue", "topology.bottleneck.rate_bps"]);
    assert_eq!(
        plot("x = \"count\"\nfacets = [\"queue\", \"rate\"]")["facets"],
        both
    );
    let one = serde_json::json!(["topology.bottleneck.queue"]);
    assert_eq!(plot("x = \"count\"\nfacets = \"queue\"")["facets"], one);
    assert_eq!(plot("x = \"count\"")["facets"], serde_json::json!([]));
}

#[test]
fn a_mistake_in_a_plot_names_its_line_and_the_nearest_choice() {
    for (keys, message, help) in [
        (
            "where = { rate = \"3Mbps\" }",
            "\"3Mbps\" is not a value",
            "\"2500kbps\"",
        ),
        (
            "where = { rate = \"10 Mbs\" }",
            "\"10 Mbs\" is not a value",
            "\"10Mbps\"",
        ),
        (
            "where = { rate = \"20ms\" }",
            "\"20ms\" is not a value",
            "1Mbps, 2500kbps, 10Mbps",
        ),
        (
            "where = { delay = [\"5ms\", \"21ms\"] }",
            "\"21ms\" is not a value",
            "\"20ms\"",
        ),
        (
            "where = { queue = \"codell\" }",
            "\"codell\" is not a value",
            "\"codel\"",
        ),
        (
            "where = { quee = \"codel\" }",
            "\"quee\" is not an axis",
            "\"queue\"",
        ),
        (
            "where = { rate = { above = \"1s\" } }",
            "can be compared",
            "one unit",
        ),
        (
            "where = { rate = \"1Mbps\", count = 8 }",
            "no variant",
            "ask for less",
        ),
        ("where = \"codel\"", "expected a table", "where = {"),
        (
            "facets = [\"queue\", \"rat\"]",
            "\"rat\" is not an axis",
            "\"rate\"",
        ),
        (
            "facets = [\"queue\", \"rate\", \"delay\"]",
            "3 axes",
            "\"where\"",
        ),
        (
            "facets = [\"queue\", \"queue\"]",
            "\"facets\" names the axis queue too",
            "another",
        ),
        (
            "facets = \"count\"",
            "\"x\" names the axis count too",
            "another",
        ),
        (
            "series = \"rate\"\nfacets = \"bottleneck.rate\"",
            "\"series\" names",
            "another",
        ),
        ("facet = \"queue\"", "facet", "\"facets\""),
    ] {
        let (line, error) = mistake(&format!("x = \"count\"\n{keys}"));
        assert_eq!(line, keys.lines().last().unwrap_or_default(), "{error}");
        assert!(
            error.contains(message) && error.contains(help),
            "{keys}: {error}"
        );
    }
    let text = format!("{AXES}y = \"bottleneck.utilization\"\nx = \"bottleneck.dely\"");
    let study = study(&text);
    let names = ["bottleneck.utilization", "bottleneck.loss_rate"].map(str::to_owned);
    let found = study.check_metrics(&names);
    let error = found.expect_err("neither axis nor metric");
    assert_eq!(error.help, "did you mean \"bottleneck.delay\"?");
}

#[test]
fn an_end_that_several_axes_share_is_refused() {
    let sweep = "[sweep]\nflow.up.start = [\"0s\", \"1s\"]\nflow.up.stop = [\"4s\"]\n\
                 [[plot]]\ny = \"bottleneck.utilization\"\nx = \"start\"\n";
    assert!(study(sweep).outline_json().contains("flow.up.start_s"));
    let text = format!(
        "schema_version = 1\n[sweep]\ntopology.bottleneck.rate = [\"1Mbps\"]\n\
         topology.access.rate = [\"9Mbps\"]\n[[plot]]\ny = \"bottleneck.loss_rate\"\nx = \"rate\"\n{BASE}"
    );
    let error = Study::parse(text.as_bytes(), "study.toml", &[]).expect_err("two axes end so");
    assert_eq!(error.line, Some(7));
    assert!(
        error
            .help
            .contains("topology.bottleneck.rate, topology.access.rate"),
        "{error}"
    );
}

/// Returns the values of an axis of queues in the form of results.
fn names_of_queues(values: &str) -> Vec<String> {
    let study = study(&format!("[sweep]\ntopology.bottleneck.queue = [{values}]"));
    let names = (0..study.variants()).map(|variant| {
        let parameters: serde_json::Value =
            serde_json::from_str(&study.parameters_json(variant)).expect("parameters are JSON");
        parameters["topology.bottleneck.queue"]
            .as_str()
            .expect("a name")
            .to_owned()
    });
    names.collect()
}

#[test]
fn a_table_has_the_name_of_its_class_or_of_its_only_kind() {
    let values = r#"{ kind = "codel" }, { kind = "python", class = "queues:Fifo", limit = "20p" },
        { kind = "drop_tail", limit = "20p" }, { label = "small", value = { limit = "5p" } }"#;
    let full = r#"{ kind = "drop_tail", limit = "20p" }"#;
    assert_eq!(names_of_queues(values), ["codel", "Fifo", full, "small"]);
}

#[test]
fn a_short_name_belongs_to_one_value() {
    let values = r#"{ kind = "python", class = "a:Fifo" }, { kind = "python", class = "b:Fifo" },
        { kind = "python", class = "c:Red", limit = "5p" }, { kind = "python", class = "c:Red" },
        { label = "codel", value = { kind = "codel", target = "1ms" } }, { kind = "codel" }"#;
    assert_eq!(
        names_of_queues(values),
        [
            "a:Fifo",
            "b:Fifo",
            r#"{ class = "c:Red", kind = "python", limit = "5p" }"#,
            r#"{ class = "c:Red", kind = "python" }"#,
            "codel",
            r#"{ kind = "codel" }"#,
        ]
    );
}

#[test]
fn a_condition_names_a_table_by_its_short_name_or_in_full() {
    let axis =
        "[sweep]\ntopology.bottleneck.queue = [{ kind = \"codel\" }, { kind = \"fq_codel\" }]";
    for names in [r#""fq_codel""#, r#"[{ kind = "fq_codel" }]"#] {
        let text = format!("{axis}\n[[sweep.exclude]]\nqueue = {names}");
        assert_eq!(study(&text).variants(), 1);
    }
    let text =
        format!("schema_version = 1\n{axis}\n[[sweep.exclude]]\nqueue = \"fq_code\"\n{BASE}");
    let error = Study::parse(text.as_bytes(), "study.toml", &[]).expect_err(&text);
    assert_eq!(error.help, "did you mean \"fq_codel\"?");
}
