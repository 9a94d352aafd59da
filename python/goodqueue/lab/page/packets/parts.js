// @ts-check
// A run in parts of some seconds: the one that is shown, and the next one before it is needed.

import { wasStopped } from "../compute/engine.js";
import { Trips } from "./trips.js";

const NS = 1e9;
/** Most seconds, and most packets of 1500 bytes, of a run before the moment that is asked for: the last ping and falling drops
 * belong to them. */
const MOST_BEFORE = 0.2;
const MOST_PACKETS = 2000;

/** Returns the seconds before a moment that its part has, too.
 * @param {number} bps rate of the link, or NaN */
export const before = (bps) => Math.min(MOST_BEFORE, (12_000 * MOST_PACKETS) / (bps || 1e6));

export class Parts {
  /** The part that is shown, for each side.
   * @type {Trips[]} */
  trips = [];
  /** @type {{trips: Trips[] | null} | null} */
  #next = null;
  #stop = new AbortController();
  #isSeeking = false;

  /** @param {(from: number, signal: AbortSignal) => Promise<{a: any, b: any}>} ask returns packets from a second on
   * @param {number[]} pings flow of each side's ping, or -1 @param {number} before seconds of a part before its moment @param {() => void} changed is called when another part is shown
   * @param {(error: any) => void} failed */
  constructor(ask, pings, before, changed, failed) {
    this.ask = ask;
    this.before = before;
    this.pings = pings;
    this.changed = changed;
    this.failed = failed;
  }

  /** Shows the part from a time on. Returns its trips, or null if another was asked for in the meantime.
   * @param {number} from in seconds */
  async begin(from) {
    this.end();
    const stop = new AbortController();
    this.#stop = stop;
    this.#next = null;
    this.#isSeeking = true;
    const made = await this.#load(from, stop.signal);
    if (this.#stop === stop) this.#isSeeking = false;
    if (made) this.#show(made);
    return made;
  }

  /** Shows the part with the first packet that is no ping. Returns the time of this packet in seconds, or null.
   * @param {number} last end of the run in seconds */
  async first(last) {
    for (let from = 0; from < last; ) {
      const made = await this.begin(from);
      if (!made) return null;
      const times = made.flatMap((one) => one.first() ?? []);
      if (times.length > 0) return Math.min(...times) / NS;
      const to = endOf(made);
      if (!(to > from)) return from;
      from = to;
    }
    return 0;
  }

  /** Makes sure that packets of a time are shown soon. Returns true if they are now.
   * @param {number} time in seconds @param {number} ahead seconds after which the next part will be needed */
  follow(time, ahead) {
    if (this.trips.length === 0 || this.#isSeeking) return false;
    const end = endOf(this.trips);
    if (time + ahead >= end && !this.#next) {
      const next = { trips: /** @type {Trips[] | null} */ (null) };
      this.#next = next;
      this.#load(end, this.#stop.signal).then((made) => {
        // The end of the run is the end of the last part.
        if (made && endOf(made) > end) next.trips = made;
      });
    }
    if (time < end) return true;
    if (!this.#next?.trips) return false;
    this.#show(this.#next.trips);
    this.#next = null;
    return true;
  }

  /** Returns true if a time belongs to the part that is shown.
   * @param {number} time in seconds */
  has(time) {
    return this.trips.length > 0 && time >= Math.max(...this.trips.map((one) => one.from)) / NS && time < endOf(this.trips);
  }

  /** Asks no more. */
  end() {
    this.#stop.abort();
  }

  /** @param {Trips[]} trips */
  #show(trips) {
    this.trips = trips;
    this.changed();
  }

  /** @param {number} from @param {AbortSignal} signal @returns {Promise<Trips[] | null>} */
  async #load(from, signal) {
    try {
      const { a, b } = await this.ask(Math.max(0, from - this.before), signal);
      return signal.aborted ? null : [a, b].filter(Boolean).map((one, i) => new Trips(one, this.pings[i]));
    } catch (error) {
      if (!signal.aborted && !wasStopped(error)) this.failed(error);
      return null;
    }
  }
}

/** Returns the end of a part in seconds: the earliest of its sides.
 * @param {Trips[]} trips */
export const endOf = (trips) => Math.min(...trips.map((one) => one.to)) / NS;
