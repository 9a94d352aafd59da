// @ts-check
// The bar of stories and modes.

import { html } from "../vendor/htm-preact-3.1.1.js";

/** @param {any} props */
export function Bar({ state, setState, shelves, stories: all, openStory, opened, setEdited, report }) {
  const compare = () => {
    setEdited(state.b ? "a" : "b");
    setState({ ...state, b: state.b ? null : { ...state.a, queue: state.a.queue === "fq_codel" ? "drop_tail" : "fq_codel" } });
  };
  return html`<nav class="buttons" aria-label="Stories and views">
    <select aria-label="Stories" value=${state.story} onChange=${(/** @type {any} */ event) => openStory(event.target.value)}>
      <option value="">Lessons and stories …</option>
      ${shelves.map((/** @type {import("../stories/story.js").Shelf} */ shelf) => html`<optgroup label=${shelf.title}>${shelf.steps.map((id) =>
        html`<option value=${id} selected=${id === state.story}>${all.find((/** @type {any} */ one) => one.id === id).title}</option>`)}</optgroup>`)}</select>
    ${!state.file && html`<button type="button" aria-pressed=${state.b !== null} onClick=${compare}>Two settings</button>`}
    <label class="file">Open a file<input type="file" accept=".toml,.html,.json" aria-label="Open a scenario or a report" onChange=${(/** @type {any} */ event) => opened(event.target.files[0])} /></label>
    ${report && html`<button type="button" id="report" aria-pressed=${report.isShown} onClick=${report.toggle}>Report</button>`}
  </nav>`;
}
