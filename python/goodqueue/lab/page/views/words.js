// @ts-check
// The first sentences of the page, and its words, for a reader who has not heard of buffers.

import { html } from "../vendor/htm-preact-3.1.1.js";

/** Words of the page, in the order in which a reader meets them.
 * @type {[string, string][]} */
const WORDS = [
  ["Packet", "A piece of a transfer, here at most 1500 bytes."],
  ["Rate", "The bits per second that the link carries, such as the uplink of a home."],
  ["Base round-trip time", "The time of a packet to the other end and of the answer back, while nothing waits."],
  ["Flow", "One transfer, such as a download. A range of round-trip times is written 20ms..80ms."],
  ["Buffer", "The most packets that may wait. It is given in packets (100p), in time, in bytes, or in BDP."],
  ["BDP", "Rate times base round-trip time: the data that fill the path while nothing waits."],
  ["Utilisation", "The share of time in which the link sends."],
  ["Loss", "The share of packets that found the buffer full, or that the queue dropped early. TCP sends them again."],
  ["Delay, p99", "The time in the queue that 99 of 100 packets do not exceed."],
  ["Congestion window", "The data that a sender may have on the way. It grows until packets are lost, and shrinks then."],
  ["Congestion control", "The sender's rule for its window. Linux uses cubic."],
  ["Queue", "The rule by which packets wait. drop_tail (a FIFO) lets them wait in order and drops what arrives when it is full."],
  ["Calibrated theory", "A formula that was fitted to simulations and answers without one."],
];

/** @param {{begin: (() => void) | null}} props */
export const Intro = ({ begin }) => html`<section class="intro" aria-label="What this page shows">
  <p>Packets wait in a router's buffer when more arrive than the link carries. With too small a buffer the link is idle at
    times. With too large a buffer every packet waits, and nothing is gained. Move <b>Buffer</b> and compare utilisation and delay.
    ${begin && html` <button type="button" class="small" onClick=${begin}>Begin with a story</button>`}</p>
  <details><summary>Words on this page</summary>
    <dl>${WORDS.map(([word, meaning]) => html`<div><dt>${word}</dt><dd>${meaning}</dd></div>`)}</dl></details>
</section>`;
