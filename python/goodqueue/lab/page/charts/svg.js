// @ts-check
// A chart as a standalone SVG file, drawn from the scales and ticks that uPlot has chosen.

import { isBefore, labelPlace } from "./plot.js";

/** @param {string} text */
export const escaped = (text) => text.replace(/[<>&"]/g, (letter) => `&#${letter.charCodeAt(0)};`);

/** Width of a letter of a label, about, in CSS pixels. */
const LETTER = 6.5;

/** Returns the SVG text of a chart.
 * @param {any} chart
 * @param {import("./plot.js").Drawing & {title: string, source: string}} drawing */
export function svgOf(chart, { title, source, x, lines, bands = [], unit, xLabel, marks = [] }) {
  const ratio = devicePixelRatio;
  const head = 24;
  const legend = 18 * lines.length;
  const [left, top] = [chart.bbox.left / ratio, chart.bbox.top / ratio + head];
  const [width, height] = [chart.bbox.width / ratio, chart.bbox.height / ratio];
  const [right, bottom] = [left + width, top + height];
  const at = (/** @type {number} */ value, /** @type {string} */ scale) =>
    (chart.valToPos(value, scale) + (scale === "x" ? left : top)).toFixed(1);
  const parts = [text(left, 16, title, "start", 'font-weight="bold"')];
  for (const [scale, axis] of [["x", chart.axes[0]], ["y", chart.axes[1]]]) {
    axis._splits.forEach((/** @type {number} */ value, /** @type {number} */ i) => {
      const place = Number(at(value, scale));
      const label = String(axis._values[i] ?? "");
      parts.push(scale === "x"
        ? line(place, top, place, bottom, "#ddd") + text(place, bottom + 15, label, "middle")
        : line(left, place, right, place, "#ddd") + text(left - 6, place + 4, label, "end"));
    });
  }
  parts.push(text((left + right) / 2, bottom + 32, xLabel, "middle"));
  parts.push(`<g transform="translate(12 ${(top + bottom) / 2}) rotate(-90)">${text(0, 0, unit, "middle")}</g>`);
  for (const [high, low] of bands) {
    const edge = (/** @type {number} */ one) => x.map((value, i) => [at(value, "x"), at(lines[one - 1].values[i] ?? 0, "y")].join());
    parts.push(`<polygon points="${[...edge(high), ...edge(low).reverse()].join(" ")}" fill="${lines[high - 1].colour}" fill-opacity="0.25"/>`);
  }
  lines.forEach(({ label, values, colour, width: thick = 1.5, dash, points }, i) => {
    const places = x.map((value, k) => [value, values[k]]).filter(([, v]) => v != null).map(([a, b]) => [at(Number(a), "x"), at(Number(b), "y")]);
    const dashed = dash ? ` stroke-dasharray="${dash.join(" ")}"` : "";
    if (thick > 0) parts.push(`<polyline points="${places.map((one) => one.join()).join(" ")}" fill="none" stroke="${colour.slice(0, 7)}" stroke-width="${thick}"${dashed}/>`);
    if (points) parts.push(...places.map(([a, b]) => `<circle cx="${a}" cy="${b}" r="3" fill="${colour.slice(0, 7)}"/>`));
    const row = bottom + 46 + 18 * i;
    parts.push(line(left, row, left + 22, row, colour.slice(0, 7), `stroke-width="3"${dashed}`) + text(left + 28, row + 4, label, "start"));
  });
  const placed = marks.map((mark) => ({ ...mark, place: Number(at(mark.x, "x")) })).filter(({ place }) => place >= left && place <= right);
  for (const { place } of placed) parts.push(line(place, top, place, bottom, "#222", 'stroke-dasharray="4 4"'));
  for (const { x: value, label, place } of placed) {
    const before = isBefore(place - left, LETTER * label.length, width);
    const height = top + labelPlace(chart, value, bottom - top);
    parts.push(text(place + (before ? -5 : 5), height, label, before ? "end" : "start", 'stroke="#fff" stroke-width="4" stroke-linejoin="round" paint-order="stroke"'));
  }
  parts.push(text(left, bottom + 52 + legend, source, "start", 'font-size="10" fill="#5b6270"'));
  const [wide, tall] = [Math.ceil(right + 14), Math.ceil(bottom + 64 + legend)];
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${wide}" height="${tall}" viewBox="0 0 ${wide} ${tall}" font-family="sans-serif" font-size="12">
<rect width="100%" height="100%" fill="#fff"/>
${parts.join("\n")}
</svg>
`;
}

/** @param {number} x @param {number} y @param {string} content @param {string} anchor */
export const text = (x, y, content, anchor, more = "") =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}" ${more}>${escaped(content)}</text>`;

/** @param {number} x1 @param {number} y1 @param {number} x2 @param {number} y2 @param {string} colour */
export const line = (x1, y1, x2, y2, colour, more = "") =>
  `<line x1="${x1.toFixed(1)}" y1="${y1.toFixed(1)}" x2="${x2.toFixed(1)}" y2="${y2.toFixed(1)}" stroke="${colour}" ${more}/>`;
