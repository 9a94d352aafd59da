// @ts-check
// The instant answer of calibrated theory.

import { number, shown } from "../compute/figures.js";
import { WORDS } from "../question/state.js";
import { html } from "../vendor/htm-preact-3.1.1.js";

/** Utilisation that the answer keeps. */
const BUSY = 0.98;

/** A buffer is called larger than needed from this multiple of the answer on. */
const LARGER = 1.5;

/** Returns what the curve's own runs show of a FIFO: the smallest buffer from which on the link is busy, and the largest
 * one below. Null as long as a run is missing, or if no buffer of the curve keeps the link busy.
 * @param {import("../compute/work.js").Side} side */
export function shownBy({ knee, limits }) {
  if (knee.length < limits.length) return null;
  const falling = [...knee].sort((p, q) => q.packets - p.packets);
  const first = falling.findIndex((point) => point.link.utilization < BUSY);
  if (first === 0) return null;
  const suffices = falling.at(first === -1 ? -1 : first - 1);
  return { suffices: suffices?.packets ?? 0, fails: first === -1 ? null : falling[first].packets };
}

/** Returns the reasons for which calibrated theory is unsure of a link.
 * @param {any} answer @param {import("../question/state.js").Question} question */
function doubts(answer, { others, loss, profile, tcpKeys }) {
  const given = { others: others > 0, loss: Number.parseFloat(loss) > 0, profile: profile !== "linux", tcpKeys: tcpKeys.trim() !== "" };
  const left = Object.entries(given).filter(([, is]) => is).map(([key]) => WORDS[/** @type {keyof typeof given} */ (key)]);
  const outside = answer.outside_fitted_range.map((/** @type {string} */ reason) => `Outside the fitted range: ${reason}`);
  return left.length > 0 ? [...outside, `The formula leaves out: ${left.join(", ")}.`] : outside;
}

/** Returns true if calibrated theory is unsure of a link.
 * @param {any} answer @param {import("../question/state.js").Question} question */
export const isUnsureOf = (answer, question) => answer.at_most_packets == null || doubts(answer, question).length > 0;

/** What the runs of the curve show.
 * @param {any} props */
function Runs({ found, answer }) {
  const { at_least_packets: least, at_most_packets: most } = answer ?? {};
  const apart = answer && (found.suffices < least || (most != null && found.fails !== null && found.fails >= most));
  return html`<p class="soft small" data-shown>${apart ? "The short runs of the curve below differ from it" : "The short runs of the curve below"}:
    98 % busy from ${number(found.suffices)} packets on${found.fails === null ? "" : `, and less with ${number(found.fails)}`}.
    ${" "}<code>goodqueue size</code> proves the number with more runs.</p>`;
}

/** What the buffer of the controls costs in place of the answer's.
 * @param {any} props */
function Excess({ answer, side: { runs: [run], means } }) {
  if (!(run.buffer_packets > LARGER * answer.packets)) return null;
  const { utilization: busy, p99_delay_s: wait } = answer.expected;
  const of = (/** @type {string} */ key, /** @type {any} */ { mean, low, high }) => `${shown(key, mean)} (${shown(key, low)} to ${shown(key, high)})`;
  return html`<p data-excess>Now ${shown("buffer_packets", run.buffer_packets)} may wait, and 1 in 100 waits ${shown("p99_queueing_delay_s", means.p99_queueing_delay_s?.mean)} or longer.
    With ${number(answer.packets)} it would be ${of("p99_queueing_delay_s", wait)}, and the link busy for ${of("utilization", busy)} of the time.</p>`;
}

/** @param {any} props */
export function Answer({ instant, question, side, change }) {
  const { answer } = instant;
  const isFifo = question.queue === "drop_tail";
  const found = isFifo ? shownBy(side) : null;
  const runs = found && html`<${Runs} found=${found} answer=${answer?.packets == null ? null : answer} />`;
  if (!answer) return html`<div class="answer"><p>Calibrated theory does not cover ${question.control}. The runs show what a buffer does.</p>${runs}</div>`;
  if (answer.packets == null) return html`<div class="answer"><p>By calibrated theory no buffer keeps this link 98 % busy.</p>${runs}</div>`;
  const { packets, seconds, bdp, at_least_packets: least, at_most_packets: most } = answer;
  const range = most == null ? `${number(least)} or more` : most === least ? number(least) : `${number(least)} to ${number(most)}`;
  const reasons = doubts(answer, question);
  const size = `${number(packets)} packet${packets === 1 ? "" : "s"}`;
  const isUsed = isFifo && question.buffer === `${packets}p`;
  const isUnsure = isUnsureOf(answer, question);
  return html`<div class="answer">
    <h2>${isUnsure ? `Calibrated theory says ${size}, but is unsure of this link.` : `${isFifo ? "This link" : "With a FIFO this link"} needs a buffer of ${size}.`}
      ${!isUsed && html` <button type="button" class="small" onClick=${() => change({ queue: "drop_tail", buffer: `${packets}p` })}>Use this buffer</button>`}</h2>
    ${isFifo && !isUnsure && html`<${Excess} answer=${answer} side=${side} />`}
    <p class="small">${size} in a FIFO = ${number(seconds * 1e3)} ms = ${number(bdp)} BDP: 98 % busy by calibrated theory.
      ${" "}With 90 % probability a simulation finds ${range} packets.</p>
    ${runs}
    ${reasons.map((/** @type {string} */ reason) => html`<p class="soft small">${reason}</p>`)}
  </div>`;
}
