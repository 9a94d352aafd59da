// @ts-check
// What the waiting at a link means for a person: a game, a call, a page.

import { number, shown } from "./figures.js";
import { roughRtt, sizedRtt } from "../question/scenario.js";

/** Longest one-way delays of a good call and of a usable one, in seconds: ITU-T G.114. */
const [GOOD_CALL_S, USABLE_CALL_S] = [0.15, 0.4];
/** Round trips of a page, one after another: names, connection, encryption, and files that name other files. */
const ROUND_TRIPS = 10;
/** Smallest loss that stands beside the word for a call. */
const SHOWN_LOSS = 0.01;

/** Returns how a call with a one-way delay is.
 * @param {number} seconds */
const call = (seconds) => (seconds <= GOOD_CALL_S ? "good" : seconds <= USABLE_CALL_S ? "tiring" : "bad");

/** Returns the sentence on one setting. A ping, where one runs, waits as a game and a call do: some queues let it pass. A scenario file has no question, and its call is left out. Null without delays.
 * @param {import("./figures.js").Means} means @param {import("../question/state.js").Question | null} question */
export function felt(means, question) {
  const [all, mean, ping] = [means.p99_queueing_delay_s?.mean, means.mean_queueing_delay_s?.mean, means.ping_s?.mean];
  if (all == null || mean == null) return null;
  const rtt = question ? roughRtt(sizedRtt(question)) : Number.NaN;
  const most = ping != null && rtt > 0 ? Math.max(ping - rtt, 0) : all;
  const loss = means.loss_rate?.mean ?? 0;
  const lost = loss >= SHOWN_LOSS ? ` (but ${shown("loss_rate", loss)} of all packets are lost)` : "";
  const words = [`a game feels ${shown("p99_queueing_delay_s", most)} late`, ...(rtt > 0 ? [`a call is ${call(rtt / 2 + most)}${lost}`] : [])];
  return `${words.join(", ")}, and a page of ${ROUND_TRIPS} round trips takes ${number(ROUND_TRIPS * mean)}\u00a0s longer`;
}
