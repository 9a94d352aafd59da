// The page's side of the protocol: questions to the local server, answers as plain values.

const token = new URLSearchParams(location.search).get("token") ?? "";
const tab = Math.random().toString(36).slice(2);

/** A request that the server refused, with its reason and remedy. */
export class Refusal extends Error {
  /** @param {number} status @param {{message: string, help?: string, key?: string}} details */
  constructor(status, details) {
    super(details.message);
    this.status = status;
    this.help = details.help ?? "";
    this.key = details.key ?? "";
  }
}

/** @param {string} action @param {object} body @param {AbortSignal} [signal] */
async function ask(action, body, signal) {
  const response = await fetch(`/${action}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Goodqueue-Token": token },
    body: JSON.stringify(body),
    signal,
  });
  const answer = await response.json();
  if (!response.ok) throw new Refusal(response.status, answer);
  return answer;
}

/** Returns the names of queues and controls. */
export const start = () => ask("start", {});

/** Returns the picture of a run. A new run for the same purpose stops the one before.
 * @param {string} purpose @param {string} text @param {{columns: number, flows: number, firstPackets?: number}} view
 * @param {AbortSignal} signal */
export const picture = (purpose, text, { columns, flows, firstPackets }, signal) =>
  ask("picture", { tab: `${tab}.${purpose}`, text, columns, flows, first_packets: firstPackets ?? null }, signal);

/** Returns the instant answer of calibrated theory and its curve.
 * @param {import("./state.js").Question} question @param {AbortSignal} signal */
export const theory = ({ rate, rtt, flows, control }, signal) =>
  ask("theory", { rate, rtt, flows, control }, signal);
