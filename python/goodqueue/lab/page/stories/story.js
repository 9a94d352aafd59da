// @ts-check
// A story: it sets the controls, says what to watch, and states nothing that the runs beside it do not give.

import { FIGURES, shown } from "../compute/figures.js";
import { SEEDS } from "../compute/work.js";
import { USUAL, toHash } from "../question/state.js";
import { html } from "../vendor/htm-preact-3.1.1.js";

/** A comparison of a figure of the runs with a number, or with a multiple of another figure. `fails` are settings of both
 * sides with which it does not hold, which a test shows.
 * @typedef {{left: string, is: "<" | ">", times?: number, right: string | number, fails: {a?: any, b?: any}}} Claim */
/** @typedef {{id: string, title: string, watch: string, a: any, b: any, packets: number | null, claims: Claim[]}} StoryData */

/** Returns the stories.
 * @returns {Promise<StoryData[]>} */
export async function stories() {
  const answer = await fetch("./stories/stories.json");
  return answer.json();
}

/** Returns the state that a story sets.
 * @param {StoryData} story */
export function stateOf({ id, a, b, packets }) {
  const question = { ...USUAL, ...a };
  return { a: question, b: b && { ...question, ...b }, file: "", over: {}, story: id, watch: packets, notes: [] };
}

/** Returns true if the controls are no longer those of the story.
 * @param {import("../question/state.js").State} state @param {StoryData} story */
export const isChanged = (state, story) => toHash({ ...stateOf(story), watch: null }) !== toHash({ ...state, watch: null });

/** Returns the figures of both sides under names such as `a.utilization`.
 * @param {import("../compute/work.js").Found} found @returns {Record<string, number | null>} */
export function slots({ a, b }) {
  const named = (/** @type {string} */ name, /** @type {import("../compute/work.js").Side | null} */ side) =>
    Object.entries(side?.means ?? {}).map(([key, value]) => [`${name}.${key}`, value?.mean ?? null]);
  return Object.fromEntries([...named("a", a), ...named("b", b)]);
}

/** Returns a text with its slots such as `{a.utilization}` filled.
 * @param {string} text
 * @param {Record<string, number | null>} figures */
export const filled = (text, figures) =>
  text.replace(/\{([ab])\.(\w+)\}/g, (_, side, key) => (`${side}.${key}` in figures ? shown(key, figures[`${side}.${key}`]) : "…"));

/** Returns true if a claim holds.
 * @param {Claim} claim @param {Record<string, number | null>} figures */
export function holds({ left, is, times = 1, right }, figures) {
  const value = (/** @type {string | number} */ side) => (typeof side === "number" ? side : figures[side]);
  const [x, y] = [value(left), value(right)];
  if (x == null || y == null) return false;
  return is === "<" ? x < times * y : x > times * y;
}

/** Returns a claim in words, with the figures of the runs.
 * @param {Claim} claim @param {Record<string, number | null>} figures */
export function claimInWords({ left, is, times = 1, right }, figures) {
  const [side, key] = left.split(".");
  const name = `${FIGURES[key].name} of ${side.toUpperCase()}, ${shown(key, figures[left])}`;
  const than = is === "<" ? "below" : "above";
  if (typeof right === "number") return `${name}: ${than} ${shown(key, right)}`;
  const [other] = right.split(".");
  return `${name}: ${than} ${times} × ${other.toUpperCase()}’s ${shown(key, figures[right])}`;
}

/** The claims that were checked, each with its verdict.
 * @param {{claims: Claim[], figures: Record<string, number | null>}} props */
const Checked = ({ claims, figures }) => html`<ul class="claims small">${claims.map((claim) => {
  const isKept = holds(claim, figures);
  return html`<li class=${isKept ? "kept" : "broken"}>${isKept ? "✓" : "✗"} ${claimInWords(claim, figures)}</li>`;
})}</ul>`;

/** @param {{story: StoryData, found: import("../compute/work.js").Found | null, failed: boolean, changed: boolean, others: StoryData[], open: (id: string) => void}} props */
export function Story({ story, found, failed, changed, others, open }) {
  const figures = found ? slots(found) : {};
  const ready = found?.a?.runs.length === SEEDS;
  const kept = ready && story.claims.every((claim) => holds(claim, figures));
  const verdict = changed ? "changed" : ready ? (kept ? "holds" : "fails") : failed ? "stopped" : "simulating";
  const words = {
    changed: "The settings were changed, so the story may not hold.",
    simulating: "Simulating …",
    stopped: "Not simulated, for the reason below.",
    holds: "Holds in the runs shown here.",
    fails: "Does not hold in the runs shown here.",
  };
  const text = filled(story.watch, figures);
  // The sentence has no figures of a setting that was closed, or that was not simulated.
  const isWhole = !(changed || verdict === "stopped") || !text.includes("…");
  const place = others.indexOf(story);
  const to = (/** @type {number} */ other, /** @type {string} */ word) =>
    others[other] && html`<button type="button" class="small" onClick=${() => open(others[other].id)}>${word}: ${others[other].title}</button>`;
  return html`<section class="story" aria-label="Story" data-story=${story.id} data-verdict=${verdict}>
    <h2>${story.title}</h2>
    <p aria-live="polite">${isWhole && `${text} `}<span class=${`verdict ${verdict}`}>${words[verdict]}</span></p>
    ${!changed && ready && html`<${Checked} claims=${story.claims} figures=${figures} />`}
    <div class="buttons">${changed && html`<button type="button" class="small" onClick=${() => open(story.id)}>Back to its settings</button>`}${to(place - 1, "Before")}${to(place + 1, "Next")}
      <button type="button" class="small" onClick=${() => open("")}>Leave the story</button></div>
  </section>`;
}
