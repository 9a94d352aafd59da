// @ts-check
// The engine behind the page: one protocol, two back ends.
//
// The local server computes if the address has its token; otherwise, or with `?engine=wasm`, workers of
// this page compute with the WebAssembly engine. Both answer with the same bytes. `crates/lab/src/job.rs`
// lists the questions. Times are in seconds, rates in bit/s. An aborted `signal` stops a run within some
// milliseconds.

const address = new URLSearchParams(location.search);
const token = tokenOf(address);
const tab = Math.random().toString(36).slice(2);

/** Returns the token of the server, and takes it out of the address, so that a copied one does not have it. A tab keeps it.
 * @param {URLSearchParams} given @returns {string} */
function tokenOf(given) {
  const found = given.get("token");
  // The types of the worker, which reads the types of this module, have neither a storage nor a history.
  const page = /** @type {any} */ (globalThis);
  const key = "goodqueue.token";
  try {
    if (found === null) return page.sessionStorage.getItem(key) ?? "";
    page.sessionStorage.setItem(key, found);
  } catch {
    // Without storage the address keeps it, so that the page can be loaded again.
    return found ?? "";
  }
  const rest = new URLSearchParams(given);
  rest.delete("token");
  page.history.replaceState(null, "", `${location.pathname}${String(rest) && `?${rest}`}${location.hash}`);
  return found;
}

/** Runs that belong together. A turn with a higher number stops all runs of earlier ones with its tab, and
 * requests of earlier ones that arrive late are not answered.
 * @typedef {{tab: string, number: number}} Turn */

let turns = 0;

/** Begins with new runs for a purpose, in place of earlier ones.
 * @param {string} purpose @returns {Turn} */
export const begin = (purpose) => ({ tab: `${tab}.${purpose}`, number: ++turns });

/** Back end that computes.
 * @type {"server" | "wasm"} */
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

/** Status of a request that no server answered. */
const GONE = 0;

/** Returns true if the server did not answer, so that the same question can be tried again.
 * @param {any} error */
export const isGone = (error) => error instanceof Refusal && error.status === GONE;

/** Returns what a request gives, or a refusal in place of the browser's error if no server answers.
 * @template T @param {Promise<T>} request @returns {Promise<T>} */
const answered = (request) => request.catch((error) => {
  if (error?.name === "AbortError") throw error;
  throw new Refusal(GONE, {
    message: "The server of this page does not answer",
    help: "If goodqueue lab has ended, start it again and open the address that it prints. Otherwise try again.",
  });
});

/** Sends a request to the local server.
 * @param {string} action @param {object} body @param {AbortSignal} [signal] */
const post = (action, body, signal) => answered(fetch(`./${action}`, {
  method: "POST",
  headers: { "Content-Type": "application/json", "X-Goodqueue-Token": token },
  body: JSON.stringify(body),
  signal,
}));

/** Asks the local server.
 * @param {string} action @param {object} body @param {AbortSignal} [signal] */
async function askServer(action, body, signal) {
  const response = await post(action, body, signal);
  const answer = await answered(response.json());
  if (!response.ok) throw new Refusal(response.status, answer);
  return answer;
}

/** Workers, so that two runs go on at a time.
 * @type {(Worker | undefined)[]} */
const workers = [undefined, undefined];
/** Questions without an answer.
 * @type {Map<number, {resolve: (answer: any) => void, reject: (error: Error) => void, onProgress?: (share: number) => void}>} */
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

/** Asks a worker.
 * @param {string} action @param {any} body @param {AbortSignal} [signal] @param {(share: number) => void} [onProgress] */
function askWorker(action, body, signal, onProgress) {
  const id = ++questions;
  const { place = 0, ...question } = body;
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    waiting.set(id, { resolve, reject, onProgress });
    signal?.addEventListener("abort", () => {
      if (!waiting.delete(id)) return;
      worker(place).postMessage({ id, action: "stop" });
      reject(signal.reason);
    });
    worker(place).postMessage({ id, action, turn: body.turn, body: JSON.stringify(question) });
  });
}

/** Asks the back end.
 * @param {string} action @param {any} body @param {AbortSignal} [signal] @param {(share: number) => void} [onProgress] */
const ask = (action, body, signal, onProgress) =>
  backEnd === "wasm" ? askWorker(action, body, signal, onProgress) : askServer(action, body, signal);

// The engine is compiled while the page appears.
if (backEnd === "wasm") workers.forEach((_, place) => void worker(place));

/** Returns the formats, besides CSV, in which tables can be saved.
 * @returns {Promise<string[]>} */
export const formats = () => (backEnd === "server" ? askServer("formats", {}).catch(() => []) : Promise.resolve([]));

/** Returns the address of the page that others can open, or nothing if it is not known: that of the static page, which the
 * server may know, too.
 * @returns {Promise<string>} */
export const site = () => (backEnd === "server" ? askServer("site", {}).catch(() => "") : Promise.resolve(token === "" ? location.origin + location.pathname : ""));

/** Returns a table as a file in Parquet, from the server.
 * @param {[string, (number | null)[]][]} columns names and values */
export async function parquet(columns) {
  const response = await post("parquet", { columns });
  if (!response.ok) throw new Refusal(response.status, await response.json());
  return response.blob();
}

/** Returns the names of queues and controls, and the bounds on runs. */
export const start = () => ask("start", {});

/** @typedef {Record<string, string>} Files */

/** @type {Promise<{name: string, text: string, files: Files} | null>} */
const first = backEnd === "server" ? askServer("opened", {}).catch(() => null) : Promise.resolve(null);

/** Returns the scenario that the command line opened, or null. */
export const opened = () => first;

/** Returns the files of a question and those that the command line opened.
 * @param {Files} [files] */
const known = async (files) => ({ ...(await first)?.files, ...files });

/** Returns the contents of a scenario file; `controls` has the key and the value of each control that can
 * change it (rate, rtt, flows, control, buffer), `resolved` the file with every default.
 * @param {string} text @param {Record<string, string>} [overrides] */
export const open = async (text, overrides = {}) => ask("open", { text, files: await known(), overrides });

/** How a scenario is changed. `overrides` are keys with values that replace those of the text, `limit` is
 * another limit of one link's queue, `files` are the texts of the files that the scenario names.
 * @typedef {{files?: Files, overrides?: Record<string, string>, seed?: number,
 *   limit?: {link: string, limit: string}}} Changes */

/** How a run is shown: columns of each series, flows with series, and the packets of a shorter run.
 * @typedef {{columns?: number, flows?: number, firstPackets?: number}} View */

/** `place` is the worker that runs it, 0 or 1.
 * @typedef {{turn?: Turn, place?: number, onProgress?: (share: number) => void}} Way */

/** Milliseconds between two questions for progress. */
const PROGRESS_MS = 250;

/** Returns the picture of a run: summary, figures, buffers, series of links and flows.
 * @param {string} text @param {Changes & View & Way} options @param {AbortSignal} [signal] */
export async function run(text, options, signal) {
  const { files, overrides = {}, seed = null, limit = null, onProgress } = options;
  const { columns = 600, flows = 8, firstPackets = null, turn = begin("run"), place = 0 } = options;
  const view = { columns, flows, first_packets: firstPackets };
  const body = { turn, place, text, files: await known(files), overrides, seed, limit, ...view };
  if (backEnd === "wasm" || !onProgress) return ask("picture", body, signal, onProgress);
  const timer = setInterval(async () => {
    const { share } = await ask("progress", { turn }).catch(() => ({ share: null }));
    if (share !== null) onProgress(share);
  }, PROGRESS_MS);
  return ask("picture", body, signal).finally(() => clearInterval(timer));
}

/** Returns the packets between two times of a run, with their times at the link.
 * @param {string} text @param {number} fromMs @param {number} toMs @param {Changes & Way} options
 * @param {AbortSignal} [signal] */
export async function packets(text, fromMs, toMs, options, signal) {
  const { files, overrides = {}, turn = begin("packets"), place = 1 } = options;
  const [from_ms, to_ms] = [Math.round(fromMs), Math.round(toMs)];
  return ask("packets", { turn, place, text, files: await known(files), overrides, from_ms, to_ms }, signal);
}

/** Returns true if a run was stopped, which is no problem.
 * @param {any} error */
export const wasStopped = (error) => error?.name === "AbortError" || (error instanceof Refusal && error.status === STOPPED);

/** Returns the mean of each figure over several runs with its 95 % interval.
 * @param {any[]} figures @param {AbortSignal} [signal] */
export const intervals = (figures, signal) => ask("intervals", { figures }, signal);

/** Returns the mean of each figure's difference to the run of the same seed, with its 95 % interval.
 * @param {any[]} figures @param {any[]} others @param {AbortSignal} [signal] */
export const differences = (figures, others, signal) => ask("differences", { figures, others }, signal);

/** Returns the commands of `tc` for a link's queue.
 * @param {string} text @param {string} [link] */
export const tc = async (text, link = "bottleneck") => ask("tc", { text, files: await known(), link });

/** Returns the instant answer of calibrated theory and its curve.
 * @param {{rate: string, rtt: string, flows: number, control: string}} question @param {AbortSignal} [signal] */
export const theory = ({ rate, rtt, flows, control }, signal) => ask("theory", { rate, rtt, flows, control }, signal);
