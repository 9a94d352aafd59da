// @ts-check
// A story: it sets the controls, says what to watch, and states nothing that the runs beside it do not give.

import { FIGURES, shown } from "../compute/figures.js";
import { SEEDS } from "../compute/work.js";
import { USUAL, toHash } from "../question/state.js";
import { html } from "../vendor/htm-preact-3.1.1.js";

/** A comparison of a figure of the runs with a number, or with a multiple of another figure. `fails` are settings of both
 * sides with which it does not hold, which a test shows.
 * @typedef {{left: string, is: "<" | ">", times?: number, right: string | number, fails: {a?: any, b?: any}}} Claim */
/** A question before the runs, with the number of the right choice and the reason.
 * @typedef {{question: string, choices: string[], right: number, why: string}} Guess */
/** @typedef {{id: string, title: string, watch: string, a: any, b: any, packets: number | null, claims: Claim[], guess?: Guess}} StoryData */
/** Stories that belong together, in their order: a lesson, or a shelf.
 * @typedef {{title: string, steps: string[]}} Shelf */

/** Returns the stories and their shelves.
 * @returns {Promise<{stories: StoryData[], shelves: Shelf[]}>} */
export async function library() {
  const [found, shelves] = await Promise.all(["stories", "shelves"].map((name) => fetch(`./stories/${name}.json`)));
  return { stories: await found.json(), shelves: await shelves.json() };
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

/** The question of a step, whose runs are shown after a choice.
 * @param {{guess: Guess, choose: (choice: number) => void}} props */
const Question = ({ guess, choose }) => html`<p>${guess.question}</p>
  <div class="buttons" role="group" aria-label="What do you expect?">${guess.choices.map((words, choice) =>
    html`<button type="button" onClick=${() => choose(choice)}>${words}</button>`)}</div>`;

/** What was guessed beside what is right, with the reason.
 * @param {{guess: Guess, choice: number}} props */
const Reason = ({ guess, choice }) => html`<p class="reason" data-right=${choice === guess.right}>${choice === guess.right
  ? html`Your guess is right: <b>${guess.choices[choice]}</b>.`
  : html`Your guess was “${guess.choices[choice]}”. Right is: <b>${guess.choices[guess.right]}</b>.`} ${guess.why}</p>`;

/** Returns the address of the place of a story on its shelf, in words.
 * @param {Shelf | undefined} shelf @param {string} id */
const placeOf = (shelf, id) => (shelf ? `${shelf.title}, ${shelf.steps.indexOf(id) + 1} of ${shelf.steps.length}` : "");

/** @param {{story: StoryData, found: import("../compute/work.js").Found | null, failed: boolean, changed: boolean, others: StoryData[],
 *   shelves: Shelf[], choice: number | undefined, choose: (choice: number) => void, open: (id: string) => void}} props
 *   `choice` is the guess of the reader, if the story asks for one and has it. */
export function Story({ story, found, failed, changed, others, shelves, choice, choose, open }) {
  const place = others.indexOf(story);
  const to = (/** @type {number} */ other, /** @type {string} */ word) =>
    others[other] && html`<button type="button" class="small" onClick=${() => open(others[other].id)}>${word}: ${others[other].title}</button>`;
  const shelf = shelves.find((one) => one.steps.includes(story.id));
  const asks = story.guess !== undefined && choice === undefined && !changed;
  return html`<section class="story" aria-label="Story" data-story=${story.id} data-verdict=${asks ? "asking" : verdictOf(story, found, failed, changed)}>
    <h2>${story.title} <span class="soft small">${placeOf(shelf, story.id)}</span></h2>
    ${asks ? html`<${Question} guess=${story.guess} choose=${choose} />` : html`<${Told} story=${story} found=${found} failed=${failed} changed=${changed} choice=${choice} />`}
    <div class="buttons">${changed && html`<button type="button" class="small" onClick=${() => open(story.id)}>Back to its settings</button>`}${to(place - 1, "Before")}${to(place + 1, "Next")}
      <button type="button" class="small" onClick=${() => open("")}>Leave the story</button></div>
  </section>`;
}

/** Returns how the runs stand to the claims of a story.
 * @param {StoryData} story @param {import("../compute/work.js").Found | null} found @param {boolean} failed @param {boolean} changed */
function verdictOf(story, found, failed, changed) {
  if (changed) return "changed";
  if (found?.a?.runs.length !== SEEDS) return failed ? "stopped" : "simulating";
  return story.claims.every((claim) => holds(claim, slots(found))) ? "holds" : "fails";
}

const VERDICTS = {
  changed: "The settings were changed, so the story may not hold.",
  simulating: "Simulating …",
  stopped: "Not simulated, for the reason below.",
  holds: "Holds in the runs shown here.",
  fails: "Does not hold in the runs shown here.",
};

/** What the runs of a story show.
 * @param {{story: StoryData, found: import("../compute/work.js").Found | null, failed: boolean, changed: boolean, choice: number | undefined}} props */
function Told({ story, found, failed, changed, choice }) {
  const figures = found ? slots(found) : {};
  const verdict = verdictOf(story, found, failed, changed);
  const text = filled(story.watch, figures);
  // The sentence has no figures of a setting that was closed, or that was not simulated.
  const isWhole = !(changed || verdict === "stopped") || !text.includes("…");
  return html`<p aria-live="polite">${isWhole && `${text} `}<span class=${`verdict ${verdict}`}>${VERDICTS[verdict]}</span></p>
    ${story.guess && choice !== undefined && html`<${Reason} guess=${story.guess} choice=${choice} />`}
    ${found?.a?.runs.length === SEEDS && !changed && html`<${Checked} claims=${story.claims} figures=${figures} />`}`;
}
