// @ts-check
// The packets of a short part of a run: where each is at a moment, and what is counted then.

/** Places of a packet. */
export const TO_QUEUE = 0;
export const WAITING = 1;
export const TO_RECEIVER = 2;
export const RETURNING = 3;
export const LOST = 4;

/** A packet at a moment. `share` is the part of the way that it has gone, or the share of its fall.
 * @typedef {{i: number, place: number, share: number}} Spot */

export class Trips {
  /** @param {any} data columns of the engine @param {number} ping flow of the ping, or -1 */
  constructor(data, ping = -1) {
    this.ping = ping;
    this.link = data.link;
    this.flows = data.flows;
    this.from = data.from_ns;
    this.to = data.to_ns;
    this.flow = data.flow;
    this.bytes = data.bytes;
    this.marked = data.marked;
    const times = (/** @type {(number | null)[]} */ column) => Float64Array.from(column, (time) => time ?? Number.NaN);
    this.sent = times(data.sent_ns);
    this.arrived = times(data.arrived_ns);
    this.started = times(data.started_ns);
    this.delivered = times(data.delivered_ns);
    this.dropped = times(data.dropped_ns);
    /** Packets that never reach the watched link return, as ACKs do. */
    this.returning = Array.from(data.reverse, (reverse, i) => reverse === 1 && Number.isNaN(this.arrived[i]));
    this.count = this.sent.length;
    this.over = this.#over();
    this.waits = this.#waits();
    this.moments = this.#moments();
    this.backlog = this.#backlog();
    this.most = this.backlog.reduce((most, [, waiting]) => Math.max(most, waiting), 0);
  }

  /** Returns for each packet the latest time at which it or one sent before it leaves the network. */
  #over() {
    let latest = Number.NEGATIVE_INFINITY;
    return this.sent.map((_, i) => {
      const end = Number.isNaN(this.dropped[i]) ? this.delivered[i] : this.dropped[i];
      latest = Math.max(latest, Number.isNaN(end) ? Number.POSITIVE_INFINITY : end);
      return latest;
    });
  }

  /** Returns the packets whose wait is told, by arrival: pings, or all packets of data if there are none. */
  #waits() {
    const all = [...this.sent.keys()].filter((i) => !Number.isNaN(this.arrived[i]) && Number.isNaN(this.dropped[i]));
    const pings = all.filter((i) => this.flow[i] === this.ping);
    return (pings.length > 0 ? pings : all).sort((p, q) => this.arrived[p] - this.arrived[q]);
  }

  /** Returns how long the last of these packets to arrive waits in the queue, in nanoseconds, or until now if it still
   * waits; null before the first.
   * @param {number} t */
  waitAt(t) {
    const next = firstAbove(this.waits.length, (k) => this.arrived[this.waits[k]] > t);
    if (next === 0) return null;
    const i = this.waits[next - 1];
    const isWaiting = !(this.started[i] <= t);
    return { wait: (isWaiting ? t : this.started[i]) - this.arrived[i], isWaiting };
  }

  /** Returns the time of the first packet that is no ping, or null. */
  first() {
    const i = this.flow.findIndex((/** @type {number} */ flow) => flow !== this.ping);
    return i < 0 ? null : Math.max(this.sent[i], this.from);
  }

  /** Returns the times of all events in order. */
  #moments() {
    const all = [this.sent, this.arrived, this.started, this.delivered, this.dropped];
    const within = all.flatMap((column) => [...column].filter((time) => time >= this.from && time <= this.to));
    return Float64Array.from(new Set(within)).sort();
  }

  /** Returns the times at which the number of waiting packets changes, and the number from then on. */
  #backlog() {
    /** @type {[number, number][]} */
    const changes = [];
    for (let i = 0; i < this.count; i++) {
      const end = this.#endOfWait(i);
      if (end > this.arrived[i]) changes.push([this.arrived[i], 1], [end, -1]);
    }
    changes.sort((a, b) => a[0] - b[0]);
    let waiting = 0;
    return changes.map(([time, change]) => {
      waiting += change;
      return /** @type {[number, number]} */ ([time, waiting]);
    });
  }

  /** Returns the time at which a packet leaves the queue; unknown is after the end.
   * @param {number} i */
  #endOfWait(i) {
    if (!Number.isNaN(this.started[i])) return this.started[i];
    if (!Number.isNaN(this.dropped[i])) return this.dropped[i];
    return Number.isNaN(this.arrived[i]) ? Number.NaN : Number.POSITIVE_INFINITY;
  }

  /** Returns the times of drops. */
  drops() {
    return this.dropped.filter((time) => time >= this.from && time <= this.to);
  }

  /** Returns every packet that is somewhere at a time. A dropped packet falls for `fall` nanoseconds.
   * @param {number} t @param {number} fall @returns {Spot[]} */
  at(t, fall) {
    const spots = [];
    // Packets before have left, and their falls have ended.
    const from = firstAbove(this.count, (i) => this.over[i] > t - fall);
    for (let i = from; i < this.count && this.sent[i] <= t; i++) {
      const spot = this.#spot(i, t, fall);
      if (spot) spots.push(spot);
    }
    return spots;
  }

  /** @param {number} i @param {number} t @param {number} fall @returns {Spot | null} */
  #spot(i, t, fall) {
    if (this.delivered[i] <= t) return null;
    if (this.dropped[i] <= t) {
      const share = (t - this.dropped[i]) / fall;
      return share < 1 ? { i, place: LOST, share } : null;
    }
    const part = (/** @type {number} */ from, /** @type {number} */ to) => (to > from ? Math.min((t - from) / (to - from), 1) : Number.isNaN(to) ? 0.5 : 1);
    if (this.returning[i]) return { i, place: RETURNING, share: part(this.sent[i], this.delivered[i]) };
    if (this.started[i] <= t) return { i, place: TO_RECEIVER, share: part(this.started[i], this.delivered[i]) };
    if (this.arrived[i] <= t) return { i, place: WAITING, share: 0 };
    return { i, place: TO_QUEUE, share: part(this.sent[i], Number.isNaN(this.arrived[i]) ? this.delivered[i] : this.arrived[i]) };
  }

  /** Sorts packets that wait in the order in which they leave the queue.
   * @param {Spot[]} waiting */
  inOrder(waiting) {
    return waiting.sort((a, b) => this.#endOfWait(a.i) - this.#endOfWait(b.i) || this.arrived[a.i] - this.arrived[b.i]);
  }

  /** Returns the next event after a time, or the last before it.
   * @param {number} t @param {1 | -1} way */
  step(t, way) {
    if (way > 0) return this.moments[firstAbove(this.moments.length, (i) => this.moments[i] > t)] ?? this.to;
    return this.moments[firstAbove(this.moments.length, (i) => this.moments[i] >= t) - 1] ?? this.from;
  }
}

/** Returns the first of the numbers below a count for which a rising condition is true, or the count.
 * @param {number} count @param {(i: number) => boolean} isAbove */
function firstAbove(count, isAbove) {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isAbove(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
