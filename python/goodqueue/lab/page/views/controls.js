// @ts-check
// The controls of one question: sliders beside texts with units, choices, and what is rarely changed.

import { roughRate, roughRtt } from "../question/scenario.js";
import { whole } from "../question/state.js";
import { html } from "../vendor/htm-preact-3.1.1.js";

/** Steps of a slider. */
const STEPS = 200;

/** @param {{question: import("../question/state.js").Question, change: (part: any, note?: string) => void, names: any, legend: any}} props */
export function Controls({ question, change, names, legend }) {
  const set = (/** @type {string} */ key) => (/** @type {any} */ value) => change({ [key]: value });
  const count = (/** @type {"flows" | "others" | "seed"} */ key) => (/** @type {any} */ text) => {
    const { value, note } = whole(key, text, question[key]);
    change({ [key]: value }, note);
  };
  return html`<form onSubmit=${(/** @type {Event} */ event) => event.preventDefault()} aria-label="The link and its traffic">
    ${legend}
    ${Object.entries(SLIDERS).map(([key, slider]) => html`<${Scaled} ...${slider}
      link=${question} text=${String(question[/** @type {keyof typeof SLIDERS} */ (key)])} set=${key === "flows" ? count("flows") : set(key)} />`)}
    <div class="two">
      <${Choice} name="Queue" value=${question.queue} choices=${names.queues} set=${set("queue")} />
      <${Choice} name="Congestion control" value=${question.control} choices=${names.controls} set=${set("control")} />
    </div>
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
    <p class="soft small">Values carry units, as in scenario files: 10Mbps, 20ms..80ms, 1bdp, 100p, 50ms, 64KiB.</p>
  </form>`;
}

/** Returns true if a question uses one of the rare controls.
 * @param {import("../question/state.js").Question} question */
const isRare = ({ others, profile, loss, stagger, seed, queueKeys, tcpKeys, ping }) =>
  others > 0 || profile !== "linux" || loss !== "0%" || stagger !== "1s" || seed !== 1 || queueKeys !== "" || tcpKeys !== "" || ping;

/** A slider of a link: its label, its ends, its place for a text, and the text of a place.
 * @typedef {{name: string, low: number, high: number, read: (text: string, link: {rate: string, rtt: string}) => number,
 *   write: (value: number) => string}} Slider */

/** @type {Record<"rate" | "rtt" | "flows" | "buffer", Slider>} */
export const SLIDERS = {
  rate: { name: "Rate", low: 5e5, high: 1e9, read: roughRate, write: rateText },
  rtt: { name: "Base round-trip time", low: 0.002, high: 0.6, read: roughRtt, write: (/** @type {number} */ v) => `${short(v * 1e3)}ms` },
  flows: { name: "Flows", low: 1, high: 200, read: Number, write: (/** @type {number} */ v) => String(Math.round(v)) },
  buffer: { name: "Buffer", low: 0.01, high: 16, read: bdps, write: (/** @type {number} */ v) => `${short(v)}bdp` },
};

/** @param {number} value */
const short = (value) => Number(value.toPrecision(2));

/** Returns the bandwidth-delay products of a buffer for its slider, or NaN of one in another unit.
 * @param {string} text @param {{rate: string, rtt: string}} link */
function bdps(text, { rate, rtt }) {
  const [bps, seconds, size] = [roughRate(rate), roughRtt(rtt), Number.parseFloat(text)];
  if (text.endsWith("bdp")) return size;
  if (text.endsWith("ms")) return size / 1e3 / seconds;
  return /^[\d.]+p$/.test(text) ? (size * 12_000) / (bps * seconds) : Number.NaN;
}

/** A logarithmic slider beside the text that the engine reads.
 * @param {any} props */
export function Scaled({ name, text, link, low, high, read, write, set }) {
  const value = read(text, link);
  const place = Number.isFinite(value) ? Math.round((Math.log(value / low) / Math.log(high / low)) * STEPS) : 0;
  const moved = (/** @type {any} */ event) => set(write(low * (high / low) ** (event.target.value / STEPS)));
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
  ${/** @type {("a" | "b")[]} */ (["a", "b"]).map((one) => html`<button type="button" aria-pressed=${side === one} onClick=${() => set(one)}>Setting ${one.toUpperCase()}</button>`)}</div>`;
