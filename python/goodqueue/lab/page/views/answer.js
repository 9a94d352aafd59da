// @ts-check
// The answer: calibrated theory at once, and then what the page's own runs say of it.

import { BUSY, busyWords, recommended } from "../compute/check.js";
import { number, shown } from "../compute/figures.js";
import { SEEDS } from "../compute/work.js";
import { isFifo, isLossy } from "../question/scenario.js";
import { WORDS } from "../question/state.js";
import { html } from "../vendor/htm-preact-3.1.1.js";

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
  const given = { others: others > 0, loss: isLossy(loss), profile: profile !== "linux", tcpKeys: tcpKeys.trim() !== "" };
  const left = Object.entries(given).filter(([, is]) => is).map(([key]) => WORDS[/** @type {keyof typeof given} */ (key)]);
  const outside = answer.outside_fitted_range.map((/** @type {string} */ reason) => `Outside the fitted range: ${reason}`);
  return left.length > 0 ? [...outside, `The formula leaves out: ${left.join(", ")}.`] : outside;
}

/** Returns true if calibrated theory is unsure of a link.
 * @param {any} answer @param {import("../question/state.js").Question} question */
export const isUnsureOf = (answer, question) => answer.at_most_packets == null || doubts(answer, question).length > 0;

/** What the runs of the curve show; `best` is the recommended buffer, or null.
 * @param {any} props */
function Runs({ found, answer, best }) {
  const { at_least_packets: least, at_most_packets: most } = answer ?? {};
  const fails = found.fails ?? -1;
  const apart = answer && (found.suffices < least || (most != null && fails >= most) || (best !== null && fails >= best));
  return html`<p class="soft small" data-shown>${apart ? "The short runs of the curve below differ from it" : "The short runs of the curve below"}:
    98 % busy from ${number(found.suffices)} packets on${found.fails === null ? "" : `, and less with ${number(found.fails)}`}.
    ${" "}<code>goodqueue size</code> proves the number with more runs.</p>`;
}

/** What the buffer of the controls costs in place of the recommended one.
 * @param {{packets: number, tried: import("../compute/check.js").Check["tried"], side: import("../compute/work.js").Side}} props */
function Excess({ packets, tried, side: { runs: [run], means } }) {
  if (!((run.buffer_packets ?? 0) > LARGER * packets)) return null;
  const would = tried.find((one) => one.packets === packets)?.means;
  const wait = (/** @type {any} */ of) => shown("p99_queueing_delay_s", of?.p99_queueing_delay_s?.mean);
  return html`<p data-excess>Now ${shown("buffer_packets", run.buffer_packets)} may wait, and 1 in 100 waits ${wait(means)} or longer.
    With ${number(packets)} it is ${wait(would)}, and the link is ${would && busyWords(would)} busy.</p>`;
}

/** @param {number} packets */
const inPackets = (packets) => `${number(packets)} packet${packets === 1 ? "" : "s"}`;

/** Returns the headline: what the runs say of the answer of calibrated theory.
 * @param {any} answer @param {import("../compute/check.js").Check | null} check @param {string} link @param {boolean} isUnsure */
function headline(answer, check, link, isUnsure) {
  const { packets, state } = recommended(answer, check);
  const theory = inPackets(answer.packets);
  const tried = check?.tried ?? [];
  const busy = tried.length > 0 && busyWords(tried[0].means);
  if (state === "larger") return `${link} needs a buffer of ${inPackets(Number(packets))}: with the ${number(answer.packets)} of calibrated theory it is ${busy} busy.`;
  if (state === "none") {
    const most = tried[tried.length - 1];
    return `No buffer up to ${inPackets(most.packets)} keeps this link 98 % busy in the runs of this page: it is ${busy} busy with the ${number(answer.packets)} of calibrated theory, and ${busyWords(most.means)} with ${number(most.packets)}.`;
  }
  if (state === "searching") return `Calibrated theory says ${theory}, but the link is ${busy} busy with them. Larger buffers are simulated …`;
  if (isUnsure) return `Calibrated theory says ${theory}, but is unsure of this link.`;
  return state === "checking" ? `Calibrated theory says ${theory}. Runs check it …` : `${link} needs a buffer of ${theory}.`;
}

/** Returns the utilisations of the buffers that were run for the answer.
 * @param {import("../compute/check.js").Check} check */
function triedInWords({ tried, ended }) {
  const each = tried.map(({ packets, means }) => `${busyWords(means)} with ${inPackets(packets)}`);
  return `Utilisation in ${SEEDS} runs of this page for each buffer: ${each.join(", ")}${ended ? "." : " …"}`;
}

/** @param {any} props */
export function Answer({ instant, question, side, check, change }) {
  const { answer } = instant;
  const found = isFifo(question) ? shownBy(side) : null;
  const { packets: best, state } = answer?.packets == null ? { packets: null, state: "none" } : recommended(answer, check);
  const runs = found && html`<${Runs} found=${found} answer=${answer?.packets == null ? null : answer} best=${best} />`;
  if (!answer) return html`<div class="answer"><p>Calibrated theory does not cover ${question.control}. The runs show what a buffer does.</p>${runs}</div>`;
  if (answer.packets == null) return html`<div class="answer"><p>By calibrated theory no buffer keeps this link 98 % busy.</p>${runs}</div>`;
  const { packets, seconds, bdp, at_least_packets: least, at_most_packets: most } = answer;
  const range = most == null ? `${number(least)} or more` : most === least ? number(least) : `${number(least)} to ${number(most)}`;
  const reasons = doubts(answer, question);
  const isUsed = isFifo(question) && side.runs[0].buffer_packets === best;
  const link = isFifo(question) ? "This link" : "With a FIFO this link";
  return html`<div class="answer" data-answer=${state}>
    <h2>${headline(answer, check, link, isUnsureOf(answer, question))}
      ${best !== null && !isUsed && html` <button type="button" class="small" onClick=${() => change({ queue: "drop_tail", queueKeys: "", buffer: `${best}p` })}>Use this buffer</button>`}</h2>
    ${best !== null && isFifo(question) && html`<${Excess} packets=${best} tried=${check.tried} side=${side} />`}
    <p class="small">${inPackets(packets)} in a FIFO = ${number(seconds * 1e3)} ms = ${number(bdp)} BDP: 98 % busy by calibrated theory.
      ${" "}With 90 % probability a simulation finds ${range} packets.${check && html` <span data-tried>${triedInWords(check)}</span>`}</p>
    ${runs}
    ${reasons.length > 0 && html`<p class="soft small">Calibrated theory is unsure of this link.</p>`}
    ${reasons.map((/** @type {string} */ reason) => html`<p class="soft small">${reason}</p>`)}
  </div>`;
}
