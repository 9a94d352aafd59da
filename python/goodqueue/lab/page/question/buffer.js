// @ts-check
// A buffer in the unit in which its reader typed it. The engine reads the text itself; this is what sliders, charts and
// sentences need of it.

import { roughRate, roughRtt } from "./scenario.js";

/** What a buffer's size depends on.
 * @typedef {{rate: string, rtt: string}} Link */

/** Bytes of a packet that a buffer is counted in. */
const BYTES = 1500;

/** @type {Record<string, number>} */
const SIZES = { B: 1, kB: 1e3, MB: 1e6, KiB: 2 ** 10, MiB: 2 ** 20 };
/** @type {Record<string, number>} */
const SECONDS = { us: 1e-6, ms: 1e-3, s: 1 };
/** Spellings of the units that count packets and bandwidth-delay products.
 * @type {Record<string, string>} */
const SPELLINGS = { packets: "p", packet: "p", BDP: "bdp" };
/** Units as sentences print them.
 * @type {Record<string, string>} */
const PRINTED = { p: "packets", bdp: "BDP" };
/** Most steps, each a binary or decimal digit finer, until a text in another unit is a whole number of packets. */
const MOST_STEPS = 24;

/** Returns number and unit of a text, or null.
 * @param {string} text */
function parts(text) {
  const match = /^\s*([\d.]+)\s*([A-Za-z]+)\s*$/.exec(text);
  if (!match) return null;
  const unit = SPELLINGS[match[2]] ?? match[2];
  return unit in PRINTED || unit in SIZES || unit in SECONDS ? { size: Number(match[1]), unit } : null;
}

/** Returns the packets of one unit, or NaN if the link is not known.
 * @param {string} unit @param {Link} link */
function packetsOfUnit(unit, { rate, rtt }) {
  if (unit === "p") return 1;
  if (unit in SIZES) return SIZES[unit] / BYTES;
  const perSecond = roughRate(rate) / (8 * BYTES);
  return perSecond * (unit === "bdp" ? roughRtt(rtt) : SECONDS[unit]);
}

/** Returns the packets of a bandwidth-delay product, or NaN.
 * @param {Link} link */
export const bdpOf = (link) => packetsOfUnit("bdp", link);

/** Returns the packets of a buffer, not rounded, or NaN of a text in no known unit.
 * @param {string} text @param {Link} link */
export function packetsOf(text, link) {
  const found = parts(text);
  return found ? found.size * packetsOfUnit(found.unit, link) : Number.NaN;
}

/** Returns the unit of a buffer: its own, or packets if it has none.
 * @param {string} like a buffer @param {Link} link */
function unitOf(like, link) {
  const unit = parts(like)?.unit ?? "p";
  return packetsOfUnit(unit, link) > 0 ? unit : "p";
}

/** Returns the text of a buffer of some packets, in the unit of another one and with as few digits as give as many packets.
 * @param {number} packets @param {Link} link @param {string} like */
export function bufferText(packets, link, like) {
  const unit = unitOf(like, link);
  const each = packetsOfUnit(unit, link);
  // Bytes are whole, so parts of KiB are halves, quarters and so on.
  const base = unit.endsWith("iB") ? 2 : 10;
  const first = Math.floor(Math.log(packets / each) / Math.log(base)) - 1;
  for (let power = first; power > first - MOST_STEPS; power -= 1) {
    const step = base ** power;
    const size = Number((Math.ceil(packets / each / step - 1e-9) * step).toPrecision(12));
    // The engine counts whole packets.
    if (Math.floor(size * each + 1e-9) === packets && (!(unit in SIZES) || Number.isInteger(size * SIZES[unit]))) return `${size}${unit}`;
  }
  return `${packets}p`;
}

/** Returns a buffer of some packets in words, in the unit of another buffer.
 * @param {number} packets @param {Link} link @param {string} like */
export function bufferWords(packets, link, like) {
  const unit = unitOf(like, link);
  const size = numberOf(packets / packetsOfUnit(unit, link), unit);
  return `${size}\u00a0${size === "1" && unit === "p" ? "packet" : (PRINTED[unit] ?? unit)}`;
}

/** Returns two buffers in words that have their unit once.
 * @param {number} least @param {number} most @param {Link} link @param {string} like */
export const rangeWords = (least, most, link, like) =>
  `${bufferWords(least, link, like).split("\u00a0")[0]} to ${bufferWords(most, link, like)}`;

/** Returns a buffer in its unit for an axis, and the unit.
 * @param {Link} link @param {string} like */
export function bufferScale(link, like) {
  const unit = unitOf(like, link);
  return { by: 1 / packetsOfUnit(unit, link), unit: PRINTED[unit] ?? unit };
}

/** Returns a number of packets, or of another unit with three digits.
 * @param {number} value @param {string} unit */
const numberOf = (value, unit) =>
  (unit === "p" ? Math.round(value) : Number(value.toPrecision(3))).toLocaleString("en", { maximumFractionDigits: 6 });
