// @ts-check
// A story: it sets the controls, says what to watch, and states nothing that the runs beside it do not give.

import { means, shown } from "../figures.js";
import { html } from "../vendor/htm-preact-3.1.1.js";

/** A comparison of two figures of the runs. A side is a figure's name, or a number.
 * @typedef {{left: string, is: "<" | ">", times?: number, right: string | number}} Claim */
/** @typedef {{id: string, title: string, watch: string, a: any, b: any, packets: number | null, claims: Claim[]}} StoryData */

/** Returns the stories. @returns {Promise<StoryData[]>} */
export async function stories() {
  const answer = await fetch("./stories/stories.json");
  return answer.json();
}

/** Returns the figures of both sides under names such as `a.utilization`.
 * @param {import("../work.js").Found} found @returns {Record<string, number | null>} */
export function slots({ a, b }) {
  const named = (/** @type {string} */ side, /** @type {any} */ runs) =>
    Object.entries(means(runs)).map(([key, value]) => [`${side}.${key}`, value]);
  return Object.fromEntries([...(a ? named("a", a.runs) : []), ...(b ? named("b", b.runs) : [])]);
}

/** Returns a text with its slots such as `{a.utilization}` filled. @param {string} text
 * @param {Record<string, number | null>} figures */
export const filled = (text, figures) =>
  text.replace(/\{([ab])\.(\w+)\}/g, (_, side, key) => (`${side}.${key}` in figures ? shown(key, figures[`${side}.${key}`]) : "…"));

/** Returns true if a claim holds. @param {Claim} claim @param {Record<string, number | null>} figures */
export function holds({ left, is, times = 1, right }, figures) {
  const value = (/** @type {string | number} */ side) => (typeof side === "number" ? side : figures[side]);
  const [x, y] = [value(left), value(right)];
  if (x == null || y == null) return false;
  return is === "<" ? x < times * y : x > times * y;
}

/** @param {{story: StoryData, found: import("../work.js").Found | null, changed: boolean, others: StoryData[], open: (id: string) => void}} props */
export function Story({ story, found, changed, others, open }) {
  const figures = found ? slots(found) : {};
  const ready = found !== null && (found.stage === "seeds" || found.stage === "done");
  const kept = ready && story.claims.every((claim) => holds(claim, figures));
  const verdict = changed ? "changed" : !ready ? "simulating" : kept ? "holds" : "fails";
  const words = {
    changed: "The settings were changed; the sentence may not hold.",
    simulating: "Simulating …",
    holds: "Holds in the runs shown here.",
    fails: "Does not hold in the runs shown here.",
  };
  const place = others.indexOf(story);
  const to = (/** @type {number} */ other, /** @type {string} */ word) =>
    others[other] && html`<button type="button" class="small" onClick=${() => open(others[other].id)}>${word}: ${others[other].title}</button>`;
  return html`<section class="story" aria-label="Story" data-story=${story.id} data-verdict=${verdict}>
    <h2>${story.title}</h2>
    <p aria-live="polite">${filled(story.watch, figures)} <span class=${`verdict ${verdict}`}>${words[verdict]}</span></p>
    <div class="buttons">${to(place - 1, "Before")}${to(place + 1, "Next")}
      <button type="button" class="small" onClick=${() => open("")}>Leave the story</button></div>
  </section>`;
}
