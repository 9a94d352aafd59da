// @ts-check
// Charts of a picture: each has a title, a sentence that says what it shows, and buttons that save it.

import { save, SaveButton } from "../views/parts.js";
import { number } from "../compute/figures.js";
import { pngOf, source } from "./picture.js";
import { svgOf } from "./svg.js";
import { html, useLayoutEffect, useRef } from "../vendor/htm-preact-3.1.1.js";

const uPlot = /** @type {any} */ (globalThis).uPlot;

/** Colours of flows and settings. The first three are Okabe and Ito's. Colour-blind readers can tell each pair apart, and
 * each has a contrast of at least 3 to the paper. */
export const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#b7278d", "#836e49", "#008ffa", "#4d3b00", "#6a6a6a"];

/** Colours of the same lines on dark paper.
 * @type {Record<string, string>} */
const ON_DARK = { "#0072b2": "#56b4e9", "#b7278d": "#b76ba2", "#836e49": "#e69f00", "#008ffa": "#007aef", "#4d3b00": "#f0e442", "#6a6a6a": "#a7aebb" };

const darkScreen = matchMedia("screen and (prefers-color-scheme: dark)");

/** Returns a colour as it is drawn on the paper of the medium.
 * @param {string} colour */
export const onPaper = (colour) => (darkScreen.matches ? onDark(colour) : colour);

/** @param {string} colour */
const onDark = (colour) => ON_DARK[colour] ?? colour;

/** Calls a function whenever the paper changes: a dark screen is printed on white paper. Returns a function that ends this.
 * @param {() => void} draw */
export function whenPaperChanges(draw) {
  const media = [matchMedia("(prefers-color-scheme: dark)"), matchMedia("print")];
  for (const one of media) one.addEventListener("change", draw);
  return () => {
    for (const one of media) one.removeEventListener("change", draw);
  };
}

/** Returns the size of a chart's place, which the style gives for the screen and for paper.
 * @param {HTMLElement} element */
const sizeOf = ({ clientWidth, clientHeight }) => ({ width: clientWidth || 600, height: clientHeight || 165 });

/** Lines that the sentence of a chart describes. */
const SPOKEN = 4;

/** @typedef {{label: string, values: (number | null)[], colour: string, width?: number, dash?: number[], points?: boolean}} Line */
/** A vertical line with a label.
 * @typedef {{x: number, label: string}} Mark */
/** `from` is the least value that the y axis includes, `to` its least upper end. The chart is drawn again when
 * `of` changes.
 * @typedef {{x: number[], lines: Line[], bands?: [number, number][], unit: string, xLabel: string,
 *   from?: number, to?: number, marks?: Mark[], of: any, playhead?: import("../packets/playhead.js").Playhead}} Drawing
 *   With a playhead the chart shows its moment, and a click moves it. */

/** A chart with its title, caption and buttons.
 * @param {Drawing & {title: string, caption: any, file: string}} props */
export function Plot({ title, caption, file, ...drawing }) {
  const chart = useRef(/** @type {any} */ (null));
  const svg = () => svgOf(chart.current, { ...drawing, title, source: source.text });
  const asSvg = () => save(`${file}.svg`, svg(), "image/svg+xml");
  const asPng = async () => save(`${file}.png`, await pngOf(svg()));
  const asCsv = () => save(`${file}.csv`, csvOf(drawing), "text/csv");
  return html`<figure>
    <div class="head"><h2>${title}</h2>
      <span class="saves">
        <${SaveButton} kind="SVG" what=${title} act=${asSvg} />
        <${SaveButton} kind="PNG" what=${title} act=${asPng} />
        <${SaveButton} kind="CSV" what=${title} act=${asCsv} />
      </span></div>
    <${Chart} ...${drawing} label=${inSentences(title, drawing)} chart=${chart} />
    <figcaption>${caption}</figcaption>
  </figure>`;
}

/** Returns what a chart shows, for readers who hear it.
 * @param {string} title @param {Drawing} drawing */
export function inSentences(title, { x, lines, unit, xLabel, marks = [] }) {
  const said = lines.slice(0, SPOKEN).map(({ label, values }) => {
    const known = values.flatMap((value, i) => (value == null ? [] : [[x[i], value]]));
    if (known.length === 0) return `${label}: none.`;
    const heights = known.map(([, value]) => value);
    const [first, last] = [known[0], known[known.length - 1]];
    return `${label}: ${number(first[1])} at ${number(first[0])}, ${number(last[1])} at ${number(last[0])}, lowest ${number(Math.min(...heights))}, highest ${number(Math.max(...heights))}.`;
  });
  const more = lines.length > SPOKEN ? [`${lines.length - SPOKEN} more.`] : [];
  const marked = marks.filter(({ label }) => label !== "").map(({ x: place, label }) => `Line at ${number(place)}: ${label}.`);
  return [`${title}: ${unit} against ${xLabel}.`, ...said, ...more, ...marked].join(" ");
}

/** Returns the values of a chart as a table.
 * @param {Drawing} drawing */
export function csvOf({ x, xLabel, lines, unit }) {
  const quoted = (/** @type {string} */ text) => `"${text.replaceAll('"', '""')}"`;
  const head = [xLabel, ...lines.map((line) => `${line.label} (${unit})`)].map(quoted).join(",");
  const rows = x.map((value, i) => [rounded(value), ...lines.map((line) => rounded(line.values[i]))].join(","));
  return `${[head, ...rows].join("\n")}\n`;
}

/** Returns a value with six digits.
 * @param {number | null | undefined} value */
const rounded = (value) => (value == null ? "" : Number(value.toPrecision(6)));

/** @param {Drawing & {label: string, chart: {current: any}}} props */
function Chart({ label, chart, ...drawing }) {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const now = useRef(drawing);
  now.current = drawing;
  const shape = shapeOf(drawing);
  useLayoutEffect(() => {
    const element = /** @type {HTMLElement} */ (place.current);
    const draw = () => {
      chart.current?.destroy();
      chart.current = new uPlot(options(now, element), dataOf(now.current), element);
    };
    draw();
    const resized = new ResizeObserver(() => {
      const { width, height } = sizeOf(element);
      if (chart.current.width !== width || chart.current.height !== height) chart.current.setSize({ width, height });
    });
    resized.observe(element);
    const end = whenPaperChanges(draw);
    return () => {
      resized.disconnect();
      end();
      chart.current.destroy();
      chart.current = null;
    };
  }, [shape]);
  const line = useRef(/** @type {HTMLElement | null} */ (null));
  const { playhead } = drawing;
  useLayoutEffect(() => playhead?.follow(() => {
    const element = /** @type {HTMLElement} */ (line.current);
    element.hidden = playhead.time === null || !chart.current;
    if (!element.hidden) element.style.transform = `translateX(${(chart.current.bbox.left / devicePixelRatio + chart.current.valToPos(playhead.time, "x")).toFixed(1)}px)`;
  }));
  const seek = (/** @type {MouseEvent} */ event) => {
    const left = event.clientX - /** @type {HTMLElement} */ (place.current).getBoundingClientRect().left;
    playhead?.seek(Math.max(0, chart.current.posToVal(left - chart.current.bbox.left / devicePixelRatio, "x")));
  };
  // A chart of the same shape gets new values, because a new chart takes several times as long.
  const drawn = useRef("");
  useLayoutEffect(() => {
    if (drawn.current === shape) chart.current.setData(dataOf(drawing));
    drawn.current = shape;
    const element = /** @type {HTMLElement} */ (place.current);
    element.dataset.drawn = String(Number(element.dataset.drawn ?? 0) + 1);
  }, [shape, drawing.of]);
  return html`<div class="chart" role="img" aria-label=${label} ref=${place} onClick=${seek}>${playhead && html`<div class="playhead" ref=${line}></div>`}</div>`;
}

/** Returns all of a drawing that is fixed when a chart is made, as a text.
 * @param {Drawing} drawing */
const shapeOf = ({ lines, bands, unit, xLabel }) =>
  JSON.stringify([lines.map(({ values, ...look }) => look), bands, unit, xLabel]);

/** Returns the values of a drawing as uPlot takes them.
 * @param {Drawing} drawing */
const dataOf = ({ x, lines }) => [x, ...lines.map((line) => line.values)];

/** Returns the options of uPlot. The ends of axes and the marks change with the values.
 * @param {{current: Drawing}} now @param {HTMLElement} element */
function options(now, element) {
  const { lines, bands = [], unit, xLabel } = now.current;
  const style = getComputedStyle(element);
  const ink = style.getPropertyValue("--ink").trim();
  const grid = { stroke: style.getPropertyValue("--grid").trim(), width: 1 };
  const font = "12px system-ui, sans-serif";
  const axis = { stroke: ink, grid, ticks: grid, font, labelFont: font, labelSize: 16 };
  const range = (/** @type {any} */ _, /** @type {number} */ low, /** @type {number} */ high) => [
    Math.min(now.current.from ?? 0, low ?? 0),
    Math.max(now.current.to ?? 0, high || 1) * 1.05,
  ];
  // The labels of large numbers need more room beside the name of the axis.
  const wide = (/** @type {any} */ _, /** @type {string[] | null} */ labels) =>
    Math.max(50, 8 + 7 * Math.max(0, ...(labels ?? []).map((one) => one.length)) + 16);
  return {
    ...sizeOf(element),
    padding: [null, 30, null, null],
    scales: { x: { time: false }, y: { range } },
    axes: [{ ...axis, label: xLabel, size: 28 }, { ...axis, label: unit, size: wide, ...(unit === "packets" ? { incrs: WHOLE } : {}) }],
    legend: { show: false },
    cursor: { y: false, points: { size: 5 } },
    series: [{ label: xLabel }, ...lines.map(seriesOf)],
    bands: bands.map((series) => ({ series, fill: `${onPaper(lines[series[0] - 1].colour)}40` })),
    hooks: { draw: [(/** @type {any} */ chart) => drawMarks(chart, now.current.marks ?? [], ink, style.getPropertyValue("--paper").trim())] },
  };
}

/** Steps of an axis of whole numbers. */
const WHOLE = [0, 1, 2, 3, 4, 5].flatMap((power) => [1, 2, 5].map((step) => step * 10 ** power));

/** Returns a line as uPlot describes it.
 * @param {Line} line */
function seriesOf({ label, colour, width = 1.5, dash, points = false }) {
  const value = (/** @type {any} */ _, /** @type {number | null} */ v) => (v == null ? "" : number(v));
  const stroke = onPaper(colour);
  return { label, stroke, width, dash, points: { show: points, size: 6, fill: stroke }, spanGaps: true, value };
}

/** Draws vertical lines, and then a label beside each, so that no line crosses a label.
 * @param {any} chart @param {Mark[]} marks @param {string} ink @param {string} paper */
function drawMarks(chart, marks, ink, paper) {
  const { ctx, bbox } = chart;
  const shown = marks.filter(({ x }) => x >= chart.scales.x.min && x <= chart.scales.x.max);
  const placed = shown.map(({ x, label }) => ({ x, label, at: chart.valToPos(x, "x", true) }));
  ctx.save();
  ctx.strokeStyle = ink;
  for (const { at } of placed) {
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([4, 4]);
    ctx.beginPath();
    ctx.moveTo(at, bbox.top);
    ctx.lineTo(at, bbox.top + bbox.height);
    ctx.stroke();
  }
  // A border in the colour of the page keeps a label apart from lines behind it.
  ctx.setLineDash([]);
  ctx.lineWidth = 4 * devicePixelRatio;
  ctx.lineJoin = "round";
  ctx.strokeStyle = paper;
  ctx.fillStyle = ink;
  ctx.font = `${12 * devicePixelRatio}px system-ui, sans-serif`;
  for (const { x, label, at } of placed) {
    const before = isBefore(at - bbox.left, ctx.measureText(label).width, bbox.width);
    ctx.textAlign = before ? "right" : "left";
    const down = labelPlace(chart, x, bbox.height / devicePixelRatio) * devicePixelRatio;
    const place = [at + (before ? -5 : 5) * devicePixelRatio, bbox.top + down];
    ctx.strokeText(label, ...place);
    ctx.fillText(label, ...place);
  }
  ctx.restore();
}

/** Returns true if the label of a mark is written to the left of its line: behind it there is no room, or the line is in
 * the last two fifths of the chart.
 * @param {number} at place of the line from the left end of the chart @param {number} wide width of the label
 * @param {number} width width of the chart, all in the same unit */
export const isBefore = (at, wide, width) => at > 0.6 * width || (at + wide + 5 > width && at > wide + 5);

/** Returns the place of a mark's label below the upper end of a chart, in CSS pixels: where no line runs.
 * @param {any} chart @param {number} x @param {number} high */
export const labelPlace = (chart, x, high) => (isLow(chart, x) ? 12 : high - 6);

/** Returns true if the last line that reaches a place runs through the lower half there.
 * @param {any} chart @param {number} x */
function isLow(chart, x) {
  const [places, ...lines] = chart.data;
  const from = Math.max(0, places.findIndex((/** @type {number} */ place) => place >= x));
  const values = lines.map((/** @type {(number | null)[]} */ line) => line.slice(from).find((value) => value != null)).filter((/** @type {any} */ value) => value != null);
  const { min, max } = chart.scales.y;
  return values.length > 0 && values.at(-1) < (min + max) / 2;
}
