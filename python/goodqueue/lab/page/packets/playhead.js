// @ts-check
// The moment of the run that the packet view shows. Charts follow it without being rendered again.

export class Playhead {
  /** Moment in seconds of the run; null before the first packets are known.
   * @type {number | null} */
  time = null;
  /** Shows another moment, whose packets may have to be asked for.
   * @type {(time: number) => void} */
  seek = () => {};
  #followers = /** @type {Set<() => void>} */ (new Set());

  /** Moves to a moment and tells all that follow.
   * @param {number | null} time */
  move(time) {
    this.time = time;
    for (const follow of this.#followers) follow();
  }

  /** Calls a function after each move, and once now. Returns a function that ends this.
   * @param {() => void} follow */
  follow(follow) {
    this.#followers.add(follow);
    follow();
    return () => void this.#followers.delete(follow);
  }
}
