// @ts-check
// The answer: calibrated theory at once, and then what the page's own runs say of it.

import { BUSY, busyWords, rangeOf, recommended } from "../compute/check.js";
import { number, shown } from "../compute/figures.js";
import { SEEDS } from "../compute/work.js";
import { bufferText, bufferWords, rangeWords } from "../question/buffer.js";
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
function Runs({ found, answer, best, inWords }) {
  const { at_least_packets: least, at_most_packets: most } = answer ?? {};
  const fails = found.fails ?? -1;
  const apart = answer && (found.suffices < least || (most != null && fails >= most) || (best !== null && fails >= best));
  return html`<p class="soft small" data-shown>${apart ? "The short runs of the curve below differ from it" : "The short runs of the curve below"}:
    98 % busy from ${inWords(found.suffices)} on${found.fails === null ? "" : `, and less with ${inWords(found.fails)}`}.
    ${" "}<code>goodqueue size</code> proves the number with more runs.</p>`;
}

/** @param {number} packets */
const inPackets = (packets) => `${number(packets)} packet${packets === 1 ? "" : "s"}`;

/** What the runs of the present setting say, and which buffer to take by those of the check.
 * @param {{best: number | null, state: string, tried: import("../compute/check.js").Check["tried"],
 *   side: import("../compute/work.js").Side, question: import("../question/state.js").Question}} props */
function Verdict({ best, state, tried, side: { runs, means }, question }) {
  const { buffer_packets: now } = runs[0];
  const is = (means.utilization?.mean ?? 0) >= BUSY;
  const wait = (/** @type {any} */ of) => shown("p99_queueing_delay_s", of?.p99_queueing_delay_s?.mean);
  const would = tried.find((one) => one.packets === best)?.means;
  const isLarger = is && best !== null && (now ?? Number.POSITIVE_INFINITY) > LARGER * best;
  const take = best !== null && `take ${bufferWords(best, question, question.buffer)}${isFifo(question) ? "" : " in a FIFO"}`;
  const rest = () => {
    if (isLarger) return `1 in 100 packets waits ${wait(means)} or longer; ${take}: ${wait(would)}, and ${would ? busyWords(would) : "–"} busy`;
    if (is) return "this buffer keeps the link busy";
    if (state === "none" && tried.length > 0) return "no buffer that was run keeps the link 98 % busy";
    return take || (state === "none" ? "the curve shows larger buffers" : "the buffer to take is being simulated …");
  };
  return html`<p class="verdict" data-verdict-of-runs data-excess=${isLarger ? "" : undefined}>${runs.length === 1 ? "This run" : `These ${runs.length} runs`}: ${busyWords(means)} busy; ${rest()}.</p>`;
}

/** Returns the headline: what the runs say of the answer of calibrated theory.
 * @param {any} answer @param {import("../compute/check.js").Check | null} check @param {string} link
 * @param {(packets: number) => string} inWords @param {(least: number, most: number) => string} between */
function headline(answer, check, link, inWords, between) {
  const { packets, state } = recommended(answer, check);
  const tried = check?.tried ?? [];
  const theory = tried.find((one) => one.packets === answer.packets);
  const busy = theory && busyWords(theory.means);
  if (state === "none") {
    const most = tried[tried.length - 1];
    return `No buffer up to ${inWords(most.packets)} keeps this link 98 % busy in the runs of this page: it is ${busy} busy with the ${inWords(answer.packets)} of calibrated theory, and ${busyWords(most.means)} with ${inWords(most.packets)}.`;
  }
  if (state === "searching" && busy && theory.means.utilization && theory.means.utilization.mean < BUSY) return `Calibrated theory says ${inWords(answer.packets)}, but the link is ${busy} busy with them. Larger buffers are simulated …`;
  if (packets === null || check === null) return `Calibrated theory says ${inWords(answer.packets)}. Runs check it …`;
  const { least, most } = rangeOf(answer, check, packets);
  const range = most === null ? `${inWords(least)} or more` : least === most ? "" : between(least, most);
  const why = state === "larger" ? `: with the ${inWords(answer.packets)} of calibrated theory it is ${busy} busy` : state === "smaller" ? `, less than the ${inWords(answer.packets)} of calibrated theory` : "";
  return html`${link} needs a buffer of <b class="big" data-packets=${packets}>${inWords(packets)}</b> ${range && html`<span data-range>(${range})</span>`}${why}.`;
}

/** Returns the utilisations of the buffers that were run for the answer.
 * @param {import("../compute/check.js").Check} check @param {(packets: number) => string} inWords */
function triedInWords({ tried, ended }, inWords) {
  const each = tried.map(({ packets, means }) => `${busyWords(means)} with ${inWords(packets)}`);
  return `Utilisation in ${SEEDS} runs of this page for each buffer: ${each.join(", ")}${ended ? "." : " …"}`;
}

/** @param {any} props */
export function Answer({ instant, question, side, check, change }) {
  const { answer } = instant;
  const inWords = (/** @type {number} */ packets) => bufferWords(packets, question, question.buffer);
  const found = isFifo(question) ? shownBy(side) : null;
  const { packets: best, state } = answer?.packets == null ? { packets: null, state: "none" } : recommended(answer, check);
  const runs = found && html`<${Runs} found=${found} answer=${answer?.packets == null ? null : answer} best=${best} inWords=${inWords} />`;
  const verdict = html`<${Verdict} best=${best} state=${state} tried=${check?.tried ?? []} side=${side} question=${question} />`;
  if (!answer) return html`<div class="answer"><p>Calibrated theory does not cover ${question.control}. The runs show what a buffer does.</p>${verdict}${runs}</div>`;
  if (answer.packets == null) return html`<div class="answer"><p>By calibrated theory no buffer keeps this link 98 % busy.</p>${verdict}${runs}</div>`;
  const { packets, seconds, bdp, at_least_packets: least, at_most_packets: most } = answer;
  const range = most == null ? `${number(least)} or more` : most === least ? number(least) : `${number(least)} to ${number(most)}`;
  const reasons = doubts(answer, question);
  const isUsed = isFifo(question) && side.runs[0].buffer_packets === best;
  const link = isFifo(question) ? "This link" : "With a FIFO this link";
  const use = () => change({ queue: "drop_tail", queueKeys: "", buffer: bufferText(/** @type {number} */ (best), question, question.buffer) });
  return html`<div class="answer" data-answer=${state}>
    <h2>${headline(answer, check, link, inWords, (low, high) => rangeWords(low, high, question, question.buffer))}
      ${best !== null && !isUsed && html` <button type="button" class="small" onClick=${use}>Use this buffer</button>`}</h2>
    ${verdict}
    <details><summary>How this was found</summary>
      <p class="small">${inPackets(packets)} in a FIFO = ${number(seconds * 1e3)} ms = ${number(bdp)} BDP: 98 % busy by calibrated theory.
        ${" "}With 90 % probability a simulation finds ${range} packets.${check && html` <span data-tried>${triedInWords(check, inWords)}</span>`}</p>
      ${runs}
      ${reasons.length > 0 && html`<p class="soft small">Calibrated theory is unsure of this link.</p>`}
      ${reasons.map((/** @type {string} */ reason) => html`<p class="soft small">${reason}</p>`)}
    </details>
  </div>`;
}
