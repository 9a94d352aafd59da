// @ts-check
// The lab: one link or two, their traffic, and what a buffer does. Every change runs them again.

import { Controls } from "./controls.js";
import { Refusal, opened as commanded, start, wasStopped } from "./engine.js";
import { number } from "./figures.js";
import { PacketView } from "./packets/view.js";
import { PRESETS, USUAL, fromHash, nameOf, toHash } from "./state.js";
import { Story, stories } from "./stories/story.js";
import { html, render, useEffect, useState } from "./vendor/htm-preact-3.1.1.js";
import { Knee } from "./views/knee.js";
import { Rates, Series, commonEnds } from "./views/series.js";
import { Take } from "./views/take.js";
import { Tiles } from "./views/tiles.js";
import { watch, work } from "./work.js";

/** Largest scenario file that is read, in bytes. */
const MOST_FILE = 500_000;

function App() {
  const [state, setState] = useState(fromHash(location.hash));
  const [edited, setEdited] = useState(/** @type {"a" | "b"} */ ("a"));
  const [names, setNames] = useState(/** @type {any} */ ({ queues: [state.a.queue], controls: [state.a.control] }));
  const [all, setAll] = useState(/** @type {import("./stories/story.js").StoryData[]} */ ([]));
  const [found, setFound] = useState(/** @type {(import("./work.js").Found & {of: string}) | null} */ (null));
  const [trips, setTrips] = useState(/** @type {any} */ (null));
  const [problem, setProblem] = useState(/** @type {any} */ (null));

  useEffect(() => {
    start().then(setNames, setProblem);
    commanded().then((one) => one && location.hash === "" && setState({ ...fromHash(""), file: one.text }));
    stories().then(setAll, setProblem);
    const changed = () => setState(fromHash(location.hash));
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);

  useEffect(() => history.replaceState(null, "", location.pathname + location.search + toHash(state)), [toHash(state)]);

  const link = JSON.stringify([state.a, state.b, state.file]);
  useEffect(() => {
    const stop = new AbortController();
    const failed = (/** @type {any} */ error) => stop.signal.aborted || wasStopped(error) || setProblem(error);
    work(state, stop.signal, (step) => {
      setProblem(null);
      setFound({ ...step, of: link });
    }).catch(failed);
    return () => stop.abort();
  }, [link]);

  useEffect(() => {
    setTrips(null);
    if (state.watch === null) return;
    const stop = new AbortController();
    const failed = (/** @type {any} */ error) => stop.signal.aborted || wasStopped(error) || setProblem(error);
    watch(state, state.watch, stop.signal).then(setTrips).catch(failed);
    return () => stop.abort();
  }, [link, state.watch]);

  const current = found && { ...found, stage: found.of === link ? found.stage : "first" };
  const story = all.find((/** @type {import("./stories/story.js").StoryData} */ one) => one.id === state.story) ?? null;
  const openStory = (/** @type {string} */ id) => {
    const next = all.find((/** @type {import("./stories/story.js").StoryData} */ one) => one.id === id);
    if (next) setState(stateOf(next));
    else setState({ ...state, story: "" });
  };
  const side = state.b && edited === "b" ? "b" : "a";
  const change = (/** @type {any} */ part) => setState({ ...state, [side]: { ...state[side], ...part } });
  const opened = async (/** @type {File | undefined} */ file) => {
    if (!file) return;
    if (file.size > MOST_FILE) return setProblem({ message: `${file.name} is larger than ${MOST_FILE / 1e3} kB`, help: "open a scenario file" });
    setState({ ...fromHash(""), file: await file.text() });
  };
  return html`<div onDragOver=${(/** @type {DragEvent} */ event) => event.preventDefault()}
      onDrop=${(/** @type {DragEvent} */ event) => { event.preventDefault(); opened(event.dataTransfer?.files[0]); }}>
    <header>
      <h1>How much buffer does a link need?</h1>
      <${Bar} state=${state} setState=${setState} stories=${all} openStory=${openStory} opened=${opened} setEdited=${setEdited} />
    </header>
    <div class="bench">
      ${state.file ? html`<${FileEditor} state=${state} setState=${setState} />` : html`
      <${Controls} question=${state[side]} change=${change} names=${names} legend=${state.b && html`<${Sides} side=${side} set=${setEdited} />`} />`}
      <main>
        <div role="status" aria-live="polite">
          ${problem && html`<div class="problem"><b>${problem.message}</b><br />${problem.help}${problem instanceof Refusal ? "" : " Load the page again."}</div>`}
        </div>
        ${story && html`<${Story} story=${story} found=${found?.of === link ? found : null} changed=${isChanged(state, story)} others=${all} open=${openStory} />`}
        ${current && html`<${Results} found=${current} state=${state} setState=${setState} trips=${trips} change=${change} />`}
      </main>
    </div></div>`;
}

/** Returns the state that a story sets. @param {import("./stories/story.js").StoryData} story */
function stateOf({ id, a, b, packets }) {
  const question = { ...USUAL, ...a };
  return { a: question, b: b && { ...question, ...b }, file: "", story: id, watch: packets };
}

/** Returns true if the controls are no longer those of the story. @param {import("./state.js").State} state @param {import("./stories/story.js").StoryData} story */
const isChanged = (state, story) => toHash({ ...stateOf(story), watch: null }) !== toHash({ ...state, watch: null });

/** The bar of links to begin with, stories and modes. @param {any} props */
function Bar({ state, setState, stories: all, openStory, opened, setEdited }) {
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
    <label class="file">Open a scenario<input type="file" accept=".toml" onChange=${(/** @type {any} */ event) => opened(event.target.files[0])} /></label>
  </nav>`;
}

/** Chooses the side that the controls change. @param {{side: "a" | "b", set: (side: "a" | "b") => void}} props */
const Sides = ({ side, set }) => html`<div class="sides" role="group" aria-label="Setting that the controls change">
  ${/** @type {("a" | "b")[]} */ (["a", "b"]).map((one) => html`<button type="button" aria-pressed=${side === one} onClick=${() => set(one)}>Setting ${one.toUpperCase()}</button>`)}</div>`;

/** @param {any} props */
function FileEditor({ state, setState }) {
  return html`<form onSubmit=${(/** @type {Event} */ event) => event.preventDefault()} aria-label="The scenario file">
    <label>Scenario file<textarea rows="24" spellcheck="false" value=${state.file}
      onChange=${(/** @type {any} */ event) => setState({ ...state, file: event.target.value })}></textarea></label>
    <button type="button" onClick=${() => setState({ ...state, file: "" })}>Back to the controls</button>
  </form>`;
}

/** @param {any} props */
function Results({ found, state, setState, trips, change }) {
  const { a, b, instant } = found;
  const names = state.b ? { a: nameOf(state.a, state.b), b: nameOf(state.b, state.a) } : { a: "", b: "" };
  const pictures = [a, b].filter(Boolean).map((side) => side.picture);
  const to = commonEnds(pictures);
  return html`
    <${Tiles} found=${found} names=${names} />
    ${instant && !b && html`<${Answer} instant=${instant} question=${state.a} change=${change} />`}
    ${state.watch !== null && html`<${PacketView} data=${trips ?? { a: null, b: null }} from=${state.watch}
      move=${(/** @type {number | null} */ from) => setState({ ...state, watch: from })} places=${placesOf(a.picture)} />`}
    <div class="charts">
      ${b ? html`<div class="column"><${Series} picture=${a.picture} side="A" to=${to} /></div>
        <div class="column"><${Series} picture=${b.picture} side="B" to=${to} /></div>
        <${Knee} found=${found} />` : html`
        <${Series} picture=${a.picture} side="" to=${to} />
        <${Knee} found=${found} />`}
    </div>
    <details class="more"><summary>Round-trip times and throughputs</summary><${More} pictures=${pictures} to=${to} /></details>
    <${Take} found=${found} state=${state} />`;
}

/** Returns times of a run that are worth watching. @param {any} picture */
function placesOf({ links, column_s: width, warmup_s: warmup }) {
  const first = links[0].drops.findIndex((/** @type {number} */ count) => count > 0);
  const drop = Math.floor(10 * first * width - 5) / 10;
  const places = [{ name: "Start", from: 0 }, { name: "First drop", from: drop }, { name: "Later", from: Math.round(warmup) }];
  return places.filter(({ name, from }) => name === "Start" || from > 0);
}

/** @param {any} props */
function Answer({ instant, question, change }) {
  const { answer } = instant;
  if (!answer) return html`<p class="answer">Calibrated theory does not cover ${question.control}; the runs show what a buffer does.</p>`;
  if (answer.packets == null) return html`<p class="answer">By calibrated theory no buffer keeps this link 98 % busy.</p>`;
  const end = answer.at_most_packets == null ? "any number" : number(answer.at_most_packets);
  return html`<div class="answer">
    <h2>A FIFO needs ${number(answer.packets)} packets = ${number(answer.seconds * 1e3)} ms = ${number(answer.bdp)} BDP to keep this link 98 % busy.</h2>
    <p>By calibrated theory, without simulation; with 90 % probability a simulation finds ${number(answer.at_least_packets)} to ${end} packets.
      <button type="button" class="small" onClick=${() => change({ queue: "drop_tail", buffer: `${answer.packets}p` })}>Use this buffer</button></p>
    ${answer.outside_fitted_range.map((/** @type {string} */ reason) => html`<p class="soft small">Outside the fitted range: ${reason}</p>`)}
  </div>`;
}

/** Charts that are drawn when the reader opens them. @param {any} props */
function More({ pictures, to }) {
  return html`<div class="charts">${pictures.map((/** @type {any} */ picture, /** @type {number} */ i) =>
    html`<${Rates} picture=${picture} side=${pictures.length > 1 ? "AB"[i] : ""} to=${to} />`)}</div>`;
}

render(html`<${App} />`, /** @type {HTMLElement} */ (document.getElementById("app")));
