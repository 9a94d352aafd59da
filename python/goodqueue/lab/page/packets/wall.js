// @ts-check
// The wall that limits the queue: it is dragged, or moved by keys, and sets the buffer.

import { html, useRef } from "../vendor/htm-preact-3.1.1.js";

/** Factors by which keys change the buffer; a buffer changes by a packet at least.
 * @type {Record<string, number>} */
const KEYS = { ArrowLeft: 1.05, ArrowUp: 1.05, ArrowRight: 1 / 1.05, ArrowDown: 1 / 1.05, PageUp: 1.5, PageDown: 1 / 1.5 };

/** @param {{name: string, words: string, packets: number, most: number, at: (clientX: number) => number,
 *   hold: (isHeld: boolean) => void, set: (packets: number) => void, place: (element: HTMLElement | null) => void}} props
 *   `at` returns the packets of a place on the screen; the queue grows to the left. */
export function Wall({ name, words, packets, most, at, hold, set, place }) {
  const isHeld = useRef(false);
  const grab = (/** @type {boolean} */ is) => {
    isHeld.current = is;
    hold(is);
  };
  const to = (/** @type {number} */ value) => {
    const whole = Math.max(1, Math.round(value));
    if (whole !== packets) set(whole);
  };
  const down = (/** @type {any} */ event) => {
    event.currentTarget.setPointerCapture(event.pointerId);
    grab(true);
  };
  const move = (/** @type {PointerEvent} */ event) => {
    if (isHeld.current) to(Math.min(at(event.clientX), most));
  };
  const key = (/** @type {KeyboardEvent} */ event) => {
    const by = event.key === "Home" ? 1 / packets : KEYS[event.key];
    if (!by) return;
    event.preventDefault();
    to(by > 1 ? Math.max(packets + 1, packets * by) : Math.min(packets - 1, packets * by));
  };
  return html`<div class="wall" role="slider" tabindex="0" aria-label=${name} aria-valuemin="1" aria-valuemax=${Math.max(most, packets)} aria-valuenow=${packets}
    aria-valuetext=${words} aria-orientation="horizontal" onPointerDown=${down} onPointerMove=${move} onPointerUp=${() => grab(false)} onPointerCancel=${() => grab(false)}
    onKeyDown=${key} ref=${place}><span class="hint" aria-hidden="true">↔ ${words}</span></div>`;
}
