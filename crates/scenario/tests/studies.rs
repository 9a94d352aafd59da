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

/// The first axis of the file varies slowest, wherever its header stands.
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

/// Values that stand there twice are found without a comparison of each with each.
#[test]
fn long_axes_are_read_in_no_time() {
    let started = std::time::Instant::now();
    let study =
        study("[sweep]\nflow.up.start = { from = \"1us\", to = \"100ms\", step = \"1us\" }\n");
    assert_eq!(study.variants(), 100_000);
    // It took half a minute when each value was compared with each.
    assert!(started.elapsed().as_secs() < 15);
}
