// The engine behind the page: one protocol, two back ends.
//
// The local server computes if the address has its token; otherwise, or with `?engine=wasm`, a worker of
// this page computes with the WebAssembly engine. Both answer with the same bytes.
//
// Functions for the page. All return promises. A refusal is thrown as `Refusal`, with message, help, key
// and line. Times are in seconds, rates in bit/s. `files` maps names to the texts of the files that a
// scenario names. An aborted `signal` stops the run within some milliseconds.
//
//   backEnd                        "server" or "wasm"
//   start()                        names of queues and controls, bounds on runs
//   schema()                       JSON Schema of scenario files: keys, units, meanings
//   opened()                       the scenario that the command line opened: {name, text, files}, or null. Its
//                                  files are known to all questions
//   open(text, files)              contents of a scenario file; `controls` has the key and the value of each
//                                  control that can change it (rate, rtt, flows, control, buffer)
//   run(text, options, signal)     picture of one run: summary, buffers, series of links and flows
//       options: purpose ("run"), files, columns (600), flows (8), firstPackets, seed,
//       overrides ({"topology.bottleneck.rate": "5Mbps"}: keys that replace those of the text),
//       limit ({link, limit: "30p"}: another buffer of one link), onProgress(share from 0 to 1)
//   packets(text, fromMs, toMs, options, signal)  packets of a short part of a run, with their times at the link
//       options: purpose ("packets"), files
//   stop(purpose)                  stops the run for a purpose; a new run for it does so, too
//   knee(text, options, signal)    runs of several buffers: [{packets, figures, link}, ...]
//       options: link ("bottleneck"), limits (["0.1bdp", "8p", ...]), packets of each run (30,000), seed,
//       files, onPoint(points so far)
//   repeat(text, options, signal)  means over seeds with 95 % intervals, in the form of a picture's `figures`:
//       {links: {bottleneck: {utilization: {mean, low, high}}}, flows: {...}}
//       options: seeds (5), files, overrides, firstPackets, limit, onChange(intervals so far, number of seeds)
//   intervals(figures, signal)     the same from the `figures` of pictures that the page has already
//   tc(text, options)              commands of `tc` for a link's queue: {commands, notes}
//       options: link ("bottleneck"), files
//   theory(question, signal)       instant answer of calibrated theory, its curve and `tc` line, and rules

const address = new URLSearchParams(location.search);
const token = address.get("token") ?? "";
const tab = Math.random().toString(36).slice(2);

/** Back end that computes. @type {"server" | "wasm"} */
export const backEnd = token === "" || address.get("engine") === "wasm" ? "wasm" : "server";

/** A request that the engine refused, with its reason and remedy. */
export class Refusal extends Error {
  /** @param {number} status @param {{message: string, help?: string, key?: string, line?: number | null}} details */
  constructor(status, details) {
    super(details.message);
    this.status = status;
    this.help = details.help ?? "";
    this.key = details.key ?? "";
    this.line = details.line ?? null;
  }
}

/** Status of a run that was stopped, as the server answers. */
const STOPPED = 409;

/** Asks the local server. @param {string} action @param {object} body @param {AbortSignal} [signal] */
async function askServer(action, body, signal) {
  const response = await fetch(`./${action}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Goodqueue-Token": token },
    body: JSON.stringify(body),
    signal,
  });
  const answer = await response.json();
  if (!response.ok) throw new Refusal(response.status, answer);
  return answer;
}

/** Workers, the first for what the reader waits for, the second for what happens in the background.
 * @type {(Worker | undefined)[]} */
const workers = [undefined, undefined];
/** Questions without an answer. @type {Map<number, {resolve: (answer: any) => void, reject: (error: Error) => void, onProgress?: (share: number) => void}>} */
const waiting = new Map();
let questions = 0;

/** @param {number} place @returns {Worker} */
function worker(place) {
  const known = workers[place];
  if (known) return known;
  const made = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  made.onmessage = ({ data: { id, status, text, share } }) => {
    const asked = waiting.get(id);
    if (!asked) return;
    if (share !== undefined) return asked.onProgress?.(share);
    waiting.delete(id);
    const answer = JSON.parse(text);
    if (status === 200) asked.resolve(answer);
    else asked.reject(new Refusal(status, answer));
  };
  made.onerror = () => {
    const problem = new Refusal(500, { message: "the engine in this page did not start", help: "load the page again, or use goodqueue lab" });
    for (const { reject } of waiting.values()) reject(problem);
    waiting.clear();
    made.terminate();
    workers[place] = undefined;
  };
  workers[place] = made;
  return made;
}

/** Asks a worker. @param {string} action @param {any} body @param {AbortSignal} [signal] @param {(share: number) => void} [onProgress] */
function askWorker(action, body, signal, onProgress) {
  const id = ++questions;
  const place = body.background ? 1 : 0;
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    waiting.set(id, { resolve, reject, onProgress });
    signal?.addEventListener("abort", () => {
      worker(place).postMessage({ id, action: "stop", body: "{}" });
      waiting.delete(id);
      reject(signal.reason);
    });
    worker(place).postMessage({ id, action, body: JSON.stringify(body) });
  });
}

/** @param {string} action @param {any} body @param {AbortSignal} [signal] @param {(share: number) => void} [onProgress] */
const ask = (action, body, signal, onProgress) =>
  backEnd === "wasm" ? askWorker(action, body, signal, onProgress) : askServer(action, body, signal);

/** Returns the names of queues and controls, and the bounds on runs. */
export const start = () => ask("start", {});

/** Returns the JSON Schema of scenario files. */
export const schema = () => ask("schema", {});

/** @typedef {Record<string, string>} Files */

/** @type {Promise<{name: string, text: string, files: Files} | null>} */
const first = backEnd === "server" ? askServer("opened", {}).catch(() => null) : Promise.resolve(null);

/** Returns the scenario that the command line opened, or null. */
export const opened = () => first;

/** Returns the files of a question and those that the command line opened. @param {Files} [files] */
const known = async (files) => ({ ...(await first)?.files, ...files });

/** Returns the contents of a scenario file. @param {string} text @param {Files} [files] */
export const open = async (text, files) => ask("open", { text, files: await known(files) });

/** @typedef {{purpose?: string, files?: Files, overrides?: Record<string, string>, columns?: number, flows?: number, firstPackets?: number, seed?: number, limit?: {link: string, limit: string}, background?: boolean, onProgress?: (share: number) => void}} RunOptions */

/** Returns the picture of a run. A new run for the same purpose stops the one before.
 * @param {string} text @param {RunOptions} options @param {AbortSignal} [signal] */
export async function run(text, options, signal) {
  const { purpose = "run", files, overrides = {}, columns = 600, flows = 8, firstPackets = null, seed = null, limit = null, background = false, onProgress } = options;
  const body = { tab: `${tab}.${purpose}`, text, files: await known(files), overrides, columns, flows, first_packets: firstPackets, seed, limit, background };
  if (backEnd === "wasm" || !onProgress) return ask("picture", body, signal, onProgress);
  const timer = setInterval(async () => {
    const { share } = await ask("progress", { tab: body.tab }).catch(() => ({ share: null }));
    if (share !== null) onProgress(share);
  }, 250);
  return ask("picture", body, signal).finally(() => clearInterval(timer));
}

/** Returns the picture of a run, as `run` does. @param {string} purpose @param {string} text @param {RunOptions} options @param {AbortSignal} signal */
export const picture = (purpose, text, options, signal) => run(text, { ...options, purpose }, signal);

/** Returns the packets between two times of a run.
 * @param {string} text @param {number} fromMs @param {number} toMs @param {{purpose?: string, files?: Files}} options
 * @param {AbortSignal} [signal] */
export async function packets(text, fromMs, toMs, { purpose = "packets", files }, signal) {
  const [from_ms, to_ms] = [Math.round(fromMs), Math.round(toMs)];
  return ask("packets", { tab: `${tab}.${purpose}`, text, files: await known(files), from_ms, to_ms, background: true }, signal);
}

/** Stops the run for a purpose. @param {string} [purpose] */
export function stop(purpose = "run") {
  const body = { tab: `${tab}.${purpose}` };
  if (backEnd === "server") return ask("stop", body);
  return Promise.all([0, 1].filter((place) => workers[place]).map((place) => ask("stop", { ...body, background: place === 1 })));
}

/** Returns true if a run was stopped, which is no problem. @param {any} error */
export const wasStopped = (error) => error?.name === "AbortError" || (error instanceof Refusal && error.status === STOPPED);

/** Buffers of the knee. */
const KNEE = [0.03, 0.06, 0.12, 0.25, 0.5, 1, 2, 4, 8].map((bdps) => `${bdps}bdp`);
/** Packets of each run of the knee. */
const KNEE_PACKETS = 30_000;

/** Returns the figures of runs with several buffers of one link.
 * @param {string} text
 * @param {{link?: string, limits?: string[], packets?: number, seed?: number, files?: Files, overrides?: Record<string, string>, purpose?: string, onPoint?: (points: any[]) => void}} options
 * @param {AbortSignal} [signal] */
export async function knee(text, options, signal) {
  const { link = "bottleneck", limits = KNEE, packets = KNEE_PACKETS, purpose = "knee", seed, files, overrides, onPoint } = options;
  const points = [];
  for (const limit of limits) {
    const each = { purpose, files, overrides, columns: 1, flows: 0, firstPackets: packets, seed, limit: { link, limit }, background: true };
    const { summary, figures } = await run(text, each, signal);
    const found = summary.links[link];
    points.push({ packets: found.limit.packets ?? found.limit.bytes / 1500, figures: figures.links[link], link: found });
    onPoint?.([...points]);
  }
  return points;
}

/** Returns the mean of each figure over several runs with its 95 % interval.
 * @param {any[]} figures @param {AbortSignal} [signal] */
export const intervals = (figures, signal) => ask("intervals", { figures }, signal);

/** Returns means over seeds with 95 % intervals, by link and figure.
 * @param {string} text
 * @param {RunOptions & {seeds?: number, onChange?: (intervals: any, seeds: number) => void}} options
 * @param {AbortSignal} [signal] */
export async function repeat(text, options, signal) {
  const { seeds = 5, purpose = "repeat", onChange, ...others } = options;
  const figures = [];
  let found = null;
  for (let seed = 1; seed <= seeds; seed++) {
    const picture = await run(text, { ...others, purpose, seed, columns: 1, flows: 0, background: true }, signal);
    figures.push(picture.figures);
    found = await intervals(figures, signal);
    onChange?.(found, seed);
  }
  return found;
}

/** Returns the commands of `tc` for a link's queue.
 * @param {string} text @param {{link?: string, files?: Files}} [options] */
export const tc = async (text, { link = "bottleneck", files } = {}) => ask("tc", { text, files: await known(files), link });

/** Returns the instant answer of calibrated theory and its curve.
 * @param {{rate: string, rtt: string, flows: number, control: string}} question @param {AbortSignal} [signal] */
export const theory = ({ rate, rtt, flows, control }, signal) => ask("theory", { rate, rtt, flows, control }, signal);
