// @ts-check
// The lab: one link or two, their traffic, and what a buffer does. Every change runs them again.

import { source } from "./charts/picture.js";
import { Refusal, isGone, opened as commanded, start, wasStopped } from "./compute/engine.js";
import { work } from "./compute/work.js";
import { Playhead } from "./packets/playhead.js";
import { PacketView, sidesOf } from "./packets/view.js";
import { runSeconds } from "./question/scenario.js";
import { USUAL, firstState, fromHash, inWords, nameOf, sides, toHash } from "./question/state.js";
import { Story, isChanged, library, stateOf } from "./stories/story.js";
import { html, render, useEffect, useLayoutEffect, useRef, useState } from "./vendor/htm-preact-3.1.1.js";
import { Answer } from "./views/answer.js";
import { Bar } from "./views/bar.js";
import { Controls, Sides } from "./views/controls.js";
import { FilePanel } from "./views/file.js";
import { MOST_REPORT, Report, contentsOf, isReport } from "./views/report.js";
import { Rates, Series, commonEnds } from "./views/series.js";
import { Take } from "./views/take.js";
import { Tiles } from "./views/tiles.js";
import { Tradeoff } from "./views/tradeoff.js";
import { Intro } from "./views/words.js";

/** Largest scenario file that is read, in bytes. */
const MOST_FILE = 500_000;

/** Returns the names of the values in which two addresses differ, as a text.
 * @param {string} one @param {string} other parts of an address after `#` */
function differing(one, other) {
  const [a, b] = [one, other].map((hash) => new URLSearchParams(hash.slice(1)));
  return [...new Set([...a.keys(), ...b.keys()])].filter((key) => a.get(key) !== b.get(key)).sort().join();
}

/** True if the page is a part of another one: it shows the moving link, the answer and the trade-off. */
const isEmbedded = new URLSearchParams(location.search).has("embed");
document.documentElement.classList.toggle("embed", isEmbedded);

/** Settings that the page was opened with; the page itself writes into its address later. */
const settings = location.hash;

function App() {
  const [state, setState] = useState(firstState(settings));
  const [edited, setEdited] = useState(/** @type {"a" | "b"} */ ("a"));
  const [names, setNames] = useState(/** @type {any} */ ({ queues: [state.a.queue], controls: [state.a.control] }));
  const [{ stories: all, shelves }, setLibrary] = useState(/** @type {Awaited<ReturnType<typeof library>>} */ ({ stories: [], shelves: [] }));
  const [guesses, setGuesses] = useState(/** @type {Record<string, number>} */ ({}));
  const [found, setFound] = useState(/** @type {(import("./compute/work.js").Found & {of: string}) | null} */ (null));
  const playhead = useRef(new Playhead()).current;
  const [problem, setProblem] = useState(/** @type {any} */ (null));
  const [report, setReport] = useState(/** @type {{name: string, contents: DocumentFragment} | null} */ (null));
  const [isReading, setReading] = useState(false);
  const [attempt, setAttempt] = useState(0);
  const [spread, setSpread] = useState(false);
  const address = useRef({ isOpened: true, from: settings, what: "" }).current;
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
    library().then((one) => {
      setLibrary(one);
      // An address with a story alone has the settings of the story.
      const named = one.stories.find(({ id }) => settings === `#story=${id}`);
      if (named) setState(stateOf(named));
    }, setProblem);
    const changed = () => {
      Object.assign(address, { isOpened: true, from: location.hash });
      setState(firstState(location.hash));
    };
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);

  useEffect(() => {
    // A second step back may come before the state of the first one is shown. The entry of the second stays as it is.
    if (address.isOpened && location.hash !== address.from) return;
    // An address that was opened is completed, and changes of the same values in a row make one entry of the history.
    const what = differing(location.hash, toHash(state));
    const isNew = !address.isOpened && what !== address.what;
    Object.assign(address, { isOpened: false, what: address.isOpened ? "" : what });
    if (toHash(state) === location.hash) return;
    history[isNew ? "pushState" : "replaceState"](null, "", location.pathname + location.search + toHash(state));
  }, [toHash(state)]);

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

  const current = found && { ...found, stage: found.of === link ? found.stage : "first" };
  const story = all.find((/** @type {import("./stories/story.js").StoryData} */ one) => one.id === state.story) ?? null;
  // The runs of a step that asks are shown after the guess.
  const asks = story?.guess !== undefined && guesses[story.id] === undefined && !isChanged(state, story);
  const openStory = (/** @type {string} */ id) => {
    const next = all.find((/** @type {import("./stories/story.js").StoryData} */ one) => one.id === id);
    if (next) setState(stateOf(next));
    else setState({ ...state, story: "" });
  };
  const side = state.b && edited === "b" ? "b" : "a";
  const change = (/** @type {any} */ part, note = "") =>
    setState({ ...state, notes: note ? [note] : [], [side]: { ...state[side], ...part } });
  const setBuffer = (/** @type {"a" | "b"} */ which, /** @type {string} */ buffer) => {
    if (state.file) setState({ ...state, over: { ...state.over, buffer } });
    else setState({ ...state, notes: [], [which]: { .../** @type {any} */ (state[which]), buffer } });
  };
  const begin = (/** @type {{a: any, b?: any}} */ one) => {
    const a = { ...USUAL, ...one.a };
    setState({ ...fromHash(""), a, b: one.b ? { ...a, ...one.b } : null });
  };
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
      <${Bar} state=${state} setState=${setState} shelves=${shelves} stories=${all} openStory=${openStory} opened=${opened} setEdited=${setEdited}
        report=${report && { isShown: isReading, toggle: () => setReading(!isReading) }} />
    </header>
    ${report && isReading ? html`<div role="status" aria-live="polite">${alert}</div>
    <${Report} name=${report.name} contents=${report.contents} play=${play} close=${closeReport} />` : html`
    ${story && html`<${Story} story=${story} found=${found?.of === link ? found : null} failed=${problem !== null} changed=${isChanged(state, story)} others=${all}
      shelves=${shelves} choice=${guesses[story.id]} choose=${(/** @type {number} */ choice) => setGuesses({ ...guesses, [story.id]: choice })} open=${openStory} />`}
    ${asks ? html`<main><div role="status" aria-live="polite">${alert}</div></main>` : html`<${PacketView} state=${state} link=${link} found=${current} last=${lastOf(state, current)} attempt=${attempt} playhead=${playhead} places=${current ? placesOf(current.a.picture) : []}
      move=${(/** @type {number | null} */ watch) => setState({ ...state, watch })} setBuffer=${setBuffer} failed=${(/** @type {any} */ error) => setProblem((/** @type {any} */ known) => known ?? error)} />
    <div class="bench"><div class="side-by">
      ${state.file ? html`<${FilePanel} state=${state} setState=${setState} contents=${opening.text === state.file ? opening.contents : null} names=${names} />` : html`
      <${Controls} question=${state[side]} change=${change} names=${names} begin=${begin} legend=${state.b && html`<${Sides} side=${side} set=${setEdited} />`} />
      <${Intro} begin=${!story && all.length > 0 ? () => openStory(all[0].id) : null} />`}</div>
      <main>
        <div role="status" aria-live="polite">
          ${notes}${alert}
        </div>
        ${current && html`<${Results} found=${current} state=${state} change=${change} playhead=${playhead} spread=${spread} setSpread=${setSpread} />`}
      </main>
    </div>`}`}</div>`;
}

/** @param {any} props */
function Results({ found, state, change, playhead, spread, setSpread }) {
  const { a, b, instant } = found;
  const names = state.b ? { a: nameOf(state.a, state.b), b: nameOf(state.b, state.a) } : { a: "", b: "" };
  const pictures = [a, b].filter(Boolean).map((side) => side.picture);
  const to = commonEnds(pictures);
  const printed = state.file
    ? [[found.contents?.title ?? "A scenario file", ...Object.entries(state.over).map(([name, text]) => `${name} ${text}`)].join(", ")]
    : sides(state).map(({ side, question }) => `${state.b ? `${side.toUpperCase()}: ` : ""}${inWords(question)}`);
  const known = sidesOf(state, found);
  const of = (/** @type {"a" | "b"} */ side) => known.find((one) => one.side === side) ?? known[0];
  source.text = `goodqueue lab: ${printed.join("; ")}`;
  return html`
    ${printed.map((/** @type {string} */ line) => html`<p class="printed">${line}.</p>`)}
    ${instant && !b && html`<${Answer} instant=${instant} question=${state.a} side=${a} check=${found.check} change=${change} />`}
    <${Tiles} found=${found} names=${names} questions=${state.file ? [] : sides(state).map(({ question }) => question)} spread=${spread} setSpread=${setSpread} />
    <${Tradeoff} found=${found} of=${of} spread=${spread} />
    <div class="charts">
      ${b ? html`<div class="column"><${Series} picture=${a.picture} side="A" to=${to} playhead=${playhead} /></div>
        <div class="column"><${Series} picture=${b.picture} side="B" to=${to} playhead=${playhead} /></div>` : html`
        <${Series} picture=${a.picture} side="" to=${to} playhead=${playhead} />`}
    </div>
    <${More} pictures=${pictures} to=${to} playhead=${playhead} />
    <${Take} found=${found} state=${state} />`;
}

/** Returns the time at which the run ends, or is likely to, in seconds.
 * @param {import("./question/state.js").State} state @param {any} found */
function lastOf(state, found) {
  if (found && found.stage !== "first") return Math.min(...[found.a, found.b].filter(Boolean).map((side) => side.picture.duration_s));
  return state.file ? 20 : Math.min(...sides(state).map(({ question }) => runSeconds(question)));
}

/** Returns times of a run that are worth watching; null is that of the first packet.
 * @param {any} picture */
function placesOf({ links, column_s: width, warmup_s: warmup }) {
  const first = links[0].drops.findIndex((/** @type {number} */ count) => count > 0);
  const drop = Math.floor(10 * first * width - 5) / 10;
  return [{ name: "First packet", from: null }, ...(drop > 0 ? [{ name: "First drop", from: drop }] : []), { name: "Later", from: Math.round(warmup) }];
}

/** Charts that are drawn when the reader opens them.
 * @param {any} props */
function More({ pictures, to, playhead }) {
  const [isOpen, setOpen] = useState(false);
  return html`<details class="more" onToggle=${(/** @type {any} */ event) => setOpen(event.target.open)}>
    <summary>Round-trip times and throughputs</summary>
    ${isOpen && html`<div class="charts">${pictures.map((/** @type {any} */ picture, /** @type {number} */ i) =>
      html`<${Rates} picture=${picture} side=${pictures.length > 1 ? "AB"[i] : ""} to=${to} playhead=${playhead} />`)}</div>`}
  </details>`;
}

render(html`<${App} />`, /** @type {HTMLElement} */ (document.getElementById("app")));
