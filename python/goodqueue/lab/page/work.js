// @ts-check
// The computations behind one state of the page, the fastest first.

import { packets, picture, theory, wasStopped } from "./engine.js";
import { figuresOf } from "./figures.js";
import { roughRate, roughRtt, scenarioText } from "./scenario.js";
import { sides } from "./state.js";

/** Packets of the first picture, which appears while the whole run goes on. */
const FIRST_PACKETS = 20_000;
/** Packets of each point of the knee, a run of its own. */
const KNEE_PACKETS = 30_000;
/** Buffers of the knee, in bandwidth-delay products. */
const KNEE = [0.03, 0.06, 0.12, 0.25, 0.5, 1, 2, 4, 8];
/** Runs of each side, with consecutive seeds. */
export const SEEDS = 5;
/** Columns of each series. */
export const COLUMNS = 600;
const VIEW = { columns: COLUMNS, flows: 8 };
const BARE = { columns: 1, flows: 0 };
/** Milliseconds of the packet view's part of a run. */
const WATCH_MS = 2_000;

/** What is known of one side. `runs` are figures by seed, `stage` is the last finished step.
 * @typedef {{question: import("./state.js").Question, text: string, picture: any,
 *   runs: import("./figures.js").Figures[], knee: any[]}} Side */
/** @typedef {{a: Side | null, b: Side | null, instant: any,
 *   stage: "first" | "whole" | "seeds" | "done"}} Found */

/** Returns the picture of a run. An older request for the same purpose may reach the server later and stop
 * this one, so a run that was stopped without being cut short here is asked for again.
 * @param {string} purpose @param {string} text @param {any} view @param {AbortSignal} signal */
async function drawn(purpose, text, view, signal) {
  for (let left = 3; ; left -= 1) {
    try {
      return await picture(purpose, text, view, signal);
    } catch (error) {
      if (signal.aborted || left === 0 || !wasStopped(error)) throw error;
    }
  }
}

/** Computes everything that the page shows of a state and reports each step.
 * @param {import("./state.js").State} state @param {AbortSignal} signal
 * @param {(found: Found) => void} report */
export async function work(state, signal, report) {
  const asked = sides(state).map(({ side, question }) => ({
    side,
    question,
    text: state.file || scenarioText(question),
  }));
  /** @type {Found} */
  let found = { a: null, b: null, instant: null, stage: "first" };
  const tell = (/** @type {Partial<Found>} */ part) => {
    found = { ...found, ...part };
    if (!signal.aborted) report(found);
  };
  const update = (/** @type {"a" | "b"} */ side, /** @type {any} */ part) => tell({ [side]: { ...found[side], ...part } });

  const draw = async (/** @type {any} */ view) => {
    const pictures = await Promise.all(asked.map(({ side, text }) => drawn(`run.${side}`, text, view, signal)));
    const known = asked.map(({ side, question, text }, i) => [
      side,
      { question, text, picture: pictures[i], runs: [figuresOf(pictures[i])], knee: found[side]?.knee ?? [] },
    ]);
    return Object.fromEntries(known);
  };
  tell(await draw({ ...VIEW, firstPackets: FIRST_PACKETS }));
  if (!state.file) tell({ instant: await theory(state.a, signal).catch(() => null) });
  tell({ ...(await draw(VIEW)), stage: "whole" });
  if (state.file) return tell({ stage: "done" });

  for (let seed = 1; seed < SEEDS; seed += 1) {
    const runs = await Promise.all(asked.map(({ side, question }) =>
      drawn(`seeds.${side}`, scenarioText(question, { seed: question.seed + seed }), BARE, signal)));
    asked.forEach(({ side }, i) => update(side, { runs: [.../** @type {Side} */ (found[side]).runs, figuresOf(runs[i])] }));
  }
  tell({ stage: "seeds" });
  for (const packets of kneePackets(state.a)) {
    await Promise.all(asked.map(async ({ side, question }) => {
      const text = scenarioText(question, { buffer: `${packets}p` });
      const { summary } = await drawn(`knee.${side}`, text, { ...BARE, firstPackets: KNEE_PACKETS }, signal);
      const link = summary.links.bottleneck;
      const point = { packets, link };
      update(side, { knee: [.../** @type {Side} */ (found[side]).knee, point] });
    }));
  }
  tell({ stage: "done" });
}

/** Returns buffers on both sides of the knee, in packets. @param {import("./state.js").Question} question */
function kneePackets({ rate, rtt }) {
  const bdp = (roughRate(rate) * roughRtt(rtt)) / 12_000;
  const packets = KNEE.map((share) => Math.max(1, Math.round(share * (bdp || 100))));
  return [...new Set([...packets, ...(bdp < 30 ? [1, 2, 4, 8, 16, 32] : [])])].sort((a, b) => a - b);
}

/** Returns the packets of each side from a time on. @param {import("./state.js").State} state
 * @param {number} from in seconds @param {AbortSignal} signal */
export async function watch(state, from, signal) {
  const start = 1e3 * from;
  const trips = await Promise.all(sides(state).map(({ side, question }) =>
    packets(state.file || scenarioText(question), start, start + WATCH_MS, { purpose: `packets.${side}` }, signal)));
  return { a: trips[0], b: trips[1] ?? null };
}
