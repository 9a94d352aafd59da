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

/** Returns a time in seconds, or NaN.
 * @param {string} text */
function roughTime(text) {
  const units = { ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1, min: 60 };
  const match = /^\s*([\d.]+)\s*(ns|us|ms|s|min)\s*$/.exec(text);
  return match ? Number(match[1]) * units[/** @type {keyof units} */ (match[2])] : Number.NaN;
}

/** Returns the times of a list, or the ends of a range, in seconds; NaN for what is no time.
 * @param {string} text */
const roughTimes = (text) => text.split(/\.\.|,/).map(roughTime);

/** @param {number[]} values */
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Returns the mean base round-trip time in seconds, which a bandwidth-delay product has, or NaN. The mean of a
 * range in even steps is that of its ends.
 * @param {string} text */
export const roughRtt = (text) => mean(roughTimes(text));

/** Most full packets of a whole run, which keeps its time short. */
const PACKETS = 400_000;

/** Returns the simulated seconds of a whole run: long enough for loss epochs, short enough to wait for.
 * @param {import("./state.js").Question} question */
export function runSeconds({ rate, rtt }) {
  const perSecond = roughRate(rate) / 12_000;
  const epochs = 200 * Math.max(...roughTimes(rtt));
  const seconds = Math.min(Math.max(epochs, 20), 60, PACKETS / perSecond);
  return Number.isFinite(seconds) ? Math.max(Math.round(seconds * 10) / 10, 0.5) : 20;
}

/** Quotes a text for TOML.
 * @param {string} text */
const quoted = (text) => JSON.stringify(text);

/** Steps of a range of round-trip times, as in `goodqueue size`. */
const STEPS = 18;

/** Rounds of a list of round-trip times from which on the flows of an unfinished round hardly move the mean. */
const MANY_ROUNDS = 20;

/** Returns the mean of times as a text.
 * @param {string[]} texts */
const meanOf = (texts) => `${Number((1e3 * mean(texts.map(roughTime))).toPrecision(9))}ms`;

/** Returns the base round-trip times of a number of flows with nearly the mean of those that are stated, as `goodqueue size`
 * does: flows beyond whole rounds of a list have the means of equal parts of it, so a single flow has the mean.
 * Texts that the page cannot read stay as they are, and the engine explains the mistake.
 * @param {{rtt: string, flows: number}} question @returns {string} */
export function statedRtt({ rtt, flows }) {
  if (!Number.isFinite(roughRtt(rtt))) return rtt;
  const ends = rtt.split("..");
  if (ends.length === 2) return flows === 1 ? meanOf(ends) : rtt;
  const list = rtt.split(",").map((one) => one.trim());
  const [rounds, left] = [Math.floor(flows / list.length), flows % list.length];
  if (left === 0 || rounds >= MANY_ROUNDS) return rtt;
  const parts = Array.from({ length: left }, (_, i) =>
    meanOf(list.slice(Math.floor((i * list.length) / left), Math.floor(((i + 1) * list.length) / left))));
  return [...Array.from({ length: rounds }, () => list).flat(), ...parts].join(",");
}

/** Returns the round-trip times of the link that is sized: those of its runs.
 * @param {{rtt: string, flows: number}} question */
export const sizedRtt = (question) => (question.flows === 1 ? statedRtt(question) : question.rtt);

/** Returns true if packets wait in a FIFO that only the buffer limits.
 * @param {import("./state.js").Question} question */
export const isFifo = ({ queue, queueKeys }) => queue === "drop_tail" && queueKeys.trim() === "";

/** Returns base round-trip times for a flow's table: one, a list, or a range in even steps.
 * @param {string} text @param {number} flows */
function roundTrips(text, flows) {
  const stated = statedRtt({ rtt: text, flows });
  const ends = stated.split("..");
  if (ends.length === 2) {
    const [from, to] = ends.map((end) => quoted(end.trim()));
    const classes = flows % STEPS === 0 || flows >= MANY_ROUNDS * STEPS ? STEPS : flows;
    return `{ from = ${from}, to = ${to}, classes = ${classes} }`;
  }
  const list = stated.split(",").map((one) => quoted(one.trim()));
  return list.length > 1 ? `[${list.join(", ")}]` : list[0];
}

/** Returns true if a link loses packets at random. A text that is no zero is left to the engine.
 * @param {string} loss */
export const isLossy = (loss) => !/^\s*(0+(\.0*)?|\.0+)?\s*%?\s*$/.test(loss);

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
  const lost = isLossy(loss) ? `, loss = { kind = "independent", probability = ${quoted(loss)} }` : "";
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
export const isPlain = ({ others, loss, tcpKeys }) => others === 0 && !isLossy(loss) && tcpKeys.trim() === "";

/** Returns the command that sizes the link.
 * @param {import("./state.js").Question} question */
export function sizeCommand({ rate, rtt, flows, control, profile }) {
  const options = { rate, rtt: sizedRtt({ rtt, flows }), flows: String(flows), control, profile };
  return `goodqueue size ${Object.entries(options).map(([name, text]) => `--${name} ${word(text)}`).join(" ")}`;
}

/** Returns the command that runs a scenario, for a shell.
 * @param {string} text */
export const runCommand = (text) => `goodqueue run - <<'END'\n${text.trimEnd()}\nEND\n`;

/** Returns the command that opens settings of the page.
 * @param {string} hash settings as in the address */
export const labCommand = (hash) => `goodqueue lab --settings ${word(hash.replace(/^#/, ""))}`;

/** Returns a Python program of five lines that runs a scenario and prints the figures of its first link.
 * @param {string} text */
export const pythonText = (text) => `import goodqueue
scenario = ${JSON.stringify(text)}
name, link = next(iter(goodqueue.run(scenario).summary["links"].items()))
for key in ("utilization", "loss_rate", "p99_queueing_delay_s"):
    print(name, key, link[key])
`;
