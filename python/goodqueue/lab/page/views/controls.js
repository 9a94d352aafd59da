// @ts-check
// The controls of one question: sliders beside texts with units, choices, and what is rarely changed.

import { bdpOf, bufferText, packetsOf } from "../question/buffer.js";
import { roughRate, roughRtt } from "../question/scenario.js";
import { LINKS, PRESETS, USUAL, differing, whole } from "../question/state.js";
import { html } from "../vendor/htm-preact-3.1.1.js";

/** Steps of a slider. */
const STEPS = 200;

/** @param {{question: import("../question/state.js").Question, change: (part: any, note?: string) => void, names: any, legend: any,
 *   begin: (link: {a: any, b?: any}) => void}} props */
export function Controls({ question, change, names, legend, begin }) {
  const set = (/** @type {string} */ key) => (/** @type {any} */ value) => change({ [key]: value });
  const count = (/** @type {"flows" | "others" | "seed"} */ key) => (/** @type {any} */ text) => {
    const { value, note } = whole(key, text, question[key]);
    change({ [key]: value }, note);
  };
  const scaled = (/** @type {keyof typeof SLIDERS} */ key) => html`<${Scaled} ...${SLIDERS[key]}
    link=${question} text=${String(question[key])} set=${key === "flows" ? count("flows") : set(key)} />`;
  const known = LINKS.find(({ a }) => isLike(question, { ...USUAL, ...a }));
  return html`<form onSubmit=${(/** @type {Event} */ event) => event.preventDefault()} aria-label="The link and its traffic">
    ${legend}
    <div class="links" role="group" aria-label="Links of homes">${LINKS.map((one) => html`<button type="button" aria-pressed=${one === known} onClick=${() => begin(one)}>${one.name}</button>`)}</div>
    ${scaled("buffer")}
    <details class="own" open=${!known}><summary>Your own link</summary>
    ${(/** @type {const} */ (["rate", "rtt", "flows"])).map(scaled)}
    <div class="two">
      <${Choice} name="Queue" value=${question.queue} choices=${names.queues} set=${set("queue")} />
      <${Choice} name="Congestion control" value=${question.control} choices=${names.controls} set=${set("control")} />
    </div>
    <label>Further links<select aria-label="Links to begin with" onChange=${(/** @type {any} */ event) => { const one = PRESETS[Number(event.target.value)]; event.target.value = ""; if (one) begin(one); }}>
      <option value="">Begin with …</option>${PRESETS.map(({ name }, i) => html`<option value=${i}>${name}</option>`)}</select></label>
    <details open=${isRare(question)}><summary>More</summary>
      <div class="two">
        <${Text} name="Other flows" value=${String(question.others)} set=${count("others")} />
        <${Choice} name="Their control" value=${question.otherControl} choices=${names.controls} set=${set("otherControl")} />
        <${Choice} name="Hosts' TCP" value=${question.profile} choices=${["linux", "rfc"]} set=${set("profile")} />
        <${Text} name="Random loss" value=${question.loss} set=${set("loss")} />
        <${Text} name="Starts within" value=${question.stagger} set=${set("stagger")} />
        <${Text} name="Seed" value=${String(question.seed)} set=${count("seed")} />
      </div>
      <${Text} name="Queue's parameters" value=${question.queueKeys} set=${set("queueKeys")} hint="ecn = true" />
      <${Text} name="TCP's parameters" value=${question.tcpKeys} set=${set("tcpKeys")} hint="pacing = true" />
      <label class="tick"><input type="checkbox" checked=${question.ping} onChange=${(/** @type {any} */ event) => change({ ping: event.target.checked })} />
        A ping every 100 ms</label>
    </details>
    <p class="soft small">Values carry units, as in scenario files: 10Mbps, 20ms..80ms, 1bdp, 100p, 50ms, 64KiB.</p></details>
  </form>`;
}

/** Returns true if two questions differ in the buffer and its queue at most.
 * @param {import("../question/state.js").Question} question @param {import("../question/state.js").Question} other */
const isLike = (question, other) => differing(question, other).every((key) => ["buffer", "queue", "queueKeys"].includes(key));

/** Returns true if a question uses one of the rare controls.
 * @param {import("../question/state.js").Question} question */
const isRare = ({ others, profile, loss, stagger, seed, queueKeys, tcpKeys, ping }) =>
  others > 0 || profile !== "linux" || loss !== "0%" || stagger !== "1s" || seed !== 1 || queueKeys !== "" || tcpKeys !== "" || ping;

/** A slider of a link: its label, its ends, its place for a text, and the text of a place.
 * @typedef {{name: string, low: number, high: number, read: (text: string, link: {rate: string, rtt: string}) => number,
 *   write: (value: number, link: {rate: string, rtt: string}, text: string) => string}} Slider
 *   `write` gets the text before, too. */

/** @type {Record<"rate" | "rtt" | "flows" | "buffer", Slider>} */
export const SLIDERS = {
  rate: { name: "Rate", low: 5e5, high: 1e9, read: roughRate, write: rateText },
  rtt: { name: "Base round-trip time", low: 0.002, high: 0.6, read: roughRtt, write: (/** @type {number} */ v) => `${short(v * 1e3)}ms` },
  flows: { name: "Flows", low: 1, high: 200, read: Number, write: (/** @type {number} */ v) => String(Math.round(v)) },
  buffer: { name: "Buffer", low: 0.01, high: 16, read: (text, link) => packetsOf(text, link) / bdpOf(link), write: buffered },
};

/** @param {number} value */
const short = (value) => Number(value.toPrecision(2));

/** Returns a buffer of some bandwidth-delay products, in the unit in which it was typed.
 * @param {number} bdps @param {{rate: string, rtt: string}} link @param {string} text */
function buffered(bdps, link, text) {
  const packets = bdps * bdpOf(link);
  return packets > 0 ? bufferText(Math.max(1, Math.round(packets)), link, text) : `${short(bdps)}bdp`;
}

/** A logarithmic slider beside the text that the engine reads.
 * @param {any} props */
export function Scaled({ name, text, link, low, high, read, write, set }) {
  const value = read(text, link);
  const place = Number.isFinite(value) ? Math.round((Math.log(value / low) / Math.log(high / low)) * STEPS) : 0;
  const moved = (/** @type {any} */ event) => set(write(low * (high / low) ** (event.target.value / STEPS), link, text));
  return html`<div class="scaled"><span>${name}</span>
    <span class="pair">
      <input type="range" min="0" max=${STEPS} value=${place} onInput=${moved} aria-label=${`${name}, slider`} aria-valuetext=${text} />
      <input type="text" value=${text} onChange=${(/** @type {any} */ event) => set(event.target.value)} aria-label=${name} />
    </span></div>`;
}

/** @param {any} props */
function Text({ name, value, set, hint = "" }) {
  return html`<label>${name}
    <input type="text" value=${value} placeholder=${hint} onChange=${(/** @type {any} */ event) => set(event.target.value)} /></label>`;
}

/** @param {any} props */
export function Choice({ name, value, choices, set }) {
  const all = choices.includes(value) ? choices : [value, ...choices];
  return html`<label>${name}
    <select value=${value} onChange=${(/** @type {any} */ event) => set(event.target.value)}>
      ${all.map((/** @type {string} */ one) => html`<option value=${one} selected=${one === value}>${one}</option>`)}
    </select></label>`;
}

/** @param {number} bps */
function rateText(bps) {
  const [unit, size] = bps >= 1e9 ? ["Gbps", 1e9] : bps >= 1e6 ? ["Mbps", 1e6] : ["kbps", 1e3];
  return `${Number((bps / Number(size)).toPrecision(2))}${unit}`;
}

/** Chooses the side that the controls change.
 * @param {{side: "a" | "b", set: (side: "a" | "b") => void}} props */
export const Sides = ({ side, set }) => html`<div class="sides" role="group" aria-label="Setting that the controls change">
  ${/** @type {("a" | "b")[]} */ (["a", "b"]).map((one) => html`<button type="button" class=${`side-${one}`} aria-pressed=${side === one} onClick=${() => set(one)}>Setting ${one.toUpperCase()}</button>`)}</div>`;
