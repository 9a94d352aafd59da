// @ts-check
// The knee: what a buffer buys, and what it costs.

import { COLOURS, Legend, Plot } from "../charts/plot.js";
import { recommended } from "../compute/check.js";
import { number } from "../compute/figures.js";
import { html } from "../vendor/htm-preact-3.1.1.js";

/** Short names of published rules.
 * @type {Record<string, string>} */
const RULES = { bdp: "BDP", sqrt_n: "BDP/√N", window_decrease: "window decrease", bscl: "BSCL", tiny: "tiny buffers" };

/** Returns a thin mark for each buffer that published rules give, each with its label in a row of its own.
 * @param {{rule: string, title: string, packets: number}[]} rules */
export function marksOf(rules) {
  const names = new Map();
  for (const { rule, title, packets } of rules) names.set(packets, [...(names.get(packets) ?? []), RULES[rule] ?? title]);
  const rising = [...names].sort(([p], [q]) => p - q);
  return rising.map(([packets, all], i) => ({ x: packets, label: `${all.join(", ")}: ${number(packets)}`, row: i + 1 }));
}

const COLOUR = { a: COLOURS[0], b: COLOURS[1] };

/** @param {{found: import("../compute/work.js").Found}} props */
export function Knee({ found: { a, b, instant, check } }) {
  const curve = instant?.curve;
  const sides = /** @type {["a" | "b", any][]} */ ([["a", a], ["b", b]]).filter(([, side]) => side !== null);
  const points = sides.flatMap(([, side]) => side.knee);
  if (points.length === 0 && !curve) return null;
  const x = [...new Set([...points.map((p) => p.packets), ...(curve?.packets ?? [])])].filter((p) => p > 0).sort((p, q) => p - q);
  const along = (/** @type {[number, number][]} */ pairs) => {
    const known = new Map(pairs);
    return x.map((p) => known.get(p) ?? null);
  };
  const simulated = (/** @type {string} */ key, /** @type {number} */ by) =>
    sides.map(([name, side]) => ({
      label: b ? `simulated, ${name.toUpperCase()}` : "simulated",
      values: along(side.knee.map((/** @type {any} */ p) => [p.packets, p.link[key] * by])),
      colour: COLOUR[name],
      width: 1,
      points: true,
    }));
  const expected = (/** @type {string} */ key, /** @type {number} */ by) =>
    curve ? [{ label: "calibrated theory, FIFO", values: along(curve.packets.map((/** @type {number} */ p, /** @type {number} */ i) => [p, curve[key][i] * by])), colour: COLOURS[7], dash: [5, 4] }] : [];
  const best = instant?.answer?.packets ? recommended(instant.answer, check).packets : null;
  const marks = best ? [{ x: best, label: `${number(best)} packets` }] : [];
  const rules = marksOf(instant?.rules ?? []);
  const common = { x, xLabel: "buffer in packets", logX: true, of: JSON.stringify([points.length, best, x.length, points.at(-1)?.link.utilization]) };
  const busy = [...simulated("utilization", 100), ...expected("utilization", 100)];
  return html`
    <${Plot} ...${common} title="What a buffer buys" file="knee-utilisation" unit="% busy" to=${100} lines=${busy} marks=${[...rules, ...marks]}
      caption=${html`<${Legend} lines=${busy} />${rules.length > 0 && "Thin lines: buffers of published rules."}`} />
    <${Plot} ...${common} title="What it costs" file="knee-delay" unit="ms, p99" marks=${marks}
      lines=${[...simulated("p99_queueing_delay_s", 1e3), ...expected("p99_delay_s", 1e3)]}
      caption="99th percentile of the queueing delay. Points are short single runs." />`;
}
