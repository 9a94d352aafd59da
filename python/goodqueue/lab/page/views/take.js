// @ts-check
// What the reader takes along: lines for a router, the command, the program, the file, the data.

import { columnsOf, csvOfRuns } from "../charts/csv.js";
import { recommended, withBuffer } from "../compute/check.js";
import { formats, parquet, site, tc } from "../compute/engine.js";
import { CopyButton, CopyLine, save } from "./parts.js";
import { isUnsureOf } from "./answer.js";
import { bufferWords } from "../question/buffer.js";
import { isPlain, labCommand, pythonText, runCommand, sizeCommand } from "../question/scenario.js";
import { toHash } from "../question/state.js";
import { escaped } from "../charts/svg.js";
import { html, useEffect, useState } from "../vendor/htm-preact-3.1.1.js";

/** @param {{found: import("../compute/work.js").Found, state: import("../question/state.js").State}} props */
export function Take({ found, state }) {
  const { a, b, instant, check } = found;
  const [others, setOthers] = useState(/** @type {string[]} */ ([]));
  const [address, setAddress] = useState("");
  useEffect(() => {
    formats().then(setOthers);
    site().then(setAddress);
  }, []);
  if (!a) return null;
  const sides = /** @type {{name: string, side: any}[]} */ (b ? [{ name: "A", side: a }, { name: "B", side: b }] : [{ name: "", side: a }]);
  return html`<section class="take" aria-label="To take with you"><h2>To take with you</h2>
    ${sides.filter(({ side }) => side.saved).map(({ name, side }) => html`<${Queue} name=${name} text=${side.saved} link=${side.picture.links[0].name} />`)}
    ${instant?.answer && instant.commands?.length > 0 && html`<${Device} instant=${instant} check=${check} question=${state.a} isPair=${b !== null} />`}
    ${!state.file && html`<p>${isPlain(state.a) ? "This command" : `First choose Save ${label(sides[0].name)}as scenario. The command then`} simulates buffers of
      ${" "}${b ? "the link of setting A" : "this link"} and recommends one with its interval.</p><${CopyLine} text=${isPlain(state.a) ? sizeCommand(state.a) : `goodqueue size scenario${suffix(sides[0].name)}.toml`} />`}
    <div class="buttons">
      ${address ? html`<${CopyButton} name="Copy the address" text=${() => address + toHash(state)} />
        <${CopyButton} name="Copy for embedding" text=${() => `<iframe src="${escaped(`${address}?embed${toHash(state)}`)}" width="100%" height="1000" title="A link and its buffer"></iframe>`} />`
        : html`<${CopyButton} name="Copy what opens this" text=${() => labCommand(toHash(state))} />`}
      ${sides.filter(({ side }) => side.saved).map(({ name, side }) => html`
        <${CopyButton} name=${`Copy ${label(name)}as command`} text=${runCommand(side.saved)} />
        <${CopyButton} name=${`Copy ${label(name)}as Python`} text=${pythonText(side.saved)} />
        <button type="button" onClick=${() => save(`scenario${suffix(name)}.toml`, side.saved)}>Save ${label(name)}as scenario</button>
        <button type="button" onClick=${() => save(`series${suffix(name)}.csv`, csvOfRuns(side.picture), "text/csv")}>Save ${label(name)}data</button>
        ${others.includes("parquet") && html`<button type="button" onClick=${async () => save(`series${suffix(name)}.parquet`, await parquet(columnsOf(side.picture)))}>Save ${label(name)}data as Parquet</button>`}`)}
    </div>
    ${sides.map(({ name, side }) => html`<details><summary>The scenario file${name && `, ${name}`}</summary><pre tabindex="0">${side.saved ?? side.text}</pre></details>`)}
  </section>`;
}

/** The lines that give a Linux router the recommended buffer.
 * @param {any} props */
function Device({ instant: { answer, commands, shaped }, check, question, isPair }) {
  const { packets, state } = recommended(answer, check);
  if (packets === null) {
    const why = state === "none" ? "There is no line for a Linux router, because no buffer that was run keeps the link 98 % busy." : "The line for a Linux router follows when runs have checked the buffer.";
    return html`<p class="device">${why}</p>`;
  }
  const busy = isPair ? ", which keeps the link of setting A 98 % busy" : "";
  const doubt = isUnsureOf(answer, question) ? " Calibrated theory is unsure of this link; the command below simulates the buffer with more runs than this page." : "";
  return html`<p class="device">A FIFO of ${bufferWords(packets, question, question.buffer)} for a Linux router${busy}.${doubt}${" "}
      Type the line as root, with the name of the device that sends into the link in place of DEV (<code>ip -brief link</code> lists them).
      The buffer accepts or drops an aggregate of segmentation offload (up to 64 KiB) whole; <code>ethtool -K DEV gso off tso off gro off</code> ends offload.</p>
    ${withBuffer(commands, answer.packets, packets).map((line) => html`<${CopyLine} text=${line} />`)}
    <p>If the link begins in a modem behind the router, packets wait there, and the line above has no effect. Then type this one, with 2 % to 5 %
      less than the modem's rate: it also limits the rate, so that packets wait in the router.</p>
    ${withBuffer(shaped, answer.packets, packets).map((line) => html`<${CopyLine} text=${line} />`)}`;
}

/** The lines that give a Linux router the queue of a setting, if that is no FIFO.
 * @param {{name: string, text: string, link: string}} props */
function Queue({ name, text, link }) {
  const [lines, setLines] = useState(/** @type {string[]} */ ([]));
  useEffect(() => {
    let isOld = false;
    const set = (/** @type {string[]} */ found) => isOld || setLines(found);
    tc(text, link).then(({ commands }) => set(commands), () => set([]));
    return () => { isOld = true; };
  }, [text, link]);
  if (lines.length === 0 || / (bfifo|pfifo) /.test(lines[0])) return null;
  return html`<p>The queue of ${name ? `setting ${name}` : "the controls"} for a Linux router, as root:</p>
    ${lines.map((/** @type {string} */ line) => html`<${CopyLine} text=${line} />`)}`;
}

/** @param {string} name */
const label = (name) => (name ? `${name} ` : "");

/** @param {string} name */
const suffix = (name) => (name ? `-${name.toLowerCase()}` : "");
