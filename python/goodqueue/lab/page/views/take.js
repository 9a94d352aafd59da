// @ts-check
// What the reader takes along: lines for a router, the command, the program, the file, the data.

import { columnsOf, csvOfRuns } from "../charts/csv.js";
import { formats, parquet } from "../compute/engine.js";
import { number } from "../compute/figures.js";
import { CopyButton, CopyLine, save } from "./parts.js";
import { pythonText, runCommand, sizeCommand } from "../question/scenario.js";
import { html, useEffect, useState } from "../vendor/htm-preact-3.1.1.js";

/** @param {{found: import("../compute/work.js").Found, state: import("../question/state.js").State}} props */
export function Take({ found, state }) {
  const { a, b, instant } = found;
  const [others, setOthers] = useState(/** @type {string[]} */ ([]));
  useEffect(() => void formats().then(setOthers), []);
  if (!a) return null;
  const sides = /** @type {{name: string, side: any}[]} */ (b ? [{ name: "A", side: a }, { name: "B", side: b }] : [{ name: "", side: a }]);
  return html`<section class="take" aria-label="To take with you"><h2>To take with you</h2>
    ${instant?.answer && instant.commands?.length > 0 && html`<p class="device">For a Linux router, a buffer of ${number(instant.answer.packets)} packets.
      Type the line as root, and put the name of the device that sends into the link in place of DEV (<code>ip -brief link</code> lists them).
      It has an effect where packets wait in this device. If a slower modem follows, <code>goodqueue size</code> prints the lines that also limit the rate.</p>`}
    ${(instant?.commands ?? []).map((/** @type {string} */ line) => html`<${CopyLine} text=${line} />`)}
    ${!state.file && html`<p>This command simulates buffers of this link and recommends one with its interval.</p><${CopyLine} text=${sizeCommand(state.a)} />`}
    <div class="buttons">
      <${CopyButton} name="Copy the address" text=${() => location.href} />
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

/** @param {string} name */
const label = (name) => (name ? `${name} ` : "");

/** @param {string} name */
const suffix = (name) => (name ? `-${name.toLowerCase()}` : "");
