// @ts-check
// The instant answer of calibrated theory.

import { number } from "../compute/figures.js";
import { html } from "../vendor/htm-preact-3.1.1.js";

/** @param {any} props */
export function Answer({ instant, question, change }) {
  const { answer } = instant;
  if (!answer) return html`<p class="answer">Calibrated theory does not cover ${question.control}; the runs show what a buffer does.</p>`;
  if (answer.packets == null) return html`<p class="answer">By calibrated theory no buffer keeps this link 98 % busy.</p>`;
  const end = answer.at_most_packets == null ? "any number" : number(answer.at_most_packets);
  const found = end === number(answer.at_least_packets) ? `${end}` : `${number(answer.at_least_packets)} to ${end}`;
  return html`<div class="answer">
    <h2>A FIFO needs ${number(answer.packets)} packets = ${number(answer.seconds * 1e3)} ms = ${number(answer.bdp)} BDP to keep this link 98 % busy.</h2>
    <p>By calibrated theory, without simulation; with 90 % probability a simulation finds ${found} packets.${" "}
      <button type="button" class="small" onClick=${() => change({ queue: "drop_tail", buffer: `${answer.packets}p` })}>Use this buffer</button></p>
    ${answer.outside_fitted_range.map((/** @type {string} */ reason) => html`<p class="soft small">Outside the fitted range: ${reason}</p>`)}
  </div>`;
}
