// @ts-check
// Figures of runs, their intervals over seeds, and the words and units in which they are shown.

/** @typedef {Record<string, number | null>} Figures */

/** Returns a number with three digits.
 * @param {number} value */
export function number(value) {
  if (value === 0) return "0";
  if (Math.abs(value) < 0.001) return String(Number(value.toPrecision(2))).replace("-", "−");
  return value.toLocaleString("en", { maximumFractionDigits: decimals(value) }).replace("-", "−");
}

/** Returns the decimals of a number as it is shown.
 * @param {number} value */
function decimals(value) {
  const size = Math.abs(value);
  if (size > 0 && size < 0.001) return 1 - Math.floor(Math.log10(size));
  return size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
}

/** Name, unit and factor of each figure.
 * @type {Record<string, {name: string, unit: string, by: number}>} */
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

/** Returns a figure in its unit.
 * @param {string} key @param {number | null | undefined} value */
export function shown(key, value) {
  if (value === null || value === undefined) return "–";
  const { unit, by } = FIGURES[key];
  const text = key === "drops" || key === "marks" ? number(Math.round(value)) : number(value * by);
  if (unit === "packets" && text === "1") return "1\u00a0packet";
  return `${text}${unit ? `\u00a0${unit}` : ""}`;
}

/** Returns the figures of a run at its first link.
 * @param {any} picture @returns {Figures} */
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

/** A mean with half the width of its 95 % interval and its ends, which are null for a single run.
 * @typedef {{mean: number, half: number | null, low: number | null, high: number | null}} Interval */
/** @typedef {Record<string, Interval | null>} Means */

/** Returns the figures of a single run as means.
 * @param {Figures} figures @returns {Means} */
export const alone = (figures) => Object.fromEntries(Object.entries(figures).map(([key, mean]) =>
  [key, mean == null ? null : { mean, half: null, low: null, high: null }]));

/** Largest rounding error of a mean, as a share of it. */
const ROUNDING = 1e-9;

/** Returns the half width of an interval in words, with at most one decimal more than the mean, or its ends if one
 * of them is the end of the figure's range. Returns nothing for a single run.
 * @param {string} key @param {Interval | null | undefined} found */
export function spread(key, found) {
  if (found?.half == null || found.low === null || found.high === null) return "";
  const [low, high] = [shown(key, found.low), shown(key, found.high)];
  const whole = low === high || found.high - found.low >= 1.999 * found.half;
  if (!whole) return `${low} to ${high}`;
  if (found.half <= ROUNDING * Math.abs(found.mean)) return "in each run";
  const { by } = FIGURES[key];
  const step = 10 ** -(decimals(found.mean * by) + 1);
  const half = Math.round((found.half * by) / step) * step;
  return half === 0 ? `± less than ${shown(key, step / by)}` : `±\u00a0${shown(key, half / by)}`;
}
