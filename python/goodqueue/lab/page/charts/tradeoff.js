// @ts-check
// The picture of the trade-off: how long packets wait against how busy the link is, as SVG for the screen and for files.

import { escaped, line, text } from "./svg.js";

/** A point: wait in ms, share of time in which the link is busy, and a label, which may be empty. `low` and `high` are ends
 * of intervals of both.
 * @typedef {{x: number, y: number, label?: string, low?: [number, number], high?: [number, number]}} Point */
/** The curve of one side by rising buffer, and where its setting is.
 * @typedef {{name: string, colour: string, points: Point[], here: Point}} Curve */
/** `band` has the waits of the recommended buffers, `rules` those of published rules.
 * @typedef {{curves: Curve[], theory: Point[], band: {from: number, to: number, label: string} | null, rules: Point[], points: string}} Model */
/** @typedef {{ink: string, soft: string, grid: string, paper: string, card: string, good: string}} Colours */

/** Share of the time from which on the axis is enlarged, and part of the height that the rest has. */
const KNEE = 0.98;
const REST = 0.36;
/** Ticks of the enlarged part. */
const FINE = [0.98, 0.985, 0.99, 0.995, 1];
/** Least part of the axis of waits that is drawn, as a factor. */
const LEAST_SPAN = 10;
/** Widths of margins in CSS pixels. */
const [LEFT, RIGHT, TOP, BOTTOM] = [58, 16, 14, 42];
/** Least gap between two labels along, and least distance across, in CSS pixels; half the width of a letter. */
const [GAP, ACROSS, LETTER] = [6, 14, 3.2];

/** Returns the scales of a model: places of waits and shares, and the ticks of both.
 * @param {Model} model @param {number} width @param {number} height */
function scales({ curves, theory }, width, height) {
  const all = [...curves.flatMap(({ points, here }) => [...points, here]), ...theory];
  const waits = all.map(({ x }) => x).filter((x) => x > 0);
  const most = Math.max(1, ...waits) * 1.3;
  const least = Math.min(most / LEAST_SPAN, Math.max(0.05, most / 3000, Math.min(...waits)) / 1.2);
  const lowest = Math.min(0.9, ...all.map(({ y }) => Math.floor(10 * y) / 10));
  const [wide, tall] = [width - LEFT - RIGHT, height - TOP - BOTTOM];
  const x = (/** @type {number} */ wait) => LEFT + (wide * Math.log(Math.min(Math.max(wait, least), most) / least)) / Math.log(most / least);
  const part = (/** @type {number} */ share) => (share < KNEE ? (REST * (share - lowest)) / (KNEE - lowest) : REST + ((1 - REST) * (share - KNEE)) / (1 - KNEE));
  const y = (/** @type {number} */ share) => TOP + tall * (1 - part(Math.min(Math.max(share, lowest), 1)));
  const decades = [-2, -1, 0, 1, 2, 3, 4].flatMap((power) => [1, 2, 5].map((step) => step * 10 ** power));
  return { x, y, waits: decades.filter((one) => one >= least && one <= most), shares: [lowest, ...FINE] };
}

/** Returns the picture.
 * @param {Model} model @param {{width: number, height: number, colours: Colours, title?: string, source?: string}} look */
export function tradeoffSvg(model, { width, height, colours, title = "", source = "" }) {
  const head = title ? 24 : 0;
  const legend = title ? 20 * (2 + model.curves.length) : 0;
  const { x, y, waits, shares } = scales(model, width, height);
  const { ink, soft, grid, paper, card, good } = colours;
  const [bottom, right] = [height - BOTTOM, width - RIGHT];
  const parts = [`<rect x="${LEFT}" y="${TOP}" width="${right - LEFT}" height="${y(KNEE) - TOP}" fill="${card}"/>`];
  for (const share of shares) parts.push(line(LEFT, y(share), right, y(share), grid), text(LEFT - 6, y(share) + 4, `${Number((100 * share).toPrecision(4))} %`, "end", fill(soft)));
  for (const wait of waits) parts.push(line(x(wait), TOP, x(wait), bottom, grid), text(x(wait), bottom + 18, String(wait), "middle", fill(soft)));
  parts.push(line(LEFT, y(KNEE), right, y(KNEE), soft, 'stroke-dasharray="2 3"'));
  parts.push(text((LEFT + right) / 2, bottom + 36, "waiting in ms: 99 of 100 packets wait no longer", "middle", fill(ink)));
  if (model.band) parts.push(...bandOf(model.band, { x, right, bottom }, good));
  const along = (/** @type {Point[]} */ points) => points.map((one) => `${x(one.x).toFixed(1)},${y(one.y).toFixed(1)}`).join(" ");
  if (model.theory.length > 0) parts.push(`<polyline points="${along(model.theory)}" fill="none" stroke="${soft}" stroke-width="1.2" stroke-dasharray="5 4"/>`);
  const taken = model.curves.map(({ name, here }) => {
    const { at, half } = hereLabel(name, here, x, right);
    return [at, y(here.y) + HERE, half];
  });
  const halo = `stroke="${paper}" stroke-width="4" stroke-linejoin="round" paint-order="stroke"`;
  const said = (/** @type {Point} */ one, /** @type {number} */ down, /** @type {"start" | "middle" | "end"} */ anchor, /** @type {string} */ colour) => {
    if (!one.label) return;
    const under = y(one.y) + down;
    const [at, high, half] = [x(one.x), under > bottom - 4 ? y(one.y) - 9 : under, LETTER * one.label.length];
    const middle = at + half * { start: 1, middle: 0, end: -1 }[anchor];
    if (taken.some(([a, b, other]) => Math.abs(a - middle) < half + other + GAP && Math.abs(b - high) < ACROSS)) return;
    taken.push([middle, high, half]);
    parts.push(text(at, high, one.label, anchor, `${fill(colour)} ${halo}`));
  };
  for (const rule of model.rules) parts.push(line(x(rule.x), TOP, x(rule.x), bottom, ink, 'stroke-width="0.6"'));
  for (const { colour, points } of model.curves) {
    parts.push(`<polyline points="${along(points)}" fill="none" stroke="${colour}" stroke-width="2"/>`);
    for (const one of points) parts.push(`<circle cx="${x(one.x).toFixed(1)}" cy="${y(one.y).toFixed(1)}" r="3" fill="${colour}"><title>${escaped(one.label ?? "")}</title></circle>`);
  }
  for (const { name, colour, here } of model.curves) parts.push(...hereOf(name, colour, here, { x, y, right, paper, halo }));
  model.rules.forEach((rule, i) => said({ ...rule, y: shares[0] }, -8 - 14 * (i + Number(model.band !== null)), x(rule.x) > 0.7 * width ? "end" : "start", ink));
  for (const { points } of model.curves) for (const one of points) said(one, 16, "middle", soft);
  const all = `<g transform="translate(0 ${head})">${parts.join("")}</g>`;
  const heading = title ? legendOf(model, head + height + 6, colours) + text(LEFT, 17, title, "start", `font-weight="bold" ${fill(ink)}`) : "";
  const foot = source ? text(LEFT, head + height + legend, source, "start", `font-size="10" ${fill(soft)}`) : "";
  const tall = head + height + legend + (source ? 12 : 0);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${tall}" viewBox="0 0 ${width} ${tall}" font-family="system-ui, sans-serif" font-size="12">
<rect width="100%" height="100%" fill="${paper}"/>${all}${heading}${foot}</svg>`;
}

/** @param {string} colour */
const fill = (colour) => `fill="${colour}"`;

/** Draws the waits of the recommended buffers.
 * @param {{from: number, to: number, label: string}} band @param {any} at @param {string} colour */
function bandOf({ from, to, label }, { x, right, bottom }, colour) {
  const [left, wide] = [x(from), Math.max(4, x(to) - x(from))];
  const isLeft = left > right * 0.6;
  return [`<rect x="${left.toFixed(1)}" y="${TOP}" width="${wide.toFixed(1)}" height="${bottom - TOP}" fill="${colour}" fill-opacity="0.2"/>`,
    text(isLeft ? left - 5 : left + wide + 5, bottom - 6, label, isLeft ? "end" : "start", `${fill(colour)} font-weight="600"`)];
}

/** Distance of a setting's label below its point. */
const HERE = 32;

/** Returns the label of a setting, half its width and its place, which is within the picture.
 * @param {string} name @param {Point} here @param {(wait: number) => number} x @param {number} right */
function hereLabel(name, here, x, right) {
  const words = `${name || "you are here"}${here.label ? `: ${here.label}` : ""}`;
  const half = 3.8 * words.length;
  return { words, half, at: Math.min(Math.max(x(here.x), LEFT + half), right - half) };
}

/** Draws where a setting is, with its intervals if they are given.
 * @param {string} name @param {string} colour @param {Point} here @param {any} at */
function hereOf(name, colour, here, { x, y, right, paper, halo }) {
  const [a, b] = [x(here.x), y(here.y)];
  const ends = here.low && here.high ? line(x(here.low[0]), b, x(here.high[0]), b, colour, 'stroke-width="2"') + line(a, y(here.low[1]), a, y(here.high[1]), colour, 'stroke-width="2"') : "";
  const { words, at } = hereLabel(name, here, x, right);
  return [ends, `<circle cx="${a.toFixed(1)}" cy="${b.toFixed(1)}" r="8" fill="${colour}" stroke="${paper}" stroke-width="2"/>`,
    text(at, b + HERE, words, "middle", `${fill(colour)} font-weight="700" font-size="13" ${halo}`)];
}

/** @param {Model} model @param {number} top @param {Colours} colours */
function legendOf({ curves, theory, points }, top, { soft, ink }) {
  const rows = [...curves.map(({ name, colour }) => ({ label: `${name ? `${name}: ` : ""}${points}`, colour, dash: "" })),
    ...(theory.length > 0 ? [{ label: "calibrated theory of a FIFO", colour: soft, dash: 'stroke-dasharray="5 4"' }] : [])];
  return rows.map(({ label, colour, dash }, i) => line(LEFT, top + 20 * i, LEFT + 22, top + 20 * i, colour, `stroke-width="3" ${dash}`) + text(LEFT + 28, top + 4 + 20 * i, label, "start", fill(ink))).join("");
}
