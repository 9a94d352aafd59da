// @ts-check
// The bar of links to begin with, stories and modes.

import { PRESETS, USUAL, fromHash } from "../question/state.js";
import { html } from "../vendor/htm-preact-3.1.1.js";

/** @param {any} props */
export function Bar({ state, setState, stories: all, openStory, opened, setEdited, report }) {
  const preset = (/** @type {any} */ event) => {
    const one = PRESETS[Number(event.target.value)];
    event.target.value = "";
    if (!one) return;
    const a = { ...USUAL, ...one.a };
    setState({ ...fromHash(""), a, b: one.b ? { ...a, ...one.b } : null });
  };
  const compare = () => {
    setEdited(state.b ? "a" : "b");
    setState({ ...state, b: state.b ? null : { ...state.a, queue: state.a.queue === "fq_codel" ? "drop_tail" : "fq_codel" } });
  };
  return html`<nav class="buttons" aria-label="Links to begin with, stories and views">
    <select aria-label="Links to begin with" onChange=${preset}><option value="">Begin with …</option>
      ${PRESETS.map(({ name }, i) => html`<option value=${i}>${name}</option>`)}</select>
    <select aria-label="Stories" value=${state.story} onChange=${(/** @type {any} */ event) => openStory(event.target.value)}>
      <option value="">Stories …</option>
      ${all.map((/** @type {any} */ one) => html`<option value=${one.id} selected=${one.id === state.story}>${one.title}</option>`)}</select>
    ${!state.file && html`<button type="button" aria-pressed=${state.b !== null} onClick=${compare}>Two settings</button>`}
    <button type="button" aria-pressed=${state.watch !== null} onClick=${() => setState({ ...state, watch: state.watch === null ? 0 : null })}>Watch packets</button>
    <label class="file">Open a file<input type="file" accept=".toml,.html,.json" aria-label="Open a scenario or a report" onChange=${(/** @type {any} */ event) => opened(event.target.files[0])} /></label>
    ${report && html`<button type="button" id="report" aria-pressed=${report.isShown} onClick=${report.toggle}>Report</button>`}
  </nav>`;
}
