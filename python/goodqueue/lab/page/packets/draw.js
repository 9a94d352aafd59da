// @ts-check
// The picture of one moment: senders at the left, the queue in the middle, receivers at the right.

import { LOST, RETURNING, TO_QUEUE, TO_RECEIVER, WAITING } from "./trips.js";

/** Lanes of flows; further flows share them. */
const LANES = 8;
/** Height of the picture in CSS pixels. */
export const HEIGHT = 230;
const TOP = 30;
const LANES_HEIGHT = 120;
const RETURN_AT = 185;
const MARGIN = 74;

/** Returns the places of the parts for a width.
 * @param {number} width */
function layout(width) {
  const queueWide = Math.min(Math.max(width * 0.26, 90), 280);
  const queueLeft = (width - queueWide) * 0.46;
  return { left: MARGIN, right: width - MARGIN, queueLeft, queueRight: queueLeft + queueWide };
}

/** Returns the largest size of a waiting packet for which all of them have room.
 * @param {number} most @param {number} wide */
function cellSize(most, wide) {
  for (let size = 14; size > 2; size -= 1) {
    if (Math.floor(wide / size) * Math.floor(LANES_HEIGHT / size) >= most) return size;
  }
  return 2;
}

/** Width and colours of a picture, and the most packets that wait in any picture beside it. `flows` are the colours of
 * flows, which are those of their lines in the charts.
 * @typedef {{width: number, ink: string, soft: string, card: string, flows: string[], most: number}} Look */

/** Returns the colour of a flow.
 * @param {Look} look @param {number} flow */
const colourOf = ({ flows }, flow) => flows[flow % flows.length];

/** Draws a moment.
 * @param {CanvasRenderingContext2D} ctx @param {import("./trips.js").Trips} trips
 * @param {import("./trips.js").Spot[]} spots @param {Look} look */
export function draw(ctx, trips, spots, look) {
  const { width, ink, most } = look;
  const at = layout(width);
  const lanes = Math.min(trips.flows, LANES);
  const laneY = (/** @type {number} */ flow) => TOP + (LANES_HEIGHT * ((flow % lanes) + 0.5)) / lanes;
  const middle = TOP + LANES_HEIGHT / 2;
  ctx.clearRect(0, 0, width, HEIGHT);
  frame(ctx, at, look, trips);

  const waiting = trips.inOrder(spots.filter((spot) => spot.place === WAITING));
  const wide = at.queueRight - at.queueLeft - 6;
  const cell = cellSize(most, wide);
  const rows = Math.floor(LANES_HEIGHT / cell);
  waiting.forEach(({ i }, rank) => {
    const x = at.queueRight - 3 - cell * (Math.floor(rank / rows) + 1);
    const y = TOP + LANES_HEIGHT - cell * ((rank % rows) + 1);
    if (x < at.queueLeft) return;
    box(ctx, x + 0.5, y + 0.5, cell - 1, cell - 1, trips, i, look);
  });
  for (const { i, place, share } of spots) {
    const flow = trips.flow[i];
    if (place === TO_QUEUE) {
      packet(ctx, at.left + share * (at.queueLeft - at.left), laneY(flow), trips, i, look);
    } else if (place === TO_RECEIVER) {
      const y = middle + (laneY(flow) - middle) * Math.max(0, 2 * share - 1);
      packet(ctx, at.queueRight + share * (at.right - at.queueRight), y, trips, i, look);
    } else if (place === RETURNING) {
      ctx.fillStyle = colourOf(look, flow);
      const y = RETURN_AT + 3 * (flow % lanes) - 1.5 * lanes;
      ctx.fillRect(at.right - share * (at.right - at.left) - 1.5, y, 3, 3);
    } else if (place === LOST) {
      cross(ctx, at.queueLeft - 8 - (flow % lanes), TOP + LANES_HEIGHT * (0.2 + 0.8 * share) + 10, 1 - share, ink);
    }
  }
  bars(ctx, trips, spots, laneY, lanes, look);
}

/** Draws what does not move.
 * @param {any} ctx @param {any} at @param {any} look @param {any} trips */
function frame(ctx, at, { ink, soft, card }, trips) {
  ctx.fillStyle = card;
  ctx.fillRect(at.queueLeft, TOP - 4, at.queueRight - at.queueLeft, LANES_HEIGHT + 8);
  ctx.strokeStyle = soft;
  ctx.lineWidth = 1;
  ctx.strokeRect(at.queueLeft, TOP - 4, at.queueRight - at.queueLeft, LANES_HEIGHT + 8);
  ctx.beginPath();
  ctx.moveTo(at.left, RETURN_AT + 14);
  ctx.lineTo(at.right, RETURN_AT + 14);
  ctx.stroke();
  ctx.fillStyle = ink;
  ctx.font = "12px system-ui, sans-serif";
  const label = (/** @type {string} */ text, /** @type {number} */ x, /** @type {number} */ y, /** @type {CanvasTextAlign} */ align) => {
    ctx.textAlign = align;
    ctx.fillText(text, x, y);
  };
  label("senders", 4, 16, "left");
  label(`queue of ${trips.link}`, (at.queueLeft + at.queueRight) / 2, 16, "center");
  label("receivers", at.right + MARGIN - 4, 16, "right");
  label("← ACKs", (at.left + at.right) / 2, RETURN_AT + 30, "center");
}

/** Draws the number of packets in the network of each lane as a bar at its sender.
 * @param {any} ctx
 * @param {any} trips @param {any[]} spots @param {any} laneY @param {number} lanes @param {Look} look */
function bars(ctx, trips, spots, laneY, lanes, look) {
  const counts = new Array(lanes).fill(0);
  for (const { i, place } of spots) if (place !== RETURNING && place !== LOST) counts[trips.flow[i] % lanes] += 1;
  const most = Math.max(20, ...counts);
  counts.forEach((count, lane) => {
    const y = laneY(lane);
    ctx.fillStyle = colourOf(look, lane);
    ctx.fillRect(4, y - 4, (40 * count) / most, 8);
    ctx.fillStyle = look.soft;
    ctx.textAlign = "left";
    ctx.fillText(String(count), 8 + (40 * count) / most, y + 4);
  });
}

/** @param {any} ctx @param {number} x @param {number} y @param {any} trips @param {number} i @param {Look} look */
function packet(ctx, x, y, trips, i, look) {
  const size = trips.bytes[i] > 200 ? 7 : 4;
  box(ctx, x - size / 2, y - size / 2, size, size, trips, i, look);
}

/** @param {any} ctx @param {number} x @param {number} y @param {number} w @param {number} h @param {any} trips @param {number} i @param {Look} look */
function box(ctx, x, y, w, h, trips, i, look) {
  ctx.fillStyle = colourOf(look, trips.flow[i]);
  ctx.fillRect(x, y, w, h);
  if (!trips.marked[i]) return;
  ctx.strokeStyle = look.ink;
  ctx.strokeRect(x - 1, y - 1, w + 2, h + 2);
}

/** @param {any} ctx @param {number} x @param {number} y @param {number} alpha @param {string} ink */
function cross(ctx, x, y, alpha, ink) {
  ctx.globalAlpha = Math.max(alpha, 0.25);
  ctx.strokeStyle = ink;
  ctx.lineWidth = 2;
  ctx.beginPath();
  ctx.moveTo(x - 4, y - 4);
  ctx.lineTo(x + 4, y + 4);
  ctx.moveTo(x + 4, y - 4);
  ctx.lineTo(x - 4, y + 4);
  ctx.stroke();
  ctx.globalAlpha = 1;
  ctx.lineWidth = 1;
}

/** Height of the strip in CSS pixels. */
export const STRIP = 44;

/** Draws the number of waiting packets over the whole part, with its drops, and the moment.
 * @param {CanvasRenderingContext2D} ctx @param {import("./trips.js").Trips} trips @param {number} t @param {Look} look */
export function drawStrip(ctx, trips, t, look) {
  const { width, ink, soft, most } = look;
  const x = (/** @type {number} */ time) => (width * (time - trips.from)) / (trips.to - trips.from);
  ctx.clearRect(0, 0, width, STRIP);
  ctx.fillStyle = `${colourOf(look, 0)}90`;
  ctx.beginPath();
  ctx.moveTo(0, STRIP);
  let level = 0;
  for (const [time, waiting] of trips.backlog) {
    const y = (/** @type {number} */ count) => STRIP - ((STRIP - 10) * count) / Math.max(most, 1);
    const place = Math.min(Math.max(x(time), 0), width);
    ctx.lineTo(place, y(level));
    ctx.lineTo(place, y(waiting));
    level = waiting;
  }
  ctx.lineTo(width, STRIP);
  ctx.fill();
  ctx.fillStyle = colourOf(look, 1);
  for (const time of trips.drops()) ctx.fillRect(x(time) - 1, 0, 2, 8);
  ctx.fillStyle = soft;
  ctx.fillRect(0, STRIP - 1, width, 1);
  ctx.fillStyle = ink;
  ctx.fillRect(x(t) - 1, 0, 2, STRIP);
}
