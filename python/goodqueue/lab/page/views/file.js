// @ts-check
// An opened scenario file: its text, and sliders for what the controls can change of it.

import { SLIDERS, Choice, Scaled } from "./controls.js";
import { html } from "../vendor/htm-preact-3.1.1.js";

/** @param {{state: import("../question/state.js").State, setState: (state: any) => void, contents: any, names: any}} props */
export function FilePanel({ state, setState, contents, names }) {
  const controls = contents?.controls ?? {};
  const value = (/** @type {string} */ name) => state.over[name] ?? String(controls[name].value);
  const set = (/** @type {string} */ name) => (/** @type {any} */ text) =>
    setState({ ...state, over: { ...state.over, [name]: String(text) } });
  const link = { rate: controls.rate ? value("rate") : "", rtt: controls.rtt ? value("rtt") : "" };
  const sliders = Object.entries(SLIDERS).filter(([name]) => controls[name]);
  const changed = Object.keys(state.over).length > 0;
  return html`<form onSubmit=${(/** @type {Event} */ event) => event.preventDefault()} aria-label="The scenario file">
    ${contents && html`<h2>${contents.title || "A scenario file"}</h2>`}
    ${sliders.map(([name, slider]) => html`<${Scaled} ...${slider} link=${link} text=${value(name)} set=${set(name)} />`)}
    ${controls.control && html`<${Choice} name="Congestion control" value=${value("control")} choices=${names.controls} set=${set("control")} />`}
    ${contents && html`<p class="soft small">${sentence(sliders.length, contents)}</p>`}
    ${changed && html`<button type="button" onClick=${() => setState({ ...state, over: {} })}>Back to the file's values</button>`}
    <details open=${contents !== null && sliders.length === 0}><summary>Text of the file</summary>
      <label>Scenario file<textarea rows="24" spellcheck="false" value=${state.file}
        onChange=${(/** @type {any} */ event) => setState({ ...state, file: event.target.value, over: {} })}></textarea></label>
    </details>
    <button type="button" onClick=${() => setState({ ...state, file: "", over: {} })}>Back to the controls</button>
  </form>`;
}

/** Returns what the sliders can do with a file.
 * @param {number} sliders @param {any} contents */
function sentence(sliders, { controls }) {
  if (sliders === 0) {
    return "Sliders change a link named bottleneck with a rate or a limit of its own. This scenario has none, so its text is what can be changed.";
  }
  const missing = Object.keys(SLIDERS).filter((name) => !controls[name]);
  if (missing.length === 0) return "The sliders begin at the file's values and replace them.";
  const names = missing.map((name) => SLIDERS[/** @type {keyof typeof SLIDERS} */ (name)].name.toLowerCase());
  return `The sliders replace values of the file. It has no single value for ${names.join(" and ")}, so this is changed in its text.`;
}
