// Charts of a picture. Each is a uPlot chart with a sentence that says what it shows.

import { html, useEffect, useRef } from "/vendor/htm-preact-3.1.1.js";

const uPlot = /** @type {any} */ (globalThis).uPlot;

/** Colours that colour-blind readers can tell apart (Okabe and Ito). */
export const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a6d00", "#777777"];

const HEIGHT = 190;

/** @typedef {{label: string, values: (number | null)[], colour: string, width?: number, dash?: number[], points?: boolean}} Line */

/** Ends of the x axis that charts over time share.
 * @param {{x: number[], lines: Line[], bands?: [number, number][], label: string, unit: string, xLabel: string, logX?: boolean, from?: number, marks?: {x: number, label: string}[]}} props */
export function Chart({ x, lines, bands = [], label, unit, xLabel, logX = false, from = 0, marks = [] }) {
  const place = useRef(null);
  useEffect(() => {
    const host = /** @type {unknown} */ (place.current);
    const element = /** @type {HTMLElement} */ (host);
    const ink = getComputedStyle(element).getPropertyValue("--ink").trim() || "#222";
    const grid = { stroke: getComputedStyle(element).getPropertyValue("--grid").trim() || "#ddd", width: 1 };
    const axis = { stroke: ink, grid, ticks: grid, font: "12px system-ui" };
    const options = {
      width: element.clientWidth || 600,
      height: HEIGHT,
      scales: { x: { time: false, distr: logX ? 3 : 1 }, y: { range: (/** @type {any} */ _, /** @type {number} */ low, /** @type {number} */ high) => [Math.min(from, low ?? 0), (high || 1) * 1.05] } },
      axes: [
        { ...axis, label: xLabel, labelSize: 18, size: 30, labelFont: "12px system-ui" },
        { ...axis, label: unit, labelSize: 18, size: 56, labelFont: "12px system-ui" },
      ],
      legend: { show: lines.length > 1 },
      cursor: { y: false, points: { size: 5 } },
      series: [
        { label: xLabel },
        ...lines.map(({ label: name, colour, width = 1.5, dash, points = false }) => ({
          label: name,
          stroke: colour,
          width,
          dash,
          points: { show: points, size: 7, fill: colour },
          spanGaps: true,
          value: (/** @type {any} */ _, /** @type {number | null} */ v) => (v == null ? "" : number(v)),
        })),
      ],
      bands: bands.map((series) => ({ series, fill: COLOURS[0] + "40" })),
      hooks: { draw: [(/** @type {any} */ chart) => drawMarks(chart, marks, ink)] },
    };
    const chart = new uPlot(options, [x, ...lines.map((line) => line.values)], element);
    const resized = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: HEIGHT }));
    resized.observe(element);
    return () => {
      resized.disconnect();
      chart.destroy();
    };
  });
  return html`<div class="chart" role="img" aria-label=${label} ref=${place}></div>`;
}

/** Draws vertical lines with a label at their top.
 * @param {any} chart @param {{x: number, label: string}[]} marks @param {string} ink */
function drawMarks(chart, marks, ink) {
  const { ctx } = chart;
  for (const { x, label } of marks) {
    if (!(x >= chart.scales.x.min && x <= chart.scales.x.max)) continue;
    const at = chart.valToPos(x, "x", true);
    ctx.save();
    ctx.strokeStyle = ink;
    ctx.fillStyle = ink;
    ctx.setLineDash([4, 4]);
    ctx.beginPath();
    ctx.moveTo(at, chart.bbox.top);
    ctx.lineTo(at, chart.bbox.top + chart.bbox.height);
    ctx.stroke();
    ctx.font = `${12 * devicePixelRatio}px system-ui`;
    const right = at > chart.bbox.left + chart.bbox.width * 0.6;
    ctx.textAlign = right ? "right" : "left";
    ctx.fillText(label, at + (right ? -5 : 5) * devicePixelRatio, chart.bbox.top + chart.bbox.height * 0.45);
    ctx.restore();
  }
}

/** Returns a number with three digits. @param {number} value */
export function number(value) {
  if (value === 0) return "0";
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : Math.abs(value) >= 1 ? 2 : 3;
  return value.toLocaleString("en", { maximumFractionDigits: digits });
}
