// @ts-check
// The computations behind one state of the page, the fastest first.

import { check } from "./check.js";
import { begin, differences, intervals, open, packets, run, theory } from "./engine.js";
import { alone, figuresOf } from "./figures.js";
import { bdpOf } from "../question/buffer.js";
import { isFifo, scenarioText, sizedRtt } from "../question/scenario.js";
import { overridesOf, sides } from "../question/state.js";

/** Packets of the first picture, which appears while the whole run goes on. */
const FIRST_PACKETS = 10_000;
/** Packets of each point of the knee, a run of its own, and bandwidth-delay products that it has at least. */
const KNEE_PACKETS = 30_000;
const KNEE_BDPS = 20;
/** Buffers of the knee, in bandwidth-delay products. */
const KNEE = [0.03, 0.06, 0.12, 0.25, 0.5, 1, 2, 4, 8];
/** Runs of each side, with consecutive seeds. */
export const SEEDS = 5;
/** Columns of each series. */
export const COLUMNS = 600;
const VIEW = { columns: COLUMNS, flows: 8 };
const BARE = { columns: 1, flows: 0 };
/** Milliseconds of the packet view's part of a run. */
const WATCH_MS = 2_000;
/** Link whose buffer the knee varies. */
const LINK = "bottleneck";
/** Key of its buffer. */
const BUFFER = `topology.${LINK}.queue.limit`;

/** A side with the scenario that its runs have. `limits` are the buffers of the knee, each a run
 * of `short` packets.
 * @typedef {{side: "a" | "b", text: string, overrides: Record<string, string>, seed: number, limits: string[],
 *   short: number}} Asked */

/** A point of the knee: its limit as it was asked for, the packets of that limit, and the link's summary.
 * @typedef {{limit: string, packets: number, link: any}} Point */

/** What is known of one side. `runs` are figures by seed, `means` those of all runs with intervals.
 * `saved` is the scenario as a file; null until the engine has written the controls' values into it.
 * @typedef {Asked & {picture: any, saved: string | null, runs: import("./figures.js").Figures[],
 *   means: import("./figures.js").Means, knee: Point[]}} Side */

/** `stage` is the last finished step, or "stopped" if the next one failed; `share` is the part of the whole run that is
 * done. `change` is B minus A, `contents` what the engine says of an opened file, `check` the runs of the recommended
 * buffer of A.
 * @typedef {{a: Side | null, b: Side | null, change: import("./figures.js").Means | null, instant: any,
 *   check: import("./check.js").Check | null, contents: any, share: number,
 *   stage: "first" | "whole" | "seeds" | "done" | "stopped"}} Found */

let opened = { text: "", contents: /** @type {Promise<any> | null} */ (null) };

/** Returns the contents of a scenario file, which change with its text only.
 * @param {string} text */
function contentsOf(text) {
  if (opened.text !== text || opened.contents === null) {
    const contents = open(text);
    opened = { text, contents };
    // A question without an answer is asked again.
    contents.catch(() => { opened = { text: "", contents: null }; });
  }
  return opened.contents;
}

/** Returns the scenarios of a state. An opened file keeps its text; the controls replace its keys.
 * @param {import("../question/state.js").State} state @param {any} contents @returns {Asked[]} */
function askedOf(state, contents) {
  if (contents) {
    const limits = contents.controls.buffer ? KNEE.map((share) => `${share}bdp`) : [];
    return [{ side: "a", text: state.file, overrides: overridesOf(state, contents), seed: contents.seed, limits, short: KNEE_PACKETS }];
  }
  const limits = kneePackets(state.a).map((packets) => `${packets}p`);
  const short = Math.round(Math.max(KNEE_PACKETS, KNEE_BDPS * bdpOf(state.a) || 0));
  return sides(state).map(({ side, question }) =>
    ({ side, text: scenarioText(question), overrides: {}, seed: question.seed, limits, short }));
}

/** Knees of the last scenarios, which do not depend on the scenario's own buffer.
 * @type {Map<string, Point[]>} */
const knees = new Map();
const MOST_KNEES = 8;

/** Returns a name of a scenario that leaves out its buffer.
 * @param {Asked} asked */
const unsized = ({ text, overrides, limits }) =>
  JSON.stringify([text.replace(/(bottleneck = .*), limit = "[^"]*"/, "$1"), { ...overrides, [BUFFER]: "" }, limits]);

/** Returns the points of a scenario's knee that are known.
 * @param {Asked} asked */
const kneeOf = (asked) => knees.get(unsized(asked)) ?? [];

/** Checks of the last answers, by the scenario of their link. They do not depend on the buffer of the controls.
 * @type {Map<string, import("./check.js").Check>} */
const checks = new Map();
const MOST_CHECKS = 32;

/** Returns the scenario of a question's link with a FIFO of a number of packets.
 * @param {import("../question/state.js").Question} question @param {number} packets */
const fifoText = (question, packets) => scenarioText({ ...question, queue: "drop_tail", queueKeys: "", buffer: `${packets}p` });

/** Returns the means of a question's link with a FIFO of a number of packets, over all seeds.
 * @param {import("../question/state.js").Question} question @param {number} packets
 * @param {(asked: any, options: any) => Promise<any>} ran @param {AbortSignal} signal */
async function withFifo(question, packets, ran, signal) {
  const text = fifoText(question, packets);
  const pictures = await Promise.all(Array.from({ length: SEEDS }, (_, more) =>
    ran({ text, overrides: {}, seed: question.seed + more }, { ...BARE, place: more % 2 })));
  return intervals(pictures.map(figuresOf), signal);
}

/** Computes everything that the page shows of a state and reports each step.
 * @param {import("../question/state.js").State} state @param {AbortSignal} signal
 * @param {(found: Found) => void} report */
export async function work(state, signal, report) {
  const turn = begin("link");
  const contents = state.file ? await contentsOf(state.file) : null;
  if (signal.aborted) return;
  const asked = askedOf(state, contents);
  /** @type {Found} */
  let found = { a: null, b: null, change: null, instant: null, check: null, contents, share: 0, stage: "first" };
  const tell = (/** @type {Partial<Found>} */ part) => {
    found = { ...found, ...part };
    if (!signal.aborted) report(found);
  };
  const known = (/** @type {"a" | "b"} */ side) => /** @type {Side} */ (found[side]);
  const ran = (/** @type {Asked} */ { text, overrides, seed }, /** @type {any} */ options) =>
    run(text, { overrides, seed, turn, ...options }, signal);

  const draw = async (/** @type {any} */ options) => {
    const pictures = await Promise.all(asked.map((one, place) => ran(one, { ...VIEW, place, ...options })));
    return Object.fromEntries(asked.map((one, i) => {
      const figures = figuresOf(pictures[i]);
      const changed = Object.keys(one.overrides).length > 0;
      return [one.side, { ...one, picture: pictures[i], saved: changed ? null : one.text, runs: [figures], means: alone(figures), knee: kneeOf(one) }];
    }));
  };
  // python -m evidence.lab reads these marks.
  performance.mark("asked");
  const [first, instant] = await Promise.all([
    draw({ firstPackets: FIRST_PACKETS }),
    contents ? null : theory({ ...state.a, rtt: sizedRtt(state.a) }, signal).catch(() => null),
  ]);
  performance.mark("answered");
  const answer = instant?.answer?.packets;
  const link = answer && fifoText(state.a, answer);
  tell({ ...first, instant, check: checks.get(link) ?? null });
  tell({ ...(await draw({ onProgress: (/** @type {number} */ share) => tell({ share }) })), stage: "whole" });

  if (found.a?.saved === null) {
    const { resolved } = await open(state.file, found.a.overrides);
    tell({ a: { ...found.a, saved: resolved } });
  }
  // The worker of the first picture stays free where one side leaves it so.
  const behind = (/** @type {number} */ i) => ({ ...BARE, place: 1 - i });
  for (let more = 1; more < SEEDS; more += 1) {
    const pictures = await Promise.all(asked.map((one, i) => ran(one, { ...behind(i), seed: one.seed + more })));
    const runs = asked.map(({ side }, i) => [...known(side).runs, figuresOf(pictures[i])]);
    const [means, change] = await Promise.all([
      Promise.all(runs.map((each) => intervals(each, signal))),
      runs.length > 1 ? differences(runs[1], runs[0], signal) : null,
    ]);
    tell({ change, ...Object.fromEntries(asked.map(({ side }, i) => [side, { ...known(side), runs: runs[i], means: means[i] }])) });
  }
  tell({ stage: "seeds" });
  if (answer && !found.check) {
    const { runs, means } = known("a");
    const isOwn = (/** @type {number} */ packets) => isFifo(state.a) && runs[0].buffer_packets === packets;
    await check(answer, async (packets) => (isOwn(packets) ? means : withFifo(state.a, packets, ran, signal)), (one) => tell({ check: one }));
    if (found.check) checks.set(link, found.check);
    if (checks.size > MOST_CHECKS) checks.delete(checks.keys().next().value ?? "");
  }
  for (const i of asked[0].limits.keys()) {
    if (asked.every((one) => known(one.side).knee.some((point) => point.limit === one.limits[i]))) continue;
    const points = await Promise.all(asked.map(async (one, k) => {
      const limit = { link: LINK, limit: one.limits[i] };
      const { summary } = await ran(one, { ...behind(k), firstPackets: one.short, limit });
      return summary.links[LINK];
    }));
    tell(Object.fromEntries(asked.map(({ side }, k) => {
      const packets = points[k].limit.packets ?? Math.round(points[k].limit.bytes / 1500);
      const others = known(side).knee.filter((point) => point.packets !== packets);
      const knee = [...others, { packets, limit: asked[k].limits[i], link: points[k] }];
      knees.set(unsized(asked[k]), knee);
      if (knees.size > MOST_KNEES) knees.delete(knees.keys().next().value ?? "");
      return [side, { ...known(side), knee }];
    })));
  }
  tell({ stage: "done" });
}

/** Returns buffers on both sides of the knee, in packets.
 * @param {import("../question/state.js").Question} question */
function kneePackets(question) {
  const bdp = bdpOf(question);
  const packets = KNEE.map((share) => Math.max(1, Math.round(share * (bdp || 100))));
  return [...new Set([...packets, ...(bdp < 30 ? [1, 2, 4, 8, 16, 32] : [])])].sort((a, b) => a - b);
}

/** Returns the packets of each side from a time on.
 * @param {import("../question/state.js").State} state @param {number} from in seconds @param {AbortSignal} signal */
export async function watch(state, from, signal) {
  const turn = begin("packets");
  const contents = state.file ? await contentsOf(state.file) : null;
  const start = 1e3 * from;
  const trips = await Promise.all(askedOf(state, contents).map(({ text, overrides }) =>
    packets(text, start, start + WATCH_MS, { overrides, turn }, signal)));
  return { a: trips[0], b: trips[1] ?? null };
}
