// @ts-check
// The controls of one question: sliders beside texts with units, choices, and what is rarely changed.

import { roughRate, roughRtt } from "./scenario.js";
import { whole } from "./state.js";
import { html } from "./vendor/htm-preact-3.1.1.js";

/** Steps of a slider. */
const STEPS = 200;

/** @param {{question: import("./state.js").Question, change: (part: any) => void, names: any, legend: any}} props */
export function Controls({ question, change, names, legend }) {
  const bdps = question.buffer.endsWith("bdp") ? Number.parseFloat(question.buffer) : Number.NaN;
  const set = (/** @type {string} */ key) => (/** @type {any} */ value) => change({ [key]: value });
  const count = (/** @type {string} */ key, /** @type {number} */ least) => (/** @type {any} */ value) =>
    change({ [key]: whole(value, least, least) });
  const short = (/** @type {number} */ value) => Number(value.toPrecision(2));
  return html`<form onSubmit=${(/** @type {Event} */ event) => event.preventDefault()} aria-label="The link and its traffic">
    ${legend}
    <${Scaled} name="Rate" text=${question.rate} value=${roughRate(question.rate)} low=${5e5} high=${1e9} write=${rateText} set=${set("rate")} />
    <${Scaled} name="Base round-trip time" text=${question.rtt} value=${roughRtt(question.rtt)} low=${0.002} high=${0.6}
      write=${(/** @type {number} */ v) => `${short(v * 1e3)}ms`} set=${set("rtt")} />
    <${Scaled} name="Flows" text=${String(question.flows)} value=${question.flows} low=${1} high=${200}
      write=${(/** @type {number} */ v) => String(Math.round(v))} set=${count("flows", 1)} />
    <${Scaled} name="Buffer" text=${question.buffer} value=${bdps} low=${0.01} high=${16}
      write=${(/** @type {number} */ v) => `${short(v)}bdp`} set=${set("buffer")} />
    <div class="two">
      <${Choice} name="Queue" value=${question.queue} choices=${names.queues} set=${set("queue")} />
      <${Choice} name="Congestion control" value=${question.control} choices=${names.controls} set=${set("control")} />
    </div>
    <details open=${isRare(question)}><summary>More</summary>
      <div class="two">
        <${Text} name="Other flows" value=${String(question.others)} set=${count("others", 0)} />
        <${Choice} name="Their control" value=${question.otherControl} choices=${names.controls} set=${set("otherControl")} />
        <${Choice} name="Hosts' TCP" value=${question.profile} choices=${["linux", "rfc"]} set=${set("profile")} />
        <${Text} name="Random loss" value=${question.loss} set=${set("loss")} />
        <${Text} name="Starts within" value=${question.stagger} set=${set("stagger")} />
        <${Text} name="Seed" value=${String(question.seed)} set=${count("seed", 0)} />
      </div>
      <${Text} name="Queue's parameters" value=${question.queueKeys} set=${set("queueKeys")} hint="ecn = true" />
      <${Text} name="TCP's parameters" value=${question.tcpKeys} set=${set("tcpKeys")} hint="pacing = true" />
      <label class="tick"><input type="checkbox" checked=${question.ping} onChange=${(/** @type {any} */ event) => change({ ping: event.target.checked })} />
        A ping every 100 ms</label>
    </details>
    <p class="soft small">Values carry units, as in scenario files: 10Mbps, 20ms..80ms, 1bdp, 100p, 50ms, 64KiB.</p>
  </form>`;
}

/** Returns true if a question uses one of the rare controls. @param {import("./state.js").Question} question */
const isRare = ({ others, profile, loss, stagger, seed, queueKeys, tcpKeys, ping }) =>
  others > 0 || profile !== "linux" || loss !== "0%" || stagger !== "1s" || seed !== 1 || queueKeys !== "" || tcpKeys !== "" || ping;

/** A logarithmic slider beside the text that the engine reads. @param {any} props */
function Scaled({ name, text, value, low, high, write, set }) {
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
function Choice({ name, value, choices, set }) {
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
