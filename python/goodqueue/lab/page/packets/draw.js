// @ts-check
// The picture of one moment: senders at the left, the queue and its link, receivers at the right, and ACKs below.

import { LOST, RETURNING, TO_QUEUE, TO_RECEIVER, WAITING } from "./trips.js";

/** Lanes of flows; further flows share them. The ping has a lane of its own. */
const LANES = 8;
/** Most cells of the queue's box; with more packets a cell stands for several. */
const MOST_CELLS = 900;
/** Most packets that are drawn on their way; of more, every second, third and so on is drawn. */
const MOST_MOVING = 1500;
/** Smallest width of a picture that has room for the names of hosts, in CSS pixels. */
const WIDE = 640;
const TOP = 30;
const BELOW = 68;
const FONT = "12px system-ui, sans-serif";

/** Size of a picture in CSS pixels, its colours, and what it shows. `flows` are the colours of flows, which are those of
 * their lines in the charts. `capacity` is the buffer in packets, `scale` that of the widest box, which pictures side by
 * side share.
 * @typedef {{width: number, height: number, ink: string, soft: string, card: string, paper: string, line: string,
 *   flows: string[], capacity: number, scale: number, rate: string}} Look */

/** Returns the places of the parts of a picture. The box of the queue has the width `box` at the full scale, and `rows`
 * cells of `cell` pixels in each column; a cell is `each` packets.
 * @param {{width: number, height: number, scale: number}} look */
export function layout({ width, height, scale }) {
  const [left, right] = width >= WIDE ? [116, width - 104] : [40, width - 34];
  const most = (right - left) * (width >= WIDE ? 0.42 : 0.46);
  const tall = height - TOP - BELOW;
  const each = Math.ceil(scale / MOST_CELLS);
  const cells = Math.max(scale / each, 1);
  let cell = Math.min(18, tall / 3);
  while (cell > 2 && Math.floor(tall / cell) * Math.floor(most / cell) < cells) cell -= 0.5;
  const rows = Math.max(1, Math.floor(tall / cell));
  const box = (cells / rows) * cell;
  return { left, right, tall, each, cell, rows, box, queueRight: left + (right - left) * 0.6, middle: TOP + tall / 2 };
}

/** Returns the place of the wall that limits the queue.
 * @param {ReturnType<typeof layout>} at @param {number} capacity @param {number} scale */
export const wallAt = (at, capacity, scale) => at.queueRight - Math.max(3, at.box * Math.min(capacity / scale, 1));

/** Draws a moment.
 * @param {CanvasRenderingContext2D} ctx @param {import("./trips.js").Trips} trips
 * @param {import("./trips.js").Spot[]} spots @param {Look} look */
export function draw(ctx, trips, spots, look) {
  const at = layout(look);
  const wall = wallAt(at, look.capacity, look.scale);
  const hasPing = trips.ping >= 0;
  const flows = Math.max(1, trips.flows - (hasPing ? 1 : 0));
  const count = Math.min(flows, LANES);
  const lane = (/** @type {number} */ flow) => (flow === trips.ping ? count : flow % count);
  const laneY = (/** @type {number} */ flow) => TOP + (at.tall * (lane(flow) + 0.5)) / (count + (hasPing ? 1 : 0));
  const scene = { ctx, at, wall, trips, look, laneY, count };
  ctx.clearRect(0, 0, look.width, look.height);
  ctx.font = FONT;
  const waiting = trips.inOrder(spots.filter((spot) => spot.place === WAITING));
  frame(scene, waiting.length);
  queue(scene, waiting);
  moving(scene, spots.filter(({ place }) => place !== WAITING));
  hosts(scene, spots);
}

/** @typedef {{ctx: CanvasRenderingContext2D, at: ReturnType<typeof layout>, wall: number, trips: import("./trips.js").Trips,
 *   look: Look, laneY: (flow: number) => number, count: number}} Scene */

/** Draws what does not move: paths, box and link.
 * @param {Scene} scene @param {number} waiting */
function frame({ ctx, at, wall, look, laneY, count, trips }, waiting) {
  const { ink, soft, card, line, height } = look;
  const back = height - 24;
  ctx.strokeStyle = line;
  ctx.lineWidth = 1;
  ctx.globalAlpha = 0.5;
  ctx.beginPath();
  for (const flow of [...Array(count).keys(), ...(trips.ping >= 0 ? [trips.ping] : [])]) {
    const y = laneY(flow);
    ctx.moveTo(at.left, y);
    ctx.lineTo(wall, y);
    ctx.moveTo((at.queueRight + at.right) / 2, at.middle);
    ctx.lineTo(at.right, y);
  }
  ctx.moveTo(at.left, back);
  ctx.lineTo(at.right, back);
  ctx.stroke();
  ctx.globalAlpha = 1;
  ctx.fillStyle = card;
  ctx.fillRect(wall, TOP - 4, at.queueRight - wall, at.tall + 8);
  ctx.fillRect(at.queueRight, at.middle - 11, (at.right - at.queueRight) / 2, 22);
  ctx.fillStyle = soft;
  ctx.fillRect(wall, TOP - 5, at.queueRight - wall, 1.5);
  ctx.fillRect(wall, TOP + at.tall + 4, at.queueRight - wall, 1.5);
  ctx.fillRect(at.queueRight, at.middle - 12, (at.right - at.queueRight) / 2, 1);
  ctx.fillRect(at.queueRight, at.middle + 11, (at.right - at.queueRight) / 2, 1);
  label(ctx, `${waiting} waiting${at.each > 1 ? `, a square is ${at.each}` : ""}`, at.queueRight, 16, "right", ink);
  label(ctx, look.rate, at.queueRight + 8, at.middle - 17, "left", soft);
  label(ctx, "← ACKs", (at.left + at.right) / 2, height - 6, "center", soft);
}

/** Draws the packets that wait, the next one to leave at the right.
 * @param {Scene} scene @param {import("./trips.js").Spot[]} waiting */
function queue({ ctx, at, trips, look, wall }, waiting) {
  const place = (/** @type {number} */ rank) => {
    const n = Math.floor(rank / at.each);
    return [at.queueRight - at.cell * (Math.floor(n / at.rows) + 1), TOP + at.tall - at.cell * ((n % at.rows) + 1)];
  };
  for (let rank = 0; rank < waiting.length; rank += at.each) {
    const [x, y] = place(rank);
    if (x < wall - at.cell) break;
    if (at.each > 1 || trips.flow[waiting[rank].i] !== trips.ping) box(ctx, x + 0.5, y + 0.5, at.cell - 1, trips, waiting[rank].i, look);
  }
  waiting.forEach(({ i }, rank) => {
    if (trips.flow[i] !== trips.ping) return;
    const [x, y] = place(rank);
    dot(ctx, Math.max(x, wall) + at.cell / 2, y + at.cell / 2, look);
  });
}

/** Draws packets on their way, drops that fall, and ACKs. Pings are drawn last, above all others.
 * @param {Scene} scene @param {import("./trips.js").Spot[]} spots */
function moving(scene, spots) {
  const { ctx, trips, look, count } = scene;
  const stride = Math.ceil(spots.length / MOST_MOVING);
  const size = look.width >= WIDE ? 8 : 6;
  const pings = [];
  for (const { i, place, share } of spots) {
    const flow = trips.flow[i];
    const isPing = flow === trips.ping;
    if (i % stride !== 0 && !isPing && place !== LOST) continue;
    const [x, y] = spotAt(scene, i, place, share);
    if (isPing) pings.push([x, y]);
    else if (place === LOST) fallen(ctx, x, y, size, share, colourOf(look, flow), look.ink);
    else if (place === RETURNING) {
      ctx.fillStyle = colourOf(look, flow);
      ctx.fillRect(x - 1.5, y - 1.5 + 3 * ((flow % count) - count / 2), 4, 3);
    } else {
      const side = trips.bytes[i] > 200 ? size : 4;
      box(ctx, x - side / 2, y - side / 2, side, trips, i, look);
    }
  }
  for (const [x, y] of pings) dot(ctx, x, y, look);
}

/** Returns the place of a packet that does not wait.
 * @param {Scene} scene @param {number} i @param {number} place @param {number} share */
function spotAt({ at, wall, trips, look, laneY }, i, place, share) {
  const lane = laneY(trips.flow[i]);
  const back = look.height - 24;
  if (place === TO_QUEUE) return [at.left + share * (wall - at.left), lane];
  if (place === TO_RECEIVER) return [at.queueRight + share * (at.right - at.queueRight), at.middle + (lane - at.middle) * Math.max(0, 2 * share - 1)];
  if (place === RETURNING) return [at.right - share * (at.right - at.left), back];
  // A full queue drops at its wall, a queue discipline also the next packet to leave.
  const isTail = !(trips.dropped[i] > trips.arrived[i]);
  return isTail ? [wall - 9, lane + (look.height - 14 - lane) * share * share] : [at.queueRight - 8, TOP + at.tall + BELOW * share * share];
}

/** Draws senders and receivers; a sender has the number of its packets in the network.
 * @param {Scene} scene @param {import("./trips.js").Spot[]} spots */
function hosts({ ctx, at, trips, look, laneY, count }, spots) {
  const counts = new Map();
  for (const { i, place } of spots) {
    if (place === RETURNING || place === LOST) continue;
    const lane = trips.flow[i] === trips.ping ? trips.ping : trips.flow[i] % count;
    counts.set(lane, (counts.get(lane) ?? 0) + 1);
  }
  const isWide = look.width >= WIDE;
  const flows = trips.flows - (trips.ping >= 0 ? 1 : 0);
  const tall = Math.min(20, at.tall / (count + 1) - 1);
  for (const flow of [...Array(count).keys(), ...(trips.ping >= 0 ? [trips.ping] : [])]) {
    const y = laneY(flow);
    const isPing = flow === trips.ping;
    for (const x of [at.left - 32, at.right]) {
      ctx.fillStyle = look.paper;
      ctx.strokeStyle = isPing ? look.ink : colourOf(look, flow);
      ctx.lineWidth = 2;
      ctx.beginPath();
      ctx.rect(x, y - tall / 2, 32, tall);
      ctx.fill();
      ctx.stroke();
    }
    label(ctx, isPing ? "●" : String(counts.get(flow) ?? 0), at.left - 16, y + 4, "center", look.ink);
    if (isWide) label(ctx, isPing ? "a game" : flows > count ? `${flow + 1}, ${flow + 1 + count} …` : `sender ${flow + 1}`, at.left - 38, y + 4, "right", look.soft);
    if (isWide && isPing) label(ctx, "its server", at.right + 38, y + 4, "left", look.soft);
  }
  if (isWide) label(ctx, "in the network", at.left, 16, "right", look.soft);
  if (isWide) label(ctx, "receivers", at.right + 32, 16, "right", look.soft);
}

/** Returns the colour of a flow.
 * @param {Look} look @param {number} flow */
const colourOf = ({ flows }, flow) => flows[flow % flows.length];

/** @param {CanvasRenderingContext2D} ctx @param {string} text @param {number} x @param {number} y
 * @param {CanvasTextAlign} align @param {string} colour */
function label(ctx, text, x, y, align, colour) {
  ctx.fillStyle = colour;
  ctx.textAlign = align;
  ctx.fillText(text, x, y);
}

/** Draws a packet; a mark is a frame around it.
 * @param {CanvasRenderingContext2D} ctx @param {number} x @param {number} y @param {number} size
 * @param {import("./trips.js").Trips} trips @param {number} i @param {Look} look */
function box(ctx, x, y, size, trips, i, look) {
  ctx.fillStyle = colourOf(look, trips.flow[i]);
  ctx.fillRect(x, y, size, size);
  if (!trips.marked[i]) return;
  ctx.lineWidth = 1;
  ctx.strokeStyle = look.ink;
  ctx.strokeRect(x - 1, y - 1, size + 2, size + 2);
}

/** Draws a ping.
 * @param {CanvasRenderingContext2D} ctx @param {number} x @param {number} y @param {Look} look */
function dot(ctx, x, y, { ink, paper }) {
  ctx.beginPath();
  ctx.arc(x, y, 6.5, 0, 2 * Math.PI);
  ctx.fillStyle = ink;
  ctx.strokeStyle = paper;
  ctx.lineWidth = 2;
  ctx.fill();
  ctx.stroke();
}

/** Draws a dropped packet with a cross.
 * @param {CanvasRenderingContext2D} ctx @param {number} x @param {number} y @param {number} size @param {number} share
 * @param {string} colour @param {string} ink */
function fallen(ctx, x, y, size, share, colour, ink) {
  ctx.globalAlpha = Math.max(1 - share, 0.25);
  ctx.fillStyle = colour;
  ctx.fillRect(x - size / 2, y - size / 2, size, size);
  ctx.strokeStyle = ink;
  ctx.lineWidth = 2;
  ctx.beginPath();
  for (const way of [-1, 1]) {
    ctx.moveTo(x - 6, y - 6 * way);
    ctx.lineTo(x + 6, y + 6 * way);
  }
  ctx.stroke();
  ctx.globalAlpha = 1;
}

/** Height of the strip in CSS pixels. */
export const STRIP = 40;

/** Draws the packets that wait over the whole run, with its drops.
 * @param {CanvasRenderingContext2D} ctx @param {{high_packets: number[], low_packets: number[], drops: number[]}} link series of the
 * queue @param {Look} look @param {number} most the highest number of any strip beside it */
export function drawStrip(ctx, { high_packets: high, low_packets: low, drops }, look, most) {
  const wide = look.width / high.length;
  const y = (/** @type {number} */ count) => STRIP - 1 - ((STRIP - 11) * count) / Math.max(most, 1);
  ctx.clearRect(0, 0, look.width, STRIP);
  ctx.fillStyle = colourOf(look, 0);
  high.forEach((count, i) => {
    ctx.globalAlpha = 0.35;
    ctx.fillRect(i * wide, y(count), wide, STRIP - y(count));
    ctx.globalAlpha = 0.8;
    ctx.fillRect(i * wide, y(count), wide, Math.max(1, y(low[i]) - y(count)));
  });
  ctx.globalAlpha = 1;
  ctx.fillStyle = look.ink;
  drops.forEach((count, i) => { if (count > 0) ctx.fillRect(i * wide, 0, Math.max(1.5, wide), 7); });
  ctx.fillStyle = look.soft;
  ctx.fillRect(0, STRIP - 1, look.width, 1);
}
