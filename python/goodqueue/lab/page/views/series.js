// @ts-check
// Series of a run over time: the queue, the windows, round-trip times and rates.

import { COLOURS, Plot } from "../charts/plot.js";
import { number } from "../compute/figures.js";
import { html } from "../vendor/htm-preact-3.1.1.js";
import { COLUMNS } from "../compute/work.js";

/** What the charts of one side need. `to` has upper ends of axes that both sides share.
 * @typedef {{picture: any, side: string, to: {packets: number, window: number, rtt: number},
 *   playhead: import("../packets/playhead.js").Playhead}} Props */

/** Returns what all charts of a picture share.
 * @param {Props} props */
function common({ picture, side, playhead }) {
  const { links, flows, column_s: width } = picture;
  const x = links[0].mean_packets.map((/** @type {number} */ _, /** @type {number} */ i) => (i + 0.5) * width);
  const lines = (/** @type {string} */ key, /** @type {number} */ by) =>
    flows.map((/** @type {any} */ flow, /** @type {number} */ i) => ({ label: flow.name, values: scaled(flow[key], by), colour: COLOURS[i % COLOURS.length] }));
  return { lines, name: side ? `${side}: ` : "", file: side ? `-${side.toLowerCase()}` : "", time: { x, xLabel: "time in s", of: picture, playhead } };
}

/** The queue and the windows.
 * @param {Props} props */
export function Series(props) {
  const { picture, to } = props;
  const { links, column_s: width, warmup_s: warmup } = picture;
  const { lines, name, file, time } = common(props);
  const link = links[0];
  const dropped = sum(link.drops);
  const marked = sum(link.marks);
  const windows = lines("cwnd_bytes", 1e-3).filter((/** @type {any} */ { values }) => values.some((/** @type {any} */ value) => value !== null));
  const where = (/** @type {number[]} */ counts) => counts.map((n, i) => (n > 0 ? link.high_packets[i] : null));
  return html`
    <${Plot} ...${time} title=${`${name}packets waiting`} file=${`queue${file}`} unit="packets" bands=${[[2, 1]]} to=${to.packets}
      marks=${[{ x: warmup, label: props.side === "B" ? "" : "measured from here" }]}
      lines=${[
        { label: "lowest", values: link.low_packets, colour: COLOURS[0], width: 0.5 },
        { label: "highest", values: link.high_packets, colour: COLOURS[0], width: 0.5 },
        { label: "mean", values: link.mean_packets, colour: COLOURS[0], width: 2 },
        { label: "drops", values: where(link.drops), colour: COLOURS[1], width: 0, points: true },
        ...(marked > 0 ? [{ label: "marks", values: where(link.marks), colour: COLOURS[2], width: 0, points: true }] : []),
      ]}
      caption=${`Lowest to highest in each ${number(width * 1e3)} ms. Orange: ${counted(dropped, "drop")}${marked > 0 ? `; green: ${counted(marked, "mark")}` : ""}.`} />
    <${Plot} ...${time} title=${`${name}congestion windows`} file=${`windows${file}`} unit="kB" lines=${windows} to=${to.window}
      caption=${`Data that ${windows.length === 1 ? "the sender" : `each of the ${windows.length} senders shown`} may have on the way.`} />`;
}

/** Round-trip times and rates.
 * @param {Props} props */
export function Rates(props) {
  const { picture, to } = props;
  const { lines, name, file, time } = common(props);
  return html`
    <${Plot} ...${time} title=${`${name}round-trip time`} file=${`rtt${file}`} unit="ms" lines=${lines("highest_rtt_s", 1e3)} to=${to.rtt}
      caption=${`Largest of each flow in each ${number(picture.column_s * 1e3)} ms. What exceeds the base is waiting.`} />
    <${Plot} ...${time} title=${`${name}throughput`} file=${`throughput${file}`} unit="Mb/s" lines=${smoothed(lines("throughput_bps", 1e-6))}
      caption=${`Rate at which each flow's packets arrive, averaged over ${number(picture.duration_s / 60)} s.`} />`;
}

/** Returns upper ends of the axes that the sides share.
 * @param {any[]} pictures */
export function commonEnds(pictures) {
  const top = (/** @type {(picture: any) => (number | null)[][]} */ of) =>
    Math.max(0, ...pictures.flatMap((picture) => of(picture).flat()).map((value) => value ?? 0));
  return {
    packets: top((one) => [one.links[0].high_packets]),
    window: 1e-3 * top((one) => one.flows.map((/** @type {any} */ flow) => flow.cwnd_bytes)),
    rtt: 1e3 * top((one) => one.flows.map((/** @type {any} */ flow) => flow.highest_rtt_s)),
  };
}

/** @param {(number | null)[]} values @param {number} by */
const scaled = (values, by) => values.map((v) => (v == null ? null : v * by));

/** @param {number} count @param {string} what */
const counted = (count, what) => `${number(count)} ${what}${count === 1 ? "" : "s"}`;

/** @param {number[]} values */
const sum = (values) => values.reduce((a, b) => a + b, 0);

/** Averages each line over a sixtieth of the run, because single columns hold few packets.
 * @param {any[]} lines */
function smoothed(lines) {
  const reach = Math.round(COLUMNS / 120);
  return lines.map((line) => ({
    ...line,
    values: line.values.map((/** @type {number} */ _, /** @type {number} */ i) => {
      const part = line.values.slice(Math.max(0, i - reach), i + reach);
      return sum(part) / part.length;
    }),
  }));
}
