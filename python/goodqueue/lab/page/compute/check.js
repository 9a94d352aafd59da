// @ts-check
// The page's own runs at the buffer that calibrated theory recommends. Where they differ, the runs are right.

import { shown } from "./figures.js";

/** Share of the time in which the recommended buffer keeps the link busy. */
export const BUSY = 0.98;

/** Factor between two buffers that are run, most buffers beyond that of theory, most below it, and most between two of them. */
const GROWTH = 2;
const MOST_LARGER = 5;
const MOST_SMALLER = 3;
const MOST_BETWEEN = 2;

/** Share of what is missing to the target that a larger buffer must gain. Where it gains less, as with random loss, still
 * larger ones are not run. */
const LEAST_GAIN = 0.05;

/** Buffers of a FIFO that were run, the smallest first, with the means of their figures over all seeds. `kept` is the
 * smallest of them that kept the link busy, or null. `ended` is true if no more are run.
 * @typedef {{tried: {packets: number, means: import("./figures.js").Means}[], kept: number | null, ended: boolean}} Check */

/** Runs the recommended buffer. If it does not keep the link busy, larger ones are run until one does, and otherwise smaller
 * ones until one does not. Then some between are run.
 * @param {number} packets the buffer by calibrated theory
 * @param {(packets: number) => Promise<import("./figures.js").Means>} measure runs a buffer with all seeds
 * @param {(check: Check) => void} tell gets each step */
export async function check(packets, measure, tell) {
  /** @type {Check} */
  let known = { tried: [], kept: null, ended: false };
  const run = async (/** @type {number} */ size) => {
    const means = await measure(size);
    known = { ...known, tried: [...known.tried, { packets: size, means }].sort((p, q) => p.packets - q.packets) };
    return busyShare(means);
  };
  let [fails, suffices] = [0, packets];
  let [before, busy] = [0, await run(packets)];
  for (let more = 0; more < MOST_LARGER && busy < BUSY && busy - before >= LEAST_GAIN * (BUSY - before); more += 1) {
    tell(known);
    [fails, suffices] = [suffices, suffices * GROWTH];
    [before, busy] = [busy, await run(suffices)];
  }
  for (let more = 0; more < MOST_SMALLER && fails === 0 && busy >= BUSY && suffices > 1; more += 1) {
    tell(known);
    const smaller = Math.floor(suffices / GROWTH);
    if ((await run(smaller)) >= BUSY) suffices = smaller;
    else fails = smaller;
  }
  // Theory stands where half of its buffer fails: its interval has the buffers between.
  const isTheory = suffices === packets;
  for (let more = 0; more < MOST_BETWEEN && busy >= BUSY && fails > 0 && !isTheory; more += 1) {
    const between = Math.round(Math.sqrt(fails * suffices));
    if (between <= fails || between >= suffices) break;
    tell(known);
    if ((await run(between)) >= BUSY) suffices = between;
    else fails = between;
  }
  tell({ ...known, kept: busy >= BUSY ? suffices : null, ended: true });
}

/** @param {import("./figures.js").Means} means */
const busyShare = (means) => means.utilization?.mean ?? 0;

/** Returns the utilisation of runs in words, which are never those of the target if it was missed.
 * @param {import("./figures.js").Means} means */
export function busyWords(means) {
  const words = shown("utilization", busyShare(means));
  return busyShare(means) < BUSY && words === shown("utilization", BUSY) ? `less than ${words}` : words;
}

/** What is recommended: `packets` is null if no buffer is known that keeps the link busy, and `state` says why.
 * @typedef {{packets: number | null, state: "checking" | "confirmed" | "larger" | "smaller" | "searching" | "none"}} Recommended */

/** Returns the recommendation: that of calibrated theory if the runs confirm it, or else that of the runs.
 * @param {any} answer of calibrated theory @param {Check | null} known @returns {Recommended} */
export function recommended(answer, known) {
  if (known === null) return { packets: null, state: "checking" };
  if (known.kept !== null) return { packets: known.kept, state: known.kept === answer.packets ? "confirmed" : known.kept > answer.packets ? "larger" : "smaller" };
  return { packets: null, state: known.ended ? "none" : "searching" };
}

/** Returns the least and the most packets that the link may need: those of calibrated theory as far as the runs leave them
 * possible. `most` is null if theory knows no upper end.
 * @param {any} answer of calibrated theory @param {Check} known @param {number} packets the recommended buffer
 * @returns {{least: number, most: number | null}} */
export function rangeOf({ at_least_packets: from, at_most_packets: to }, { tried }, packets) {
  const busy = tried.flatMap(({ packets: size, means: { utilization: of } }) => (of ? [{ size, low: of.low ?? of.mean, high: of.high ?? of.mean }] : []));
  const fail = Math.max(0, ...busy.filter(({ size, high }) => size < packets && high < BUSY).map(({ size }) => size));
  const sure = Math.min(...busy.filter(({ size, low }) => size >= packets && low >= BUSY).map(({ size }) => size));
  const least = Math.min(packets, Math.max(from, fail + 1));
  if (to == null) return { least, most: null };
  return { least, most: packets <= to ? to : Number.isFinite(sure) ? sure : packets };
}

/** Returns commands with another buffer. Their limits are in bytes, the same number for each packet.
 * @param {string[]} commands @param {number} from packets of their buffer @param {number} to packets of the other one */
export const withBuffer = (commands, from, to) =>
  commands.map((line) => line.replace(/\blimit (\d+)/, (_, bytes) => `limit ${Math.round((Number(bytes) / from) * to)}`));
