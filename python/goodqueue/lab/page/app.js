// @ts-check
// The lab: one link or two, their traffic, and what a buffer does. Every change runs them again.

import { Refusal, isGone, opened as commanded, start, wasStopped } from "./compute/engine.js";
import { watch, work } from "./compute/work.js";
import { PacketView } from "./packets/view.js";
import { firstState, fromHash, inWords, nameOf, sides, toHash } from "./question/state.js";
import { Story, isChanged, stateOf, stories } from "./stories/story.js";
import { html, render, useEffect, useLayoutEffect, useState } from "./vendor/htm-preact-3.1.1.js";
import { Answer } from "./views/answer.js";
import { Bar } from "./views/bar.js";
import { Controls, Sides } from "./views/controls.js";
import { FilePanel } from "./views/file.js";
import { Knee } from "./views/knee.js";
import { MOST_REPORT, Report, contentsOf, isReport } from "./views/report.js";
import { Rates, Series, commonEnds } from "./views/series.js";
import { Take } from "./views/take.js";
import { Tiles } from "./views/tiles.js";
import { Intro } from "./views/words.js";

/** Largest scenario file that is read, in bytes. */
const MOST_FILE = 500_000;

/** Settings that the page was opened with; the page itself writes into its address later. */
const settings = location.hash;

function App() {
  const [state, setState] = useState(firstState(settings));
  const [edited, setEdited] = useState(/** @type {"a" | "b"} */ ("a"));
  const [names, setNames] = useState(/** @type {any} */ ({ queues: [state.a.queue], controls: [state.a.control] }));
  const [all, setAll] = useState(/** @type {import("./stories/story.js").StoryData[]} */ ([]));
  const [found, setFound] = useState(/** @type {(import("./compute/work.js").Found & {of: string}) | null} */ (null));
  const [trips, setTrips] = useState(/** @type {any} */ (null));
  const [problem, setProblem] = useState(/** @type {any} */ (null));
  const [report, setReport] = useState(/** @type {{name: string, contents: DocumentFragment} | null} */ (null));
  const [isReading, setReading] = useState(false);
  const [attempt, setAttempt] = useState(0);
  const [opening, setOpening] = useState({ text: "", contents: /** @type {any} */ (null) });
  const read = (/** @type {{name: string, text: string}} */ file) => {
    const contents = contentsOf(file);
    if (!contents) return setProblem({ message: `${file.name} is no report of goodqueue`, help: "Open a page of --report, a document of --json, or a scenario file." });
    setProblem(null);
    setReport({ name: file.name, contents });
    setReading(true);
  };

  useEffect(() => void start().then(setNames, setProblem), [attempt]);

  useEffect(() => {
    commanded().then((one) => {
      if (!one || settings.length > 1) return;
      if (isReport(one.name)) read(one);
      else setState({ ...fromHash(""), file: one.text });
    });
    stories().then(setAll, setProblem);
    const changed = () => setState(firstState(location.hash));
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);

  useEffect(() => history.replaceState(null, "", location.pathname + location.search + toHash(state)), [toHash(state)]);

  const link = JSON.stringify([state.a, state.b, state.file, state.over]);
  useLayoutEffect(() => {
    const stop = new AbortController();
    const failed = (/** @type {any} */ error) => {
      if (stop.signal.aborted || wasStopped(error)) return;
      setProblem(error);
      // Figures of other settings are no answer to these.
      setFound((/** @type {any} */ before) => (before?.of === link ? { ...before, stage: "stopped" } : null));
    };
    work(state, stop.signal, (step) => {
      setProblem(null);
      setFound({ ...step, of: link });
      if (step.contents) setOpening({ text: state.file, contents: step.contents });
    }).catch(failed);
    return () => stop.abort();
  }, [link, attempt]);

  useEffect(() => {
    setTrips(null);
    if (state.watch === null) return;
    const stop = new AbortController();
    const failed = (/** @type {any} */ error) => {
      if (stop.signal.aborted || wasStopped(error)) return;
      setProblem(error);
      setTrips({ a: null, b: null, failed: true });
    };
    watch(state, state.watch, stop.signal).then(setTrips).catch(failed);
    return () => stop.abort();
  }, [link, state.watch, attempt]);

  const current = found && { ...found, stage: found.of === link ? found.stage : "first" };
  const story = all.find((/** @type {import("./stories/story.js").StoryData} */ one) => one.id === state.story) ?? null;
  const openStory = (/** @type {string} */ id) => {
    const next = all.find((/** @type {import("./stories/story.js").StoryData} */ one) => one.id === id);
    if (next) setState(stateOf(next));
    else setState({ ...state, story: "" });
  };
  const side = state.b && edited === "b" ? "b" : "a";
  const change = (/** @type {any} */ part, note = "") =>
    setState({ ...state, notes: note ? [note] : [], [side]: { ...state[side], ...part } });
  const opened = async (/** @type {File | undefined} */ file) => {
    if (!file) return;
    const most = isReport(file.name) ? MOST_REPORT : MOST_FILE;
    if (file.size > most) return setProblem({ message: `${file.name} is larger than ${Math.floor(most / 1e3)} kB`, help: "Open a scenario file or a report." });
    const text = await file.text();
    if (isReport(file.name)) return read({ name: file.name, text });
    setReading(false);
    setState({ ...fromHash(""), file: text });
  };
  const play = (/** @type {string} */ settings) => {
    setReading(false);
    setState(fromHash(settings));
    scrollTo(0, 0);
  };
  const closeReport = () => {
    setReading(false);
    document.getElementById("report")?.focus();
  };
  const alert = problem && html`<div class="problem"><b>${problem.message}</b><br />${problem.help}${problem instanceof Refusal || problem.help ? "" : " Load the page again."}
    ${isGone(problem) && html` <button type="button" class="small" onClick=${() => setAttempt(attempt + 1)}>Try again</button>`}</div>`;
  const notes = state.notes.map((/** @type {string} */ note) => html`<p class="note small">${note}</p>`);
  return html`<div onDragOver=${(/** @type {DragEvent} */ event) => event.preventDefault()}
      onDrop=${(/** @type {DragEvent} */ event) => { event.preventDefault(); opened(event.dataTransfer?.files[0]); }}>
    <header>
      <h1>How much buffer does a link need?</h1>
      <${Bar} state=${state} setState=${setState} stories=${all} openStory=${openStory} opened=${opened} setEdited=${setEdited}
        report=${report && { isShown: isReading, toggle: () => setReading(!isReading) }} />
    </header>
    ${report && isReading ? html`<div role="status" aria-live="polite">${alert}</div>
    <${Report} name=${report.name} contents=${report.contents} play=${play} close=${closeReport} />` : html`
    ${story && html`<${Story} story=${story} found=${found?.of === link ? found : null} failed=${problem !== null} changed=${isChanged(state, story)} others=${all} open=${openStory} />`}
    ${!state.file && html`<${Intro} begin=${!story && all.length > 0 ? () => openStory(all[0].id) : null} />`}
    <div class="bench">
      ${state.file ? html`<${FilePanel} state=${state} setState=${setState} contents=${opening.text === state.file ? opening.contents : null} names=${names} />` : html`
      <${Controls} question=${state[side]} change=${change} names=${names} legend=${state.b && html`<${Sides} side=${side} set=${setEdited} />`} />`}
      <main>
        <div role="status" aria-live="polite">
          ${notes}${alert}
        </div>
        ${current && html`<${Results} found=${current} state=${state} setState=${setState} trips=${trips} change=${change} />`}
      </main>
    </div>`}</div>`;
}

/** @param {any} props */
function Results({ found, state, setState, trips, change }) {
  const { a, b, instant } = found;
  const names = state.b ? { a: nameOf(state.a, state.b), b: nameOf(state.b, state.a) } : { a: "", b: "" };
  const pictures = [a, b].filter(Boolean).map((side) => side.picture);
  const to = commonEnds(pictures);
  const printed = state.file
    ? [[found.contents?.title ?? "A scenario file", ...Object.entries(state.over).map(([name, text]) => `${name} ${text}`)].join(", ")]
    : sides(state).map(({ side, question }) => `${state.b ? `${side.toUpperCase()}: ` : ""}${inWords(question)}`);
  return html`
    ${printed.map((/** @type {string} */ line) => html`<p class="printed">${line}.</p>`)}
    <${Tiles} found=${found} names=${names} questions=${state.file ? [] : sides(state).map(({ question }) => question)} />
    ${instant && !b && html`<${Answer} instant=${instant} question=${state.a} side=${a} check=${found.check} change=${change} />`}
    ${state.watch !== null && html`<${PacketView} data=${trips ?? { a: null, b: null }} from=${state.watch}
      move=${(/** @type {number | null} */ from) => setState({ ...state, watch: from })} places=${placesOf(a.picture)} end=${Math.min(...pictures.map((one) => one.duration_s))} />`}
    <div class="charts">
      ${b ? html`<div class="column"><${Series} picture=${a.picture} side="A" to=${to} /></div>
        <div class="column"><${Series} picture=${b.picture} side="B" to=${to} /></div>
        <${Knee} found=${found} />` : html`
        <${Series} picture=${a.picture} side="" to=${to} />
        <${Knee} found=${found} />`}
    </div>
    <${More} pictures=${pictures} to=${to} />
    <${Take} found=${found} state=${state} />`;
}

/** Returns times of a run that are worth watching.
 * @param {any} picture */
function placesOf({ links, column_s: width, warmup_s: warmup }) {
  const first = links[0].drops.findIndex((/** @type {number} */ count) => count > 0);
  const drop = Math.floor(10 * first * width - 5) / 10;
  const places = [{ name: "Start", from: 0 }, { name: "First drop", from: drop }, { name: "Later", from: Math.round(warmup) }];
  return places.filter(({ name, from }) => name === "Start" || from > 0);
}

/** Charts that are drawn when the reader opens them.
 * @param {any} props */
function More({ pictures, to }) {
  const [isOpen, setOpen] = useState(false);
  return html`<details class="more" onToggle=${(/** @type {any} */ event) => setOpen(event.target.open)}>
    <summary>Round-trip times and throughputs</summary>
    ${isOpen && html`<div class="charts">${pictures.map((/** @type {any} */ picture, /** @type {number} */ i) =>
      html`<${Rates} picture=${picture} side=${pictures.length > 1 ? "AB"[i] : ""} to=${to} />`)}</div>`}
  </details>`;
}

render(html`<${App} />`, /** @type {HTMLElement} */ (document.getElementById("app")));
