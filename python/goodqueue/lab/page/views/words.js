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
  ["AQM", "Active queue management: a queue that drops or marks a packet before the buffer is full, when packets have waited too long. codel and pie do so. fq_codel does so for each flow alone, and lets flows that send little pass the others."],
  ["Ping, p99", "The round-trip time that 99 of 100 pings do not exceed: the base round-trip time and the waiting."],
  ["A game, a call, a page", "A game is late by the time that 99 of 100 pings wait at most. A call is good up to 150 ms each way, and bad from 400 ms on (ITU-T G.114). A page here has 10 round trips, each longer by the mean delay."],
  ["Fairness", "Jain's index of the flows' rates. It is 1 if all are equal."],
  ["95 % interval", "Runs with other seeds differ. Of 100 such ranges, 95 contain the mean of many more runs."],
  ["Published rules", "The thin lines of the curve: one BDP (1994), BDP/√N for N flows that lose at different times (2004), BSCL (2005), tiny buffers (2006), and the part of a BDP that makes up for one decrease of the window."],
  ["Calibrated theory", "A formula that was fitted to simulations and answers without one."],
];

/** @param {{begin: (() => void) | null}} props */
export const Intro = ({ begin }) => html`<section class="intro" aria-label="What this page shows">
  <p>Packets wait in a router's buffer when more arrive than the link carries. After a loss a sender sends less for a
    moment, and the packets that wait keep the link busy. With too few packets waiting the link is idle then. With a larger one every
    call, game and click only waits longer. Move <b>Buffer</b>, and compare utilisation with delay.
    ${begin && html` <button type="button" class="small" onClick=${begin}>Begin with a lesson</button>`}</p>
  <details><summary>Words on this page</summary>
    <dl>${WORDS.map(([word, meaning]) => html`<div><dt>${word}</dt><dd>${meaning}</dd></div>`)}</dl></details>
</section>`;
