// @ts-check
// The trade-off: what a buffer buys and what it costs, in one picture.

import { csvOf, inSentences, whenPaperChanges } from "../charts/plot.js";
import { pngOf, source } from "../charts/picture.js";
import { tradeoffSvg } from "../charts/tradeoff.js";
import { rangeOf, recommended } from "../compute/check.js";
import { shown } from "../compute/figures.js";
import { bufferScale, bufferWords } from "../question/buffer.js";
import { html, useLayoutEffect, useRef, useState } from "../vendor/htm-preact-3.1.1.js";
import { typedWords } from "../packets/view.js";
import { SaveButton, save } from "./parts.js";

/** Short names of published rules.
 * @type {Record<string, string>} */
const RULES = { bdp: "BDP", sqrt_n: "BDP/√N", window_decrease: "window decrease", bscl: "BSCL", tiny: "tiny buffers" };

/** Colours of a file, which is always light. */
const ON_FILE = { ink: "#1c1f24", soft: "#5b6270", grid: "#e3e6ea", paper: "#ffffff", card: "#f4f6f8", good: "#00664a", a: "#6d1fe0", b: "#00474d" };
/** Columns of a curve without points.
 * @type {Record<string, number[]>} */
const NO_CURVE = { packets: [], utilization: [], p99_delay_s: [] };
const TITLE = "What a buffer buys, and what it costs";
const HEIGHT = 330;

/** Returns the buffers of published rules, each once with the names of its rules.
 * @param {{rule: string, title: string, packets: number}[]} rules */
export function rulesOf(rules) {
  const names = new Map();
  for (const { rule, title, packets } of rules) names.set(packets, [...(names.get(packets) ?? []), RULES[rule] ?? title]);
  return [...names].sort(([p], [q]) => p - q).map(([packets, all]) => ({ packets, names: all.join(", ") }));
}

/** Returns the wait at a buffer on a curve, between two of its points by their share of the way, or null.
 * @param {{packets: number, x: number}[]} curve by rising buffer @param {number} packets */
export function waitAt(curve, packets) {
  const after = curve.findIndex((one) => one.packets >= packets);
  if (after < 0) return curve.length > 0 ? curve[curve.length - 1].x * (packets / curve[curve.length - 1].packets) : null;
  if (after === 0) return curve[0].x * (packets / curve[0].packets);
  const [low, high] = [curve[after - 1], curve[after]];
  return low.x + ((high.x - low.x) * (packets - low.packets)) / (high.packets - low.packets);
}

/** Returns what the picture shows.
 * @param {import("../compute/work.js").Found} found @param {(side: "a" | "b") => import("../packets/view.js").Side} of
 * @param {{rules: boolean, spread: boolean}} shows @param {{a: string, b: string}} colours */
export function modelOf({ a, b, instant, check }, of, shows, colours) {
  const each = /** @type {["a" | "b", any][]} */ ([["a", a], ["b", b]]).filter(([, side]) => side);
  const words = (/** @type {number} */ packets) => bufferWords(packets, of("a").link, of("a").text);
  const curves = each.map(([name, side]) => {
    const { utilization: use, p99_queueing_delay_s: wait } = side.means;
    const has = shows.spread && use?.low != null && wait?.low != null;
    const points = [...side.knee].sort((p, q) => p.packets - q.packets).map(({ packets, link }) =>
      ({ packets, x: 1e3 * link.p99_queueing_delay_s, y: link.utilization, label: bufferWords(packets, of(name).link, of(name).text) }));
    const here = { x: 1e3 * (wait?.mean ?? 0), y: use?.mean ?? 0, label: side.runs[0].buffer_packets == null ? "" : typedWords(of(name)),
      ...(has ? { low: /** @type {[number, number]} */ ([1e3 * wait.low, use.low]), high: /** @type {[number, number]} */ ([1e3 * wait.high, use.high]) } : {}) };
    return { name: b ? name.toUpperCase() : "", colour: colours[name], points, here };
  });
  const { packets, utilization, p99_delay_s: waits } = instant?.curve ?? NO_CURVE;
  const theory = packets.map((/** @type {number} */ size, /** @type {number} */ i) => ({ packets: size, x: 1e3 * waits[i], y: utilization[i] }));
  // The recommended buffer is that of a FIFO.
  const fifo = of("a").isFifo && curves[0].points.length > 1 ? curves[0].points : theory;
  const best = instant?.answer?.packets && check ? recommended(instant.answer, check).packets : null;
  const { least, most } = best && check ? rangeOf(instant.answer, check, best) : { least: 0, most: null };
  const [from, to] = [waitAt(fifo, least), waitAt(fifo, most ?? 2 * (best ?? 0))];
  const band = best && from !== null && to !== null ? { from, to, label: `take ${words(best)}` } : null;
  const rules = shows.rules ? rulesOf(instant?.rules ?? []).map(({ packets: size, names }) => ({ x: waitAt(fifo, size) ?? 0, y: 0, label: `${names}: ${words(size)}` })) : [];
  return { curves, theory, band, rules, points: "short runs of the simulator" };
}

/** @param {{found: import("../compute/work.js").Found, of: (side: "a" | "b") => any, spread: boolean}} props */
export function Tradeoff({ found, of, spread }) {
  const [rules, setRules] = useState(false);
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const make = (/** @type {any} */ colours) => modelOf(found, of, { rules, spread }, colours);
  const file = () => tradeoffSvg(make(ON_FILE), { width: 760, height: 400, colours: ON_FILE, title: TITLE, source: source.text });
  const { by, unit } = bufferScale(of("a").link, of("a").text);
  const { curves, theory, band } = make(ON_FILE);
  const table = tableOf(curves, theory, by);
  useLayoutEffect(() => {
    const element = /** @type {HTMLElement} */ (place.current);
    const draw = () => {
      const style = getComputedStyle(element);
      const value = (/** @type {string} */ name) => style.getPropertyValue(`--${name}`).trim();
      const colours = { ink: value("ink"), soft: value("soft"), grid: value("grid"), paper: value("paper"), card: value("card"), good: value("good"), a: value("side-a"), b: value("side-b") };
      element.innerHTML = tradeoffSvg(make(colours), { width: element.clientWidth || 600, height: HEIGHT, colours });
    };
    draw();
    element.dataset.drawn = String(Number(element.dataset.drawn ?? 0) + 1);
    const resized = new ResizeObserver(draw);
    resized.observe(element);
    const end = whenPaperChanges(draw);
    return () => {
      resized.disconnect();
      end();
    };
  }, [found, rules, spread]);
  if (curves[0].points.length === 0 && theory.length === 0) return html`<div ref=${place}></div>`;
  const said = `${inSentences(TITLE, { ...table, xLabel: `buffer in ${unit}`, unit: "% busy, ms", of: null })}${band ? ` The runs say: ${band.label}.` : ""}`;
  return html`<figure class="tradeoff">
    <div class="head"><h2>${TITLE}</h2>
      <span class="buttons"><label class="tick small"><input type="checkbox" checked=${rules} onChange=${(/** @type {any} */ event) => setRules(event.target.checked)} /> Published rules</label>
      <span class="saves">
        <${SaveButton} kind="SVG" what=${TITLE} act=${() => save("trade-off.svg", file(), "image/svg+xml")} />
        <${SaveButton} kind="PNG" what=${TITLE} act=${async () => save("trade-off.png", await pngOf(file()))} />
        <${SaveButton} kind="CSV" what=${TITLE} act=${() => save("trade-off.csv", csvOf({ ...table, xLabel: `buffer in ${unit}`, unit: "% and ms", of: null }), "text/csv")} />
      </span></span></div>
    <div class="chart wide" role="img" aria-label=${said} ref=${place}></div>
    <figcaption>Up is a busier link, enlarged from 98 % on; right is a longer wait. Points are buffers, each a short single run; the dashed line is calibrated theory of a FIFO${band ? "; the band has the buffers that the link may need" : ""}.
      ${found.b && ` B − A: ${shown("p99_queueing_delay_s", (found.b.means.p99_queueing_delay_s?.mean ?? 0) - (found.a?.means.p99_queueing_delay_s?.mean ?? 0))} of waiting.`}</figcaption>
  </figure>`;
}

/** Returns the curves as a table: for each buffer the shares and the waits.
 * @param {any[]} curves @param {any[]} theory @param {number} by */
function tableOf(curves, theory, by) {
  const all = [...curves.map(({ name, points, colour }) => ({ name: `simulated${name && `, ${name}`}`, points, colour })), { name: "calibrated theory, FIFO", points: theory, colour: "" }].filter(({ points }) => points.length > 0);
  const sizes = [...new Set(all.flatMap(({ points }) => points.map((/** @type {any} */ one) => one.packets)))].sort((p, q) => p - q);
  const along = (/** @type {any[]} */ points, /** @type {(one: any) => number} */ value) => {
    const known = new Map(points.map((one) => [one.packets, value(one)]));
    return sizes.map((size) => known.get(size) ?? null);
  };
  const lines = all.flatMap(({ name, points, colour }) => [
    { label: `${name}, busy in %`, values: along(points, ({ y }) => 100 * y), colour },
    { label: `${name}, waiting in ms`, values: along(points, ({ x }) => x), colour },
  ]);
  return { x: sizes.map((size) => size * by), lines };
}
