// @ts-check
// A question as a scenario file, as a command and as a Python program.

const BITS = { "": 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12 };

/** Returns a rate in bit/s for the slider and the length of a run, or NaN. The engine reads the
 * text itself.
 * @param {string} text */
export function roughRate(text) {
  const match = /^\s*([\d.]+)\s*([kMGT]?)(bps|b\/s|bit\/s)\s*$/.exec(text);
  return match ? Number(match[1]) * BITS[/** @type {keyof BITS} */ (match[2])] : Number.NaN;
}

/** Returns the longest of the times in seconds, or NaN.
 * @param {string} text */
export function roughRtt(text) {
  const units = { us: 1e-6, ms: 1e-3, s: 1 };
  const times = text.split(/\.\.|,/).map((part) => {
    const match = /^\s*([\d.]+)\s*(us|ms|s)\s*$/.exec(part);
    return match ? Number(match[1]) * units[/** @type {keyof units} */ (match[2])] : Number.NaN;
  });
  return Math.max(...times);
}

/** Most full packets of a whole run, which keeps its time short. */
const PACKETS = 400_000;

/** Returns the simulated seconds of a whole run: long enough for loss epochs, short enough to wait for.
 * @param {import("./state.js").Question} question */
export function runSeconds({ rate, rtt }) {
  const perSecond = roughRate(rate) / 12_000;
  const epochs = 200 * roughRtt(rtt);
  const seconds = Math.min(Math.max(epochs, 20), 60, PACKETS / perSecond);
  return Number.isFinite(seconds) ? Math.max(Math.round(seconds * 10) / 10, 0.5) : 20;
}

/** Quotes a text for TOML.
 * @param {string} text */
const quoted = (text) => JSON.stringify(text);

/** Returns base round-trip times for a flow's table: one, a list, or a range in even steps.
 * @param {string} text @param {number} flows */
function roundTrips(text, flows) {
  const ends = text.split("..");
  if (ends.length === 2) {
    const [from, to] = ends.map((end) => quoted(end.trim()));
    return flows > 1 ? `{ from = ${from}, to = ${to}, classes = ${Math.min(flows, 18)} }` : to;
  }
  const list = text.split(",").slice(0, flows).map((one) => quoted(one.trim()));
  return list.length > 1 ? `[${list.join(", ")}]` : list[0];
}

/** Returns ten times the rate for the hosts' own links, so that they limit nothing.
 * @param {string} rate */
function accessRate(rate) {
  const bps = 10 * roughRate(rate);
  return Number.isFinite(bps) ? `${Math.round(bps)}bps` : "1Gbps";
}

/** Returns further keys for an inline table.
 * @param {string} keys */
const further = (keys) => (keys.trim() === "" ? "" : `, ${keys.trim()}`);

/** Returns a group of long flows.
 * @param {import("./state.js").Question} question
 * @param {string} name @param {number} count @param {string} control @param {number} seconds */
function group(question, name, count, control, seconds) {
  const { rtt, profile, tcpKeys, stagger } = question;
  const spread = stagger === "1s" ? `${Math.min(1, seconds / 20)}s` : stagger;
  return `
[[flow]]
name = "${name}"
count = ${count}
rtt = ${roundTrips(rtt, count)}
start_jitter = ${quoted(spread)}
workload = { kind = "bulk" }
tcp = { profile = ${quoted(profile)}, congestion_control = ${quoted(control)}${further(tcpKeys)} }
`;
}

/** Returns the scenario of a question: a dumbbell whose long flows share one bottleneck.
 * @param {import("./state.js").Question} question
 * @param {{seconds?: number, buffer?: string, seed?: number}} [change] */
export function scenarioText(question, change = {}) {
  const { seconds = runSeconds(question), buffer = question.buffer, seed = question.seed } = change;
  const { rate, rtt, flows, control, others, otherControl, queue, queueKeys, loss, ping } = question;
  const limit = buffer === "" ? "" : `, limit = ${quoted(buffer)}`;
  const lost = Number.parseFloat(loss) > 0 ? `, loss = { kind = "independent", probability = ${quoted(loss)} }` : "";
  const pinging = `
[[flow]]
name = "ping"
rtt = ${roundTrips(rtt, 1)}
workload = { kind = "ping", interval = "100ms" }
`;
  return `schema_version = 1
title = "A question of the lab"
duration = "${seconds}s"
warmup = "${Math.round(seconds * 250) / 1000}s"
seed = ${seed}

[topology]
shape = "dumbbell"
access = { rate = ${quoted(accessRate(rate))} }
bottleneck = { rate = ${quoted(rate)}, delay = "0s", queue = { kind = ${quoted(queue)}${limit}${further(queueKeys)} }${lost} }
${group(question, "flow", flows, control, seconds)}${others > 0 ? group(question, "other", others, otherControl, seconds) : ""}${ping ? pinging : ""}`;
}

/** Quotes a text for a shell.
 * @param {string} text */
const word = (text) => (/^[\w.,:%+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

/** Returns true if the command that sizes the link states all of its traffic.
 * @param {import("./state.js").Question} question */
export const isPlain = ({ others, loss, tcpKeys }) => others === 0 && !(Number.parseFloat(loss) > 0) && tcpKeys.trim() === "";

/** Returns the command that sizes the link.
 * @param {import("./state.js").Question} question */
export function sizeCommand({ rate, rtt, flows, control, profile }) {
  const options = { rate, rtt, flows: String(flows), control, profile };
  return `goodqueue size ${Object.entries(options).map(([name, text]) => `--${name} ${word(text)}`).join(" ")}`;
}

/** Returns the command that runs a scenario, for a shell.
 * @param {string} text */
export const runCommand = (text) => `goodqueue run - <<'END'\n${text.trimEnd()}\nEND\n`;

/** Returns a Python program that runs a scenario and prints the figures of its first link.
 * @param {string} text */
export function pythonText(text) {
  const literal = JSON.stringify(text).replaceAll("\\n", "\\n\"\n    \"");
  return `import tempfile
from pathlib import Path

import goodqueue

SCENARIO = (
    ${literal}
)

with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "scenario.toml"
    file.write_text(SCENARIO, encoding="utf-8")
    result = goodqueue.run(file)
name, link = next(iter(result.summary["links"].items()))
for key in ("utilization", "loss_rate", "p99_queueing_delay_s"):
    print(name, key, link[key])
`;
}
