// @ts-check
// The instant answer of calibrated theory.

import { number } from "../compute/figures.js";
import { html } from "../vendor/htm-preact-3.1.1.js";

/** Utilisation that the answer keeps. */
const BUSY = 0.98;

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

/** @param {any} props */
export function Answer({ instant, question, side, change }) {
  const { answer } = instant;
  if (!answer) return html`<p class="answer">Calibrated theory does not cover ${question.control}; the runs show what a buffer does.</p>`;
  if (answer.packets == null) return html`<p class="answer">By calibrated theory no buffer keeps this link 98 % busy.</p>`;
  const end = answer.at_most_packets == null ? "any number" : number(answer.at_most_packets);
  const found = end === number(answer.at_least_packets) ? `${end}` : `${number(answer.at_least_packets)} to ${end}`;
  const shown = question.queue === "drop_tail" ? shownBy(side) : null;
  return html`<div class="answer">
    <h2>A FIFO needs ${number(answer.packets)} packets = ${number(answer.seconds * 1e3)} ms = ${number(answer.bdp)} BDP to keep this link 98 % busy.</h2>
    <p>By calibrated theory, without simulation; with 90 % probability a simulation finds ${found} packets.${" "}
      <button type="button" class="small" onClick=${() => change({ queue: "drop_tail", buffer: `${answer.packets}p` })}>Use this buffer</button></p>
    ${shown && html`<p class="soft small" data-shown>The runs of the curve below: 98 % busy from ${number(shown.suffices)} packets
      on${shown.fails === null ? "" : `, and less with ${number(shown.fails)}`}. <code>goodqueue size</code> proves the number with more runs.</p>`}
    ${answer.outside_fitted_range.map((/** @type {string} */ reason) => html`<p class="soft small">Outside the fitted range: ${reason}</p>`)}
  </div>`;
}
