// @ts-check
// Tiles with the figures of one or two settings, and their differences.

import { FIGURES, difference, number, over, shown } from "../figures.js";
import { html } from "../vendor/htm-preact-3.1.1.js";

const TILES = ["utilization", "loss_rate", "p99_queueing_delay_s", "mean_queueing_delay_s", "jain_index", "ping_s", "others_share"];

/** @param {{found: import("../work.js").Found, names: {a: string, b: string}}} props */
export function Tiles({ found: { a, b, stage }, names }) {
  if (!a) return null;
  const has = (/** @type {string} */ key) => [a, b].some((side) => side && over(side.runs, key) !== null);
  const keys = TILES.filter(has);
  const seconds = a.picture.duration_s;
  const count = a.runs.length;
  const runs = count === 1 ? "One run, one seed" : `Means of ${count} runs with different seeds, and 95 % intervals`;
  return html`<section aria-label="Figures of the runs" class="results" data-stage=${stage}>
    <div class="tiles">${keys.map((key) => (b ? Both({ key, a, b }) : One({ key, a })))}</div>
    <p class="soft small">${b && html`<b class="side">A</b> ${names.a} · <b class="side">B</b> ${names.b}. `}
      ${Buffer({ a, b })} ${runs}, ${number(seconds)} simulated seconds each.
      ${stage !== "done" && html`<span class="busy">Simulating …</span>`}</p>
  </section>`;
}

/** @param {any} props */
function One({ key, a }) {
  const found = over(a.runs, key);
  const last = a.runs[0];
  const note = key === "loss_rate" ? `${number(last.drops)} dropped, ${number(last.marks)} marked` : "";
  return html`<div class="tile" key=${key}><span class="soft">${FIGURES[key].name}</span>
    <b data-figure=${key}>${shown(key, found?.mean)}</b><span class="soft">${plusMinus(key, found) || note || "\u00a0"}</span></div>`;
}

/** @param {any} props */
function Both({ key, a, b }) {
  const change = difference(a.runs, b.runs, key);
  const sure = change && Number.isFinite(change.half) && Math.abs(change.mean) > change.half;
  const side = (/** @type {string} */ name, /** @type {any} */ runs) => html`<span class="pairing"><span class="side">${name}</span>
    <b data-figure=${`${name.toLowerCase()}.${key}`}>${shown(key, over(runs, key)?.mean)}</b></span>`;
  return html`<div class="tile" key=${key}><span class="soft">${FIGURES[key].name}</span>
    ${side("A", a.runs)}${side("B", b.runs)}
    <span class=${sure ? "" : "soft"} data-difference=${key}>${change === null ? "–" : `B − A: ${signed(key, change.mean)}${plusMinus(key, change, " ")}`}</span></div>`;
}

/** @param {string} key @param {number} value */
const signed = (key, value) => (value > 0 ? "+" : "") + shown(key, value);

/** @param {string} key @param {{half: number} | null} found */
const plusMinus = (key, found, before = "") =>
  found && Number.isFinite(found.half) ? `${before}±\u00a0${shown(key, found.half)}` : "";

/** @param {any} props */
function Buffer({ a, b }) {
  const sizes = (/** @type {any} */ side) => {
    const run = side.runs[0];
    const known = ["buffer_packets", "buffer_s", "buffer_bdp"].filter((key) => run[key] !== null);
    return known.length === 0 ? "unlimited" : known.map((key) => shown(key, run[key])).join(" = ");
  };
  const words = b && sizes(b) !== sizes(a) ? `${sizes(a)} (A), ${sizes(b)} (B)` : sizes(a);
  return `Buffer: ${words}.`;
}
