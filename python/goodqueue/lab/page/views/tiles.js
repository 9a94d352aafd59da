// @ts-check
// Tiles with the figures of one or two settings, and their differences.

import { felt } from "../compute/felt.js";
import { FIGURES, number, shown, spread } from "../compute/figures.js";
import { sizedRtt } from "../question/scenario.js";
import { html } from "../vendor/htm-preact-3.1.1.js";

/** Figures in their order. The first that is known is printed largest: what a buffer costs. */
const TILES = ["ping_s", "p99_queueing_delay_s", "utilization", "loss_rate", "mean_queueing_delay_s", "jain_index", "others_share"];

/** What follows the figures, by the last finished step.
 * @param {string} stage @param {number} share */
function progress(stage, share) {
  if (stage === "done") return "";
  if (stage === "stopped") return html`<span class="stopped">Not all of the simulation was made.</span>`;
  return html`<span class="busy">Simulating${stage === "first" && share > 0 ? ` (${Math.round(100 * share)} %)` : ""} …</span>`;
}

/** @param {{found: import("../compute/work.js").Found, names: {a: string, b: string}, questions: import("../question/state.js").Question[],
 *   spread: boolean, setSpread: (is: boolean) => void}} props `spread` is true if intervals are shown */
export function Tiles({ found: { a, b, change, share, stage }, names, questions, spread: shows, setSpread }) {
  if (!a) return null;
  const has = (/** @type {string} */ key) => [a, b].some((side) => side?.means[key]);
  const keys = TILES.filter(has);
  const seconds = a.picture.duration_s;
  const count = a.runs.length;
  const length = `${number(seconds)} simulated seconds`;
  const runs = count === 1 ? `One run of ${length}` : `Means of ${count} runs with different seeds${shows ? ", and 95 % intervals" : ""}, ${length} each`;
  return html`<section aria-label="Figures of the runs" class="results" data-stage=${stage}>
    <div class="tiles">${keys.map((key) => (b ? Both({ key, a, b, change: change?.[key], shows }) : One({ key, a, shows })))}</div>
    ${Felt({ a, b, questions })}
    <p class="soft small">${b && html`<b class="side side-a">A</b> ${names.a} · <b class="side side-b">B</b> ${names.b}. `}
      ${Buffer({ a, b })} ${questions.map(meant)}${runs}.${" "}
      ${progress(stage, share)}
      ${count > 1 && html` <button type="button" class="small" aria-pressed=${shows} onClick=${() => setSpread(!shows)}>± intervals</button>`}</p>
  </section>`;
}

/** What the waiting means for a person.
 * @param {any} props */
function Felt({ a, b, questions }) {
  const words = [a, b].filter(Boolean).map(({ means }, i) => felt(means, questions[i] ?? null));
  if (words.includes(null)) return null;
  const [one, other] = words;
  return html`<p data-felt>${b ? html`<b class="side side-a">A</b>: ${one}. <b class="side side-b">B</b>: ${other}.` : `While the flows send, ${one}.`}</p>`;
}

/** @param {any} props */
function One({ key, a, shows }) {
  const found = a.means[key];
  const last = a.runs[0];
  const note = key === "loss_rate" ? `${number(last.drops)} dropped, ${number(last.marks)} marked` : "";
  return html`<div class="tile" key=${key}><span class="soft">${FIGURES[key].name}</span>
    <b data-figure=${key}>${shown(key, found?.mean)}</b><span class=${`soft ${shows ? "" : "counts"}`}>${(shows && spread(key, found)) || note}</span></div>`;
}

/** @param {any} props */
function Both({ key, a, b, change, shows }) {
  const sure = change?.half != null && Math.abs(change.mean) > change.half;
  const side = (/** @type {string} */ name, /** @type {any} */ means) => html`<span class="pairing"><span class=${`side side-${name.toLowerCase()}`}>${name}</span>
    <b data-figure=${`${name.toLowerCase()}.${key}`}>${shown(key, means[key]?.mean)}</b></span>`;
  return html`<div class="tile" key=${key}><span class="soft">${FIGURES[key].name}</span>
    ${side("A", a.means)}${side("B", b.means)}
    <span class=${sure ? "" : "soft"} data-difference=${key}>${change ? `B − A: ${signed(key, change.mean)} ${shows ? spread(key, change) : ""}` : "–"}</span></div>`;
}

/** @param {string} key @param {number} value */
const signed = (key, value) => (value > 0 ? "+" : "") + shown(key, value);

/** Returns the round-trip time of the single flow of a range or a list.
 * @param {import("../question/state.js").Question} question */
function meant(question) {
  const rtt = sizedRtt(question);
  return rtt === question.rtt ? "" : `The single flow of ${question.rtt} has their mean as its base round-trip time, ${rtt}. `;
}

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
