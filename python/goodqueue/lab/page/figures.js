// @ts-check
// Figures of runs, their intervals over seeds, and the words and units in which they are shown.

/** @typedef {Record<string, number | null>} Figures */

/** Returns a number with three digits. @param {number} value */
export function number(value) {
  if (value === 0) return "0";
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : Math.abs(value) >= 1 ? 2 : 3;
  return value.toLocaleString("en", { maximumFractionDigits: digits }).replace("-", "−");
}

/** Name, unit and factor of each figure. @type {Record<string, {name: string, unit: string, by: number}>} */
export const FIGURES = {
  utilization: { name: "Utilisation", unit: "%", by: 100 },
  loss_rate: { name: "Loss", unit: "%", by: 100 },
  p50_queueing_delay_s: { name: "Delay, median", unit: "ms", by: 1e3 },
  p99_queueing_delay_s: { name: "Delay, p99", unit: "ms", by: 1e3 },
  mean_queueing_delay_s: { name: "Delay, mean", unit: "ms", by: 1e3 },
  jain_index: { name: "Fairness", unit: "", by: 1 },
  goodput_bps: { name: "Goodput", unit: "Mb/s", by: 1e-6 },
  ping_s: { name: "Ping, p99", unit: "ms", by: 1e3 },
  others_share: { name: "Share of the other flows", unit: "%", by: 100 },
  loss_synchronization: { name: "Flows hit by a loss burst", unit: "%", by: 100 },
  drops: { name: "Drops", unit: "packets", by: 1 },
  marks: { name: "Marks", unit: "packets", by: 1 },
  buffer_packets: { name: "Buffer", unit: "packets", by: 1 },
  buffer_s: { name: "Buffer", unit: "ms", by: 1e3 },
  buffer_bdp: { name: "Buffer", unit: "BDP", by: 1 },
};

/** Returns a figure in its unit. @param {string} key @param {number | null | undefined} value */
export function shown(key, value) {
  if (value === null || value === undefined) return "–";
  const { unit, by } = FIGURES[key];
  const text = key === "drops" || key === "marks" ? number(Math.round(value)) : number(value * by);
  if (unit === "packets" && text === "1") return "1\u00a0packet";
  return `${text}${unit ? `\u00a0${unit}` : ""}`;
}

/** Returns the figures of a run at its first link. @param {any} picture @returns {Figures} */
export function figuresOf({ summary, links }) {
  const name = links[0]?.name ?? Object.keys(summary.links)[0];
  const link = summary.links[name];
  const flows = Object.entries(summary.flows ?? {});
  const bulk = flows.filter(([flow]) => !flow.startsWith("ping"));
  const ping = flows.find(([flow]) => flow === "ping");
  const keep = ["utilization", "loss_rate", "p50_queueing_delay_s", "p99_queueing_delay_s", "mean_queueing_delay_s",
    "jain_index", "drops", "marks", "loss_synchronization"];
  return {
    ...Object.fromEntries(keep.map((key) => [key, link[key]])),
    goodput_bps: bulk.reduce((sum, [, flow]) => sum + (flow.goodput_bps ?? 0), 0),
    ping_s: ping?.[1].p99_rtt_s ?? null,
    others_share: link.shares?.other ?? null,
    buffer_packets: link.limit?.packets ?? null,
    buffer_s: link.limit?.ms == null ? null : link.limit.ms / 1e3,
    buffer_bdp: link.limit?.bdp ?? null,
  };
}

/** Student's 97.5 % quantiles for 1 to 9 degrees of freedom. */
const QUANTILES = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262];

/** Returns the mean and half the width of its 95 % interval, which is infinite for a single value.
 * @param {number[]} values */
export function interval(values) {
  const n = values.length;
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  if (n < 2) return { mean, half: Number.POSITIVE_INFINITY };
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (n - 1);
  return { mean, half: QUANTILES[Math.min(n, 10) - 2] * Math.sqrt(variance / n) };
}

/** Returns the values of a figure in runs that have it. @param {Figures[]} runs @param {string} key */
const values = (runs, key) => runs.map((run) => run[key]).filter((value) => value !== null && value !== undefined);

/** Returns a figure's interval over runs, or null. @param {Figures[]} runs @param {string} key */
export function over(runs, key) {
  const found = /** @type {number[]} */ (values(runs, key));
  return found.length === 0 ? null : interval(found);
}

/** Returns the interval of b minus a. Runs of the same seed share their random numbers, so they are pairs.
 * @param {Figures[]} a @param {Figures[]} b @param {string} key */
export function difference(a, b, key) {
  const pairs = a.slice(0, b.length).map((run, i) => [run[key], b[i][key]]);
  const both = pairs.filter(([x, y]) => x != null && y != null);
  return both.length === 0 ? null : interval(both.map(([x, y]) => Number(y) - Number(x)));
}

/** Returns the figures of several runs, as means. @param {Figures[]} runs @returns {Figures} */
export const means = (runs) =>
  Object.fromEntries(Object.keys(FIGURES).map((key) => [key, over(runs, key)?.mean ?? null]));
