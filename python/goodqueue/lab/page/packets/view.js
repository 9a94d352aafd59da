// @ts-check
// The moving link: the packets of one side, or of two at the same moment, with speed, pause, step and the queue's wall.

import { COLOURS, onPaper, whenPaperChanges } from "../charts/plot.js";
import { number } from "../compute/figures.js";
import { watch } from "../compute/work.js";
import { bdpOf, bufferText, bufferWords, packetsOf } from "../question/buffer.js";
import { isFifo, roughRate, roughRtt } from "../question/scenario.js";
import { html, useEffect, useLayoutEffect, useRef, useState } from "../vendor/htm-preact-3.1.1.js";
import { STRIP, draw, drawStrip, layout, wallAt } from "./draw.js";
import { Parts, before as secondsBefore } from "./parts.js";
import { RETURNING, TO_QUEUE, TO_RECEIVER, WAITING } from "./trips.js";
import { Wall } from "./wall.js";

const NS = 1e9;
/** Simulated seconds in a second. */
const SPEEDS = [0.001, 0.003, 0.01, 0.02, 0.05, 0.1, 0.3, 1];
/** Seconds on the screen that a base round-trip time takes at first, about. */
const ROUND_TRIP = 0.6;
/** Seconds on the screen for which a dropped packet is seen. */
const FALL = 0.6;
/** Seconds on the screen before its use in which the next part of the run is asked for. */
const AHEAD = 6;
/** Milliseconds for which the settings stay unchanged before their packets are asked for. */
const CALM_MS = 120;
/** Frames between two updates of the texts. */
const TEXTS = 12;
/** Least packets of the widest box. */
const LEAST_SCALE = 12;

/** One side of the view. `text` is the buffer as it was typed, `link` the rate and the base round-trip time.
 * @typedef {{side: "a" | "b", name: string, text: string, link: {rate: string, rtt: string}, ping: number,
 *   isFifo: boolean, series: any, buffer: number | null}} Side */

/** Returns the sides of a state with what is known of their runs.
 * @param {import("../question/state.js").State} state @param {any} found @returns {Side[]} */
export function sidesOf(state, found) {
  const known = (/** @type {"a" | "b"} */ side) => ({
    series: found?.[side]?.picture.links[0] ?? null,
    buffer: found?.[side]?.runs[0].buffer_packets ?? null,
  });
  if (state.file) {
    const controls = found?.contents?.controls ?? {};
    const value = (/** @type {string} */ name) => String(state.over[name] ?? controls[name]?.value ?? "");
    return [{ side: "a", name: "", text: value("buffer"), link: { rate: value("rate"), rtt: value("rtt") }, ping: -1, isFifo: true, ...known("a") }];
  }
  const both = /** @type {["a" | "b", any][]} */ ([["a", state.a], ["b", state.b]]).filter(([, question]) => question);
  return both.map(([side, question]) => ({
    side,
    name: both.length > 1 ? side.toUpperCase() : "",
    text: question.buffer,
    link: question,
    ping: question.ping ? question.flows + question.others : -1,
    isFifo: isFifo(question),
    ...known(side),
  }));
}

/** Returns the packets of a side's buffer, as far as they are known.
 * @param {Side} side */
const capacityOf = ({ text, link, buffer }) => Math.floor(packetsOf(text, link) + 1e-9) || (buffer ?? Number.POSITIVE_INFINITY);

/** Returns a side's buffer in words, as it was typed if that is understood.
 * @param {Side} side */
export const typedWords = (side) => bufferWords(packetsOf(side.text, side.link) || capacityOf(side), side.link, side.text);

/** Returns the packets of the widest box: the buffers of FIFOs and what waits in other queues have room.
 * @param {Side[]} sides */
function scaleOf(sides) {
  const each = sides.flatMap((side) => {
    const most = Math.max(0, ...(side.series?.high_packets ?? []));
    return [4 * (bdpOf(side.link) || 0), 1.2 * most, side.isFifo && Number.isFinite(capacityOf(side)) ? 1.25 * capacityOf(side) : 0];
  });
  return Math.ceil(Math.max(LEAST_SCALE, ...each));
}

/** Returns the speed at which a base round-trip time is seen well.
 * @param {Side[]} sides */
function usualSpeed([{ link }]) {
  const wanted = Math.log((roughRtt(link.rtt) || 0.03) / ROUND_TRIP);
  return SPEEDS.reduce((best, one) => (Math.abs(Math.log(one) - wanted) < Math.abs(Math.log(best) - wanted) ? one : best));
}

/** @param {{state: import("../question/state.js").State, link: string, found: any, last: number, attempt: number,
 *   playhead: import("./playhead.js").Playhead, move: (from: number | null) => void, places: {name: string, from: number | null}[],
 *   setBuffer: (side: "a" | "b", text: string) => void, failed: (error: any) => void}} props
 *   `last` is the time at which the run ends, in seconds. */
export function PacketView({ state, link, found, last, attempt, playhead, move, places, setBuffer, failed }) {
  const sides = sidesOf(state, found);
  const [parts, setParts] = useState(/** @type {Parts | null} */ (null));
  const [, setShown] = useState(0);
  const [playing, setPlaying] = useState(!matchMedia("(prefers-reduced-motion: reduce)").matches);
  const [chosen, setSpeed] = useState(0);
  const [isHeld, setHeld] = useState(false);
  const [isMissing, setMissing] = useState(false);
  const speed = chosen || usualSpeed(sides);
  const scale = useRef(0);
  if (!isHeld || scale.current === 0) scale.current = scaleOf(sides);
  const canvases = useRef(/** @type {(HTMLCanvasElement | null)[]} */ ([]));
  const walls = useRef(/** @type {(HTMLElement | null)[]} */ ([]));
  const waits = useRef(/** @type {(HTMLElement | null)[]} */ ([]));
  const before = useRef({ place: "", watch: /** @type {number | null} */ (null) });
  // A frame that was asked for earlier draws from this reference, so it draws nothing of parts that are gone.
  const current = useRef(parts);
  current.current = parts;

  // Packets of other settings are no answer to these.
  const clear = () => {
    current.current = null;
    setMissing(true);
    setParts(null);
    for (const one of canvases.current) one?.getContext("2d")?.clearRect(0, 0, one.width, one.height);
    for (const one of waits.current) if (one) one.textContent = "";
  };
  const isPast = state.watch !== null && state.watch >= last;

  // The moment stays where it is when only buffers change.
  const place = JSON.stringify([state.a, state.b, state.file, state.over], (key, value) => (key === "buffer" ? undefined : value));
  useEffect(() => {
    const made = new Parts((from, signal) => watch(state, from, signal), sides.map((side) => side.ping),
      secondsBefore(Math.max(...sides.map(({ link: { rate } }) => roughRate(rate)))), () => setShown(Math.random()),
      (error) => { clear(); failed(error); });
    const isFirst = before.current.place === "";
    const keeps = before.current.place === place && before.current.watch === state.watch && playhead.time !== null;
    const begin = async () => {
      before.current = { place, watch: state.watch };
      setMissing(false);
      const from = keeps ? playhead.time : isPast ? null : state.watch;
      const time = from === null ? await made.first(last) : (await made.begin(from)) && from;
      if (time === null) return;
      setParts(made);
      playhead.move(time);
    };
    const timer = setTimeout(begin, isFirst ? 0 : CALM_MS);
    return () => {
      clearTimeout(timer);
      made.end();
    };
  }, [link, state.watch, attempt]);

  // The parts change without being rendered again.
  const known = () => /** @type {import("./trips.js").Trips[]} */ (current.current?.trips ?? []);
  const trips = known();
  const paint = () => sides.forEach((side, k) => {
    const canvas = canvases.current[k];
    const one = known()[k];
    if (!canvas || !one || playhead.time === null) return;
    paintSide(canvas, one, side, playhead.time * NS, speed, scale.current, walls.current[k]);
  });
  const tell = () => {
    setShown(playhead.time ?? 0);
    known().forEach((one, k) => { if (waits.current[k]) waits.current[k].textContent = waitWords(one, playhead.time ?? 0); });
  };

  useEffect(() => {
    if (!parts) return;
    let then = performance.now();
    let frame = 0;
    const next = (/** @type {number} */ at) => {
      const passed = (Math.min(at - then, 100) / 1e3) * speed;
      then = at;
      const time = (playhead.time ?? 0) + passed;
      if (parts.follow(time, AHEAD * speed)) playhead.move(time);
      if (time >= last) {
        playhead.move(last);
        setPlaying(false);
      }
      if (frame++ % TEXTS === 0) tell();
      handle = requestAnimationFrame(next);
    };
    let handle = playing ? requestAnimationFrame(next) : 0;
    if (!playing) tell();
    return () => cancelAnimationFrame(handle);
  }, [parts, playing, speed, last]);

  useEffect(() => {
    const end = [playhead.follow(paint), whenPaperChanges(paint)];
    const resized = new ResizeObserver(paint);
    for (const one of canvases.current) if (one) resized.observe(one);
    return () => {
      for (const one of end) one();
      resized.disconnect();
    };
  });

  const go = async (/** @type {number} */ to) => {
    if (!parts) return;
    setPlaying(false);
    playhead.move(to);
    tell();
    if (!parts.has(to)) await parts.begin(to);
    tell();
  };
  playhead.seek = go;
  const step = (/** @type {1 | -1} */ way) => {
    const all = known().map((one) => one.step((playhead.time ?? 0) * NS, way));
    const to = (way > 0 ? Math.min(...all) : Math.max(...all)) / NS;
    // The engine counts nanoseconds.
    go(Math.max(0, to + way * 1e-10));
  };
  const play = async () => {
    if (!playing && parts && (playhead.time ?? 0) >= last) {
      const time = await parts.first(last);
      if (time !== null) playhead.move(time);
    }
    setPlaying(!playing);
  };
  const at = (/** @type {number} */ k) => (/** @type {number} */ x) => {
    const { left, width, height } = /** @type {HTMLCanvasElement} */ (canvases.current[k]).getBoundingClientRect();
    const { queueRight, box } = layout({ width, height, scale: scale.current });
    return ((queueRight - (x - left)) / box) * scale.current;
  };
  const shown = playhead.time ?? 0;
  const label = (/** @type {Side} */ side) => (side.name ? ` of ${side.name}` : "");
  return html`<section class="packets" aria-label="The moving link" data-moving=${playing && trips.length > 0}>
    <div class="head">
      ${sides.map((side, k) => html`<p class=${`now side-${side.side}`}><b class="big" data-wait=${side.side} ref=${(/** @type {any} */ element) => { waits.current[k] = element; }}></b>
        <span>${side.name && html`<b class="side">${side.name}</b> `}${side.ping >= 0 ? "a game’s ping waits in the queue" : "a packet waits in the queue"}</span></p>`)}
      <div class="buttons">
        <button type="button" onClick=${play}>${playing ? "Pause" : "Play"}</button>
        <button type="button" onClick=${() => step(-1)} aria-label="One event back">◂ Step</button>
        <button type="button" onClick=${() => step(1)} aria-label="One event on">Step ▸</button>
        <label class="row">Speed <select value=${speed} onChange=${(/** @type {any} */ event) => setSpeed(Number(event.target.value))}>
          ${SPEEDS.map((one) => html`<option value=${one} selected=${one === speed}>${one === 1 ? "real time" : `1/${Math.round(1 / one)}`}</option>`)}
        </select></label>
        ${places.map((one) => html`<button type="button" aria-pressed=${one.from === state.watch} onClick=${() => (one.from === state.watch ? go(one.from ?? 0) : move(one.from))}>${one.name}</button>`)}
      </div></div>
    ${sides.map((side, k) => html`<div class="stage">
      <canvas class="moment" role="img" aria-label=${`Packets${label(side)}: ${trips[k] ? words(trips[k], shown * NS) : "being simulated"}.`}
        ref=${(/** @type {any} */ element) => { canvases.current[k] = element; }}></canvas>
      ${Number.isFinite(capacityOf(side)) && html`<${Wall} name=${`Buffer${label(side)}, wall of the queue`} packets=${capacityOf(side)} most=${scale.current}
        words=${typedWords(side)} at=${at(k)} hold=${setHeld}
        set=${(/** @type {number} */ packets) => setBuffer(side.side, bufferText(packets, side.link, side.text))}
        place=${(/** @type {any} */ element) => { walls.current[k] = element; }} />`}
    </div>`)}
    ${isMissing && html`<p>No packets are shown, for the reason below.</p>`}
    ${isPast && html`<p>The run ends at ${number(last)} s, so there are no packets from ${state.watch} s on.</p>`}
    <div class="time">
      ${sides.map((side) => side.series && html`<${Strip} series=${side.series} most=${mostOf(sides)} side=${side.side} />`)}
      <input class="scrub" type="range" min="0" max=${last} step="any" value=${shown} aria-label="Moment"
        aria-valuetext=${`${shown.toFixed(4)} s`} onInput=${(/** @type {any} */ event) => go(Number(event.target.value))} />
    </div>
    <p class="soft small" aria-live=${playing ? "off" : "polite"}><span data-moment>${shown.toFixed(4)} s of ${number(last)} s</span>:
      ${trips.map((one, k) => ` ${sides[k]?.name ? `${sides[k].name} ` : ""}${words(one, shown * NS)}.`)}
      ${" "}A number at a sender counts its packets in the network, a cross is a drop, a frame a mark.</p>
  </section>`;
}

/** @param {Side[]} sides */
const mostOf = (sides) => Math.max(...sides.flatMap((side) => side.series?.high_packets ?? [0]));

/** Packets that wait over the whole run.
 * @param {{series: any, most: number, side: string}} props */
function Strip({ series, most, side }) {
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  useLayoutEffect(() => {
    const element = /** @type {HTMLCanvasElement} */ (canvas.current);
    const paint = () => drawStrip(sized(element), series, lookOf(element, { capacity: 0, scale: 1, rate: "" }), most);
    const end = whenPaperChanges(paint);
    const resized = new ResizeObserver(paint);
    resized.observe(element);
    return () => {
      end();
      resized.disconnect();
    };
  }, [series, most]);
  return html`<canvas class="strip" data-side=${side} height=${STRIP} role="img" aria-label="Packets waiting and drops during the run" ref=${canvas}></canvas>`;
}

/** Returns the wait of a ping, or of a packet, in words.
 * @param {import("./trips.js").Trips} trips @param {number} time in seconds */
function waitWords(trips, time) {
  const found = trips.waitAt(time * NS);
  return found ? `${number(Math.max(0, Math.round(found.wait / 1e5) / 10))}\u00a0ms` : "–";
}

/** Returns the counts of a moment in words.
 * @param {import("./trips.js").Trips} trips @param {number} t */
function words(trips, t) {
  const counts = [0, 0, 0, 0, 0];
  for (const { place } of trips.at(t, 1)) counts[place] += 1;
  const acks = counts[RETURNING];
  return `waiting ${counts[WAITING]}, travelling ${counts[TO_QUEUE] + counts[TO_RECEIVER]}, and ${acks} ${acks === 1 ? "ACK" : "ACKs"} on the way back`;
}

/** @param {HTMLCanvasElement} canvas @param {import("./trips.js").Trips} trips @param {Side} side @param {number} t
 * @param {number} speed @param {number} scale @param {HTMLElement | null} wall */
function paintSide(canvas, trips, side, t, speed, scale, wall) {
  const capacity = capacityOf(side);
  const look = lookOf(canvas, { capacity, scale, rate: side.link.rate });
  draw(sized(canvas), trips, trips.at(t, FALL * NS * speed), look);
  if (wall) wall.style.transform = `translateX(${wallAt(layout(look), capacity, scale).toFixed(1)}px)`;
}

/** @param {HTMLCanvasElement} canvas @param {{capacity: number, scale: number, rate: string}} own @returns {import("./draw.js").Look} */
function lookOf(canvas, own) {
  const style = getComputedStyle(canvas);
  const value = (/** @type {string} */ name) => style.getPropertyValue(`--${name}`).trim();
  const colours = { ink: value("ink"), soft: value("soft"), card: value("card"), paper: value("paper"), line: value("line") };
  return { width: canvas.clientWidth, height: canvas.clientHeight, flows: COLOURS.map(onPaper), ...colours, ...own };
}

/** Returns the context of a canvas as large as its place on the screen.
 * @param {HTMLCanvasElement} canvas */
function sized(canvas) {
  const [wide, tall] = [Math.round(canvas.clientWidth * devicePixelRatio), Math.round(canvas.clientHeight * devicePixelRatio)];
  if (canvas.width !== wide || canvas.height !== tall) {
    canvas.width = wide;
    canvas.height = tall;
  }
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
  return context;
}
