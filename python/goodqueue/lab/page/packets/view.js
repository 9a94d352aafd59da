// @ts-check
// The packet view: the packets of one side, or of two at the same moment, with speed, pause and step.

import { COLOURS, onPaper, whenPaperChanges } from "../charts/plot.js";
import { watchTime } from "../question/state.js";
import { html, useEffect, useRef, useState } from "../vendor/htm-preact-3.1.1.js";
import { HEIGHT, STRIP, draw, drawStrip } from "./draw.js";
import { RETURNING, TO_QUEUE, TO_RECEIVER, Trips, WAITING } from "./trips.js";

/** Simulated seconds in a second. */
const SPEEDS = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1];
/** Seconds on the screen for which a dropped packet is seen. */
const FALL = 0.6;

/** @param {{data: {a: any, b: any, failed?: boolean}, from: number, move: (from: number | null) => void,
 *   places: {name: string, from: number}[], end: number}} props `end` is the time at which the run ends, in seconds. */
export function PacketView({ data, from, move, places, end: last }) {
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const [trips, setTrips] = useState(/** @type {Trips[]} */ ([]));
  const [playing, setPlaying] = useState(!calm);
  const [speed, setSpeed] = useState(0.03);
  const [shown, setShown] = useState(0);
  const time = useRef(0);
  const canvases = useRef(/** @type {(HTMLCanvasElement | null)[]} */ ([]));
  const strips = useRef(/** @type {(HTMLCanvasElement | null)[]} */ ([]));

  useEffect(() => {
    const made = [data.a, data.b].filter(Boolean).map((one) => new Trips(one));
    time.current = made[0]?.from ?? 0;
    setTrips(made);
    setShown(time.current);
  }, [data]);

  const end = Math.min(...trips.map((/** @type {Trips} */ one) => one.to));
  const most = Math.max(...trips.map((/** @type {Trips} */ one) => one.most));
  const paint = () => {
    for (const [k, one] of trips.entries()) paintSide(one, canvases.current[k], strips.current[k], time.current, speed, most);
  };

  useEffect(() => {
    if (trips.length === 0) return;
    let last = performance.now();
    let frame = 0;
    const next = (/** @type {number} */ now) => {
      const passed = Math.min(now - last, 100) * 1e6 * speed;
      last = now;
      if (playing) time.current += passed;
      if (time.current >= end) {
        time.current = end;
        setPlaying(false);
      }
      paint();
      if (playing) {
        if (frame++ % 12 === 0) setShown(time.current);
        handle = requestAnimationFrame(next);
      }
    };
    let handle = requestAnimationFrame(next);
    const resized = new ResizeObserver(() => paint());
    if (canvases.current[0]) resized.observe(canvases.current[0]);
    const endOfPaper = whenPaperChanges(paint);
    return () => {
      cancelAnimationFrame(handle);
      resized.disconnect();
      endOfPaper();
    };
  }, [trips, playing, speed]);

  const go = (/** @type {number} */ to) => {
    time.current = Math.min(Math.max(to, trips[0].from), end);
    setPlaying(false);
    setShown(time.current);
    paint();
  };
  const step = (/** @type {1 | -1} */ way) => {
    const all = trips.map((/** @type {Trips} */ one) => one.step(time.current, way));
    go(way > 0 ? Math.min(...all) : Math.max(...all));
  };
  const play = () => {
    if (time.current >= end) time.current = trips[0].from;
    setPlaying(!playing);
  };
  const close = html`<button type="button" onClick=${() => move(null)}>Close</button>`;
  const jumps = places.map((place) => html`<button type="button" aria-pressed=${place.from === from} onClick=${() => move(place.from)}>${place.name}</button>`);
  if (data.failed) return html`<section class="packets" aria-label="Packets">
    <p>No packets are shown, for the reason above.</p><div class="buttons">${close}</div></section>`;
  if (from >= last) return html`<section class="packets" aria-label="Packets">
    <p>The run ends at ${last} s, so there are no packets from ${from} s on.</p><div class="buttons">${jumps}${close}</div></section>`;
  if (trips.length === 0) return html`<section class="packets" aria-label="Packets">
    <p class="busy">Simulating packets …</p><div class="buttons">${close}</div></section>`;
  return html`<section class="packets" aria-label="Packets">
    <div class="head"><h2>Packets at ${(shown / 1e9).toFixed(4)} s</h2>
      <div class="buttons">
        <button type="button" onClick=${play}>${playing ? "Pause" : "Play"}</button>
        <button type="button" onClick=${() => step(-1)} aria-label="One event back">◂ Step</button>
        <button type="button" onClick=${() => step(1)} aria-label="One event on">Step ▸</button>
        <label class="row">Speed <select value=${speed} onChange=${(/** @type {any} */ event) => setSpeed(Number(event.target.value))}>
          ${SPEEDS.map((one) => html`<option value=${one} selected=${one === speed}>${one === 1 ? "real time" : `1/${Math.round(1 / one)}`}</option>`)}
        </select></label>
        ${jumps}
        <label class="row">From <input type="number" min="0" step="0.5" value=${from} onChange=${(/** @type {any} */ event) => move(watchTime(event.target.value) ?? from)} /> s</label>
        ${close}
      </div></div>
    ${trips.map((/** @type {Trips} */ one, /** @type {number} */ k) => html`
      ${trips.length > 1 && html`<h3>${"AB"[k]}</h3>`}
      <canvas class="moment" role="img" aria-label=${`Packets${trips.length > 1 ? ` of ${"AB"[k]}` : ""}: ${words(one, shown)}.`}
        ref=${(/** @type {any} */ element) => { canvases.current[k] = element; }}></canvas>
      <canvas class="strip" role="img" aria-label="Packets waiting and drops during this part of the run"
        ref=${(/** @type {any} */ element) => { strips.current[k] = element; }}></canvas>`)}
    <input class="scrub" type="range" min=${trips[0].from} max=${end} step="any" value=${shown} aria-label="Moment"
      aria-valuetext=${`${(shown / 1e9).toFixed(4)} s`} onInput=${(/** @type {any} */ event) => go(Number(event.target.value))} />
    <p class="soft small" aria-live=${playing ? "off" : "polite"}>${trips.map((/** @type {Trips} */ one, /** @type {number} */ k) => `Packets${trips.length > 1 ? ` of ${"AB"[k]}` : ""}: ${words(one, shown)}. `)}
      Bars at the senders are packets in the network. A frame around a packet is a mark, a cross is a drop.</p>
  </section>`;
}

/** Returns the counts of a moment in words.
 * @param {Trips} trips @param {number} t */
function words(trips, t) {
  const spots = trips.at(t, 1);
  const number = (/** @type {number[]} */ ...places) => spots.filter((spot) => places.includes(spot.place)).length;
  const acks = number(RETURNING);
  return `waiting ${number(WAITING)}, travelling ${number(TO_QUEUE, TO_RECEIVER)}, and ${acks} ${acks === 1 ? "ACK" : "ACKs"} on the way back`;
}

/** @param {Trips} trips @param {HTMLCanvasElement | null} canvas @param {HTMLCanvasElement | null} strip @param {number} t @param {number} speed @param {number} most */
function paintSide(trips, canvas, strip, t, speed, most) {
  if (!canvas || !strip) return;
  const style = getComputedStyle(canvas);
  const value = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
  const look = { width: canvas.clientWidth, ink: value("--ink"), soft: value("--soft"), card: value("--card"), flows: COLOURS.map(onPaper), most };
  draw(sized(canvas, HEIGHT), trips, trips.at(t, FALL * 1e9 * speed), look);
  drawStrip(sized(strip, STRIP), trips, t, look);
}

/** Returns the context of a canvas as large as its place on the screen.
 * @param {HTMLCanvasElement} canvas @param {number} height */
function sized(canvas, height) {
  const [wide, tall] = [Math.round(canvas.clientWidth * devicePixelRatio), Math.round(height * devicePixelRatio)];
  if (canvas.width !== wide || canvas.height !== tall) {
    canvas.width = wide;
    canvas.height = tall;
  }
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
  return context;
}
