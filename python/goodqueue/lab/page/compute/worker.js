// @ts-check
// The WebAssembly engine in a worker. Questions of the page come as messages {id, action, body}, answers
// leave as {id, status, text}, and the progress of runs as {id, share}. Runs take turns in slices of a few
// milliseconds, so that each message is read soon.

// biome-ignore lint/suspicious/noTsIgnore: there is no error once the engine is built
// @ts-ignore: the engine is built by make wasm
import start, { LabJob } from "../engine/goodqueue_wasm.js";

/** Longest slice in milliseconds. */
const SLICE_MS = 12;
/** Milliseconds between two reports of progress. */
const REPORT_MS = 100;

/** @typedef {{id: number, turn: import("./engine.js").Turn | undefined, job: any, reported: number}} Work */

/** Runs in progress, in turn.
 * @type {Work[]} */
const runs = [];
const ready = start();
const { port1: alarm, port2: bell } = new MessageChannel();
bell.onmessage = work;

/** @param {number} id @param {number} status @param {string} text */
const answer = (id, status, text) => postMessage({ id, status, text });

addEventListener("message", async ({ data: { id, action, turn, body } }) => {
  try {
    await ready;
  } catch {
    return answer(id, 500, JSON.stringify({ message: "this page has no engine of its own", help: "build it with make wasm, or use goodqueue lab" }));
  }
  if (action === "stop") return stop((run) => run.id === id);
  if (turn) stop((run) => run.turn?.tab === turn.tab && (run.turn?.number ?? 0) < turn.number);
  runs.push({ id, turn, job: new LabJob(action, body), reported: performance.now() });
  if (runs.length === 1) alarm.postMessage(null);
});

/** Stops runs.
 * @param {(run: Work) => boolean} which */
function stop(which) {
  for (let i = runs.length - 1; i >= 0; i--) {
    if (!which(runs[i])) continue;
    const [{ id, job }] = runs.splice(i, 1);
    job.free();
    answer(id, 409, JSON.stringify({ message: "a newer run has replaced this one" }));
  }
}

/** Works on the first run for one slice, then lets messages and other runs have their turn. */
function work() {
  const run = runs.shift();
  if (!run) return;
  const { id, job } = run;
  const started = performance.now();
  let share;
  do share = job.advance();
  while (share !== undefined && performance.now() - started < SLICE_MS);
  if (share === undefined) {
    const { status } = job;
    answer(id, status, job.answer());
  } else {
    const now = performance.now();
    if (now - run.reported > REPORT_MS) {
      run.reported = now;
      postMessage({ id, share });
    }
    runs.push(run);
  }
  if (runs.length > 0) alarm.postMessage(null);
}
