// The question of the page: a link and its traffic, as texts with units. It lives in the address.

/** @typedef {{rate: string, rtt: string, flows: number, control: string, queue: string, buffer: string, profile: string}} Question */

/** @type {Question} */
export const USUAL = {
  rate: "10Mbps",
  rtt: "40ms",
  flows: 2,
  control: "cubic",
  queue: "drop_tail",
  buffer: "1bdp",
  profile: "linux",
};

/** Links to begin with. @type {{name: string, question: Partial<Question>}[]} */
export const PRESETS = [
  { name: "Home uplink, bloated", question: { rate: "1Mbps", rtt: "24ms", flows: 1, buffer: "100p" } },
  { name: "Home uplink, sized", question: { rate: "1Mbps", rtt: "24ms", flows: 1, buffer: "8p" } },
  { name: "Home link, 20 Mb/s", question: { rate: "20Mbps", rtt: "30ms", flows: 4, buffer: "8p" } },
  { name: "Many flows, small buffer", question: { rate: "50Mbps", rtt: "20ms..120ms", flows: 50, buffer: "0.2bdp" } },
  { name: "Flow queues", question: { rate: "10Mbps", rtt: "40ms", flows: 4, queue: "fq_codel", buffer: "1000p" } },
  { name: "BBR", question: { rate: "10Mbps", rtt: "40ms", flows: 2, control: "bbr", buffer: "2bdp" } },
];

/** Reads the question from the part of an address after `#`. Unknown keys are ignored.
 * @param {string} hash @returns {Question} */
export function fromHash(hash) {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const question = { ...USUAL };
  for (const key of /** @type {(keyof Question)[]} */ (Object.keys(USUAL))) {
    const text = given.get(key);
    if (text === null) continue;
    if (key === "flows") question.flows = wholeFlows(text);
    else question[key] = text.slice(0, 60);
  }
  return question;
}

/** @param {Question} question @returns {string} */
export function toHash(question) {
  const changed = Object.entries(question).filter(
    ([key, value]) => value !== USUAL[/** @type {keyof Question} */ (key)],
  );
  return "#" + new URLSearchParams(changed.map(([key, value]) => [key, String(value)])).toString();
}

/** @param {string | number} text @returns {number} */
export function wholeFlows(text) {
  const number = Math.round(Number(text));
  return Number.isFinite(number) ? Math.min(Math.max(number, 1), 5000) : USUAL.flows;
}

/** Quotes a text for TOML. @param {string} text */
const quoted = (text) => JSON.stringify(text);

/** Returns base round-trip times for a flow's table: one, a list, or a range in even steps.
 * @param {string} text @param {number} flows */
function roundTrips(text, flows) {
  const ends = text.split("..");
  if (ends.length === 2 && flows > 1) {
    return `{ from = ${quoted(ends[0].trim())}, to = ${quoted(ends[1].trim())}, classes = ${Math.min(flows, 18)} }`;
  }
  const list = text.split(",").slice(0, flows).map((one) => quoted(one.trim()));
  return list.length > 1 ? `[${list.join(", ")}]` : quoted(text.trim());
}

/** Returns ten times the rate for the hosts' own links, so that they limit nothing.
 * @param {string} rate */
function accessRate(rate) {
  const bps = 10 * roughRate(rate);
  return Number.isFinite(bps) ? `${Math.round(bps)}bps` : "1Gbps";
}

/** Returns the scenario of a question: a dumbbell whose long flows share one bottleneck.
 * @param {Question} question @param {number} seconds @param {string} [buffer] */
export function scenarioText(question, seconds, buffer = question.buffer) {
  const { rate, rtt, flows, control, queue, profile } = question;
  const limit = buffer === "" ? "" : `, limit = ${quoted(buffer)}`;
  return `schema_version = 1
title = "A question of the lab"
duration = "${seconds}s"
warmup = "${Math.round(seconds * 250) / 1000}s"

[topology]
shape = "dumbbell"
access = { rate = ${quoted(accessRate(rate))} }
bottleneck = { rate = ${quoted(rate)}, delay = "0s", queue = { kind = ${quoted(queue)}${limit} } }

[[flow]]
name = "flow"
count = ${flows}
rtt = ${roundTrips(rtt, flows)}
start_jitter = "${Math.min(1, seconds / 20)}s"
workload = { kind = "bulk" }
tcp = { profile = ${quoted(profile)}, congestion_control = ${quoted(control)} }
`;
}

/** Returns the command that sizes the link. @param {Question} question */
export function sizeCommand({ rate, rtt, flows, control, profile }) {
  return `goodqueue size --rate ${rate} --rtt ${rtt} --flows ${flows} --control ${control} --profile ${profile}`;
}

const BITS = { "": 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12 };

/** Returns a rate in bit/s for the slider and the length of a run, or NaN. The engine reads the
 * text itself. @param {string} text */
export function roughRate(text) {
  const match = /^\s*([\d.]+)\s*([kMGT]?)(bps|b\/s|bit\/s)\s*$/.exec(text);
  return match ? Number(match[1]) * BITS[/** @type {keyof BITS} */ (match[2])] : Number.NaN;
}

/** Returns the longest of the times in seconds, or NaN. @param {string} text */
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
 * @param {Question} question */
export function runSeconds({ rate, rtt }) {
  const perSecond = roughRate(rate) / 12_000;
  const epochs = 200 * roughRtt(rtt);
  const seconds = Math.min(Math.max(epochs, 20), 60, PACKETS / perSecond);
  return Number.isFinite(seconds) ? Math.max(Math.round(seconds * 10) / 10, 0.5) : 20;
}
