// The lab: one link, its traffic, and what its buffer does. Every change runs it again.

import { html, render, useEffect, useRef, useState } from "/vendor/htm-preact-3.1.1.js";
import { Refusal, picture, start, theory } from "/engine.js";
import { COLOURS, Chart, number } from "/charts.js";
import { PRESETS, fromHash, roughRate, roughRtt, runSeconds, scenarioText, sizeCommand, toHash, wholeFlows } from "/state.js";

/** Packets of the first picture, which appears while the whole run goes on. */
const FIRST_PACKETS = 20_000;
/** Packets of each point of the knee, a run of its own. */
const KNEE_PACKETS = 30_000;
/** Buffers of the knee, in bandwidth-delay products. */
const KNEE = [0.03, 0.06, 0.12, 0.25, 0.5, 1, 2, 4, 8];
const COLUMNS = 600;
const FLOWS = 8;

function App() {
  const [question, setQuestion] = useState(fromHash(location.hash));
  const [names, setNames] = useState(/** @type {any} */ ({ queues: [question.queue], controls: [question.control] }));
  const [shown, setShown] = useState(/** @type {any} */ (null));
  const [instant, setInstant] = useState(/** @type {any} */ (null));
  const [knee, setKnee] = useState(/** @type {any[]} */ ([]));
  const [problem, setProblem] = useState(/** @type {any} */ (null));
  const [busy, setBusy] = useState(false);

  useEffect(() => {
    start().then(setNames, setProblem);
    const changed = () => setQuestion(fromHash(location.hash));
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);

  useEffect(() => {
    const stop = new AbortController();
    history.replaceState(null, "", location.pathname + location.search + toHash(question));
    setBusy(true);
    work(question, stop.signal, { setShown, setInstant, setKnee, setProblem })
      .catch((error) => stop.signal.aborted || superseded(error) || setProblem(error))
      .finally(() => stop.signal.aborted || setBusy(false));
    return () => stop.abort();
  }, [JSON.stringify(question)]);

  const change = (/** @type {any} */ part) => setQuestion({ ...question, ...part });
  return html`
    <header>
      <h1>How much buffer does a link need?</h1>
      <p class="soft">Every change simulates the link again, packet by packet, on this computer. Nothing leaves it.</p>
      <nav class="presets" aria-label="Links to begin with">
        ${PRESETS.map(({ name, question: preset }) => html`
          <button type="button" onClick=${() => setQuestion({ ...fromHash(""), ...preset })}>${name}</button>`)}
      </nav>
    </header>
    <div class="bench">
      <${Controls} question=${question} change=${change} names=${names} />
      <main>
        <div role="status" aria-live="polite">
          ${problem && html`<div class="problem"><b>${problem.message}</b><br />${problem.help}</div>`}
        </div>
        ${shown && html`<${Tiles} picture=${shown} busy=${busy} />`}
        ${instant && html`<${Answer} instant=${instant} question=${question} change=${change} />`}
        ${shown && html`<${Series} picture=${shown} />`}
        <${Knee} knee=${knee} instant=${instant} />
        <${Copies} question=${question} instant=${instant} />
      </main>
    </div>`;
}

/** A run that a newer one has replaced is no problem. @param {unknown} error */
const superseded = (error) => error instanceof Refusal && error.status === 409;

/** Computes everything that the page shows of a question, the fastest first.
 * @param {import("./state.js").Question} question @param {AbortSignal} signal @param {any} set */
async function work(question, signal, set) {
  const seconds = runSeconds(question);
  const text = scenarioText(question, seconds);
  const view = { columns: COLUMNS, flows: FLOWS };
  const first = await picture("run", text, { ...view, firstPackets: FIRST_PACKETS }, signal);
  set.setProblem(null);
  set.setShown(first);
  set.setKnee([]);
  set.setInstant(await theory(question, signal).catch(() => null));
  set.setShown(await picture("run", text, view, signal));
  const points = [];
  for (const bdps of KNEE) {
    const point = scenarioText(question, seconds, `${bdps}bdp`);
    const { summary } = await picture("knee", point, { columns: 1, flows: 0, firstPackets: KNEE_PACKETS }, signal);
    const link = summary.links.bottleneck;
    points.push({ packets: link.limit.packets ?? link.limit.bytes / 1500, link });
    set.setKnee([...points]);
  }
}

/** @param {any} props */
function Controls({ question, change, names }) {
  const bdps = Number.parseFloat(question.buffer);
  const inBdps = question.buffer.endsWith("bdp");
  return html`<form onSubmit=${(/** @type {Event} */ event) => event.preventDefault()} aria-label="The link and its traffic">
    <${Scaled} name="Rate" text=${question.rate} value=${roughRate(question.rate)} low=${5e5} high=${1e9}
      write=${(/** @type {number} */ v) => rateText(v)} set=${(/** @type {string} */ rate) => change({ rate })} />
    <${Scaled} name="Base round-trip time" text=${question.rtt} value=${roughRtt(question.rtt)} low=${0.002} high=${0.6}
      write=${(/** @type {number} */ v) => `${Number((v * 1e3).toPrecision(2))}ms`} set=${(/** @type {string} */ rtt) => change({ rtt })} />
    <${Scaled} name="Flows" text=${String(question.flows)} value=${question.flows} low=${1} high=${200}
      write=${(/** @type {number} */ v) => String(Math.round(v))} set=${(/** @type {string} */ flows) => change({ flows: wholeFlows(flows) })} />
    <${Scaled} name="Buffer" text=${question.buffer} value=${inBdps ? bdps : Number.NaN} low=${0.01} high=${16}
      write=${(/** @type {number} */ v) => `${Number(v.toPrecision(2))}bdp`} set=${(/** @type {string} */ buffer) => change({ buffer })} />
    <${Choice} name="Queue" value=${question.queue} choices=${names.queues} set=${(/** @type {string} */ queue) => change({ queue })} />
    <${Choice} name="Congestion control" value=${question.control} choices=${names.controls} set=${(/** @type {string} */ control) => change({ control })} />
    <${Choice} name="Hosts' TCP" value=${question.profile} choices=${["linux", "rfc"]} set=${(/** @type {string} */ profile) => change({ profile })} />
    <p class="soft">Values carry their units, as in scenario files: 10Mbps, 20ms..80ms, 1bdp, 100p, 50ms, 64KiB.</p>
  </form>`;
}

/** A logarithmic slider beside the text that the engine reads. @param {any} props */
function Scaled({ name, text, value, low, high, write, set }) {
  const steps = 200;
  const place = Number.isFinite(value) ? Math.round((Math.log(value / low) / Math.log(high / low)) * steps) : 0;
  const moved = (/** @type {any} */ event) => set(write(low * (high / low) ** (event.target.value / steps)));
  return html`<label>${name}
    <span class="pair">
      <input type="range" min="0" max=${steps} value=${place} onInput=${moved} aria-label=${`${name}, slider`} aria-valuetext=${text} />
      <input type="text" value=${text} onChange=${(/** @type {any} */ event) => set(event.target.value)} aria-label=${name} />
    </span></label>`;
}

/** @param {any} props */
function Choice({ name, value, choices, set }) {
  const all = choices.includes(value) ? choices : [value, ...choices];
  return html`<label>${name}
    <select value=${value} onChange=${(/** @type {any} */ event) => set(event.target.value)}>
      ${all.map((/** @type {string} */ one) => html`<option value=${one} selected=${one === value}>${one}</option>`)}
    </select></label>`;
}

/** @param {number} bps */
function rateText(bps) {
  const [unit, size] = bps >= 1e9 ? ["Gbps", 1e9] : bps >= 1e6 ? ["Mbps", 1e6] : ["kbps", 1e3];
  return `${Number((bps / Number(size)).toPrecision(2))}${unit}`;
}

/** @param {any} props */
function Tiles({ picture: { summary, duration_s: duration }, busy }) {
  const link = summary.links.bottleneck;
  const limit = link.limit;
  const buffer = limit?.packets == null && limit?.bytes == null
    ? "unlimited"
    : [limit.packets != null && `${number(limit.packets)} packets`, limit.bytes != null && `${number(limit.bytes / 1e3)} kB`,
       limit.ms != null && `${number(limit.ms)} ms`, limit.bdp != null && `${number(limit.bdp)} BDP`].filter(Boolean).join(" = ");
  const tile = (/** @type {string} */ name, /** @type {string} */ value, /** @type {string} */ note) =>
    html`<div class="tile"><span class="soft">${name}</span><b>${value}</b><span class="soft">${note}</span></div>`;
  return html`<section aria-label="Figures of the run" data-busy=${busy}>
    <div class="tiles">
      ${tile("Utilisation", `${number(link.utilization * 100)} %`, "of the link's time")}
      ${tile("Loss", `${number(link.loss_rate * 100)} %`, `${number(link.drops)} of ${number(link.arrivals)} packets, ${number(link.marks)} marked`)}
      ${tile("Queueing delay, p99", `${number(link.p99_queueing_delay_s * 1e3)} ms`, `mean ${number(link.mean_queueing_delay_s * 1e3)} ms`)}
      ${tile("Fairness", link.jain_index == null ? "–" : number(link.jain_index), "Jain's index of the goodputs")}
    </div>
    <p class="soft">Buffer: ${buffer}. One run of ${number(duration)} simulated seconds, one seed${busy ? html`; <span class="busy">simulating …</span>` : "."}</p>
  </section>`;
}

/** @param {any} props */
function Answer({ instant, question, change }) {
  const { answer } = instant;
  if (!answer) return html`<p class="answer">Calibrated theory does not cover ${question.control}; the runs below show what a buffer does.</p>`;
  if (answer.packets == null) return html`<p class="answer">By calibrated theory no buffer keeps this link 98 % busy.</p>`;
  const end = answer.at_most_packets == null ? "any number" : number(answer.at_most_packets);
  return html`<div class="answer">
    <h2>A FIFO needs ${number(answer.packets)} packets = ${number(answer.seconds * 1e3)} ms = ${number(answer.bdp)} BDP to keep this link 98 % busy.</h2>
    <p>By calibrated theory, without simulation: with 90 % probability a simulation finds ${number(answer.at_least_packets)} to ${end} packets.
      <button type="button" onClick=${() => change({ queue: "drop_tail", buffer: `${answer.packets}p` })}>Use this buffer</button></p>
    ${answer.outside_fitted_range.map((/** @type {string} */ reason) => html`<p class="soft">Outside the fitted range: ${reason}</p>`)}
  </div>`;
}

/** @param {any} props */
function Series({ picture: { links, flows, column_s: width, duration_s: duration, warmup_s: warmup } }) {
  const link = links[0];
  const x = link.mean_packets.map((/** @type {number} */ _, /** @type {number} */ i) => (i + 0.5) * width);
  const scaled = (/** @type {(number | null)[]} */ values, /** @type {number} */ by) => values.map((v) => (v == null ? null : v * by));
  const lines = (/** @type {string} */ key, /** @type {number} */ by) =>
    flows.map((/** @type {any} */ flow, /** @type {number} */ i) => ({ label: flow.name, values: scaled(flow[key], by), colour: COLOURS[i % COLOURS.length] }));
  const drops = link.drops.reduce((/** @type {number} */ a, /** @type {number} */ b) => a + b, 0);
  const time = "time in s";
  const marks = [{ x: warmup, label: "measured from here" }];
  return html`
    <figure><h2>Packets waiting</h2>
      <${Chart} x=${x} xLabel=${time} unit="packets" label="Packets waiting at the bottleneck over time" bands=${[[2, 1]]} marks=${marks}
        lines=${[
          { label: "lowest", values: link.low_packets, colour: COLOURS[0] + "60", width: 1 },
          { label: "highest", values: link.high_packets, colour: COLOURS[0] + "60", width: 1 },
          { label: "mean", values: link.mean_packets, colour: COLOURS[0], width: 2 },
          { label: "drops", values: link.drops.map((/** @type {number} */ n, /** @type {number} */ i) => (n > 0 ? link.high_packets[i] : null)), colour: COLOURS[1], width: 0, points: true },
        ]} />
      <figcaption>The queue between its lowest and highest length in each ${number(width * 1e3)} ms. Orange points are times with drops, ${drops} packets in the whole run. The figures above count from the dashed line on.</figcaption></figure>
    <figure><h2>Congestion windows</h2>
      <${Chart} x=${x} xLabel=${time} unit="kB" label="Congestion window of each flow over time" lines=${lines("cwnd_bytes", 1e-3)} />
      <figcaption>The window of each flow, ${flows.length} shown. It grows until the queue overflows or marks, then shrinks.</figcaption></figure>
    <figure><h2>Round-trip time</h2>
      <${Chart} x=${x} xLabel=${time} unit="ms" label="Largest round-trip time of each flow over time" lines=${lines("highest_rtt_s", 1e3)} />
      <figcaption>The largest round-trip time of each flow in each ${number(width * 1e3)} ms. What exceeds the base is waiting.</figcaption></figure>
    <figure><h2>Throughput</h2>
      <${Chart} x=${x} xLabel=${time} unit="Mb/s" label="Throughput of each flow over time" lines=${smoothed(lines("throughput_bps", 1e-6))} />
      <figcaption>The rate at which each flow's packets arrive, averaged over ${number(duration / 60)} s.</figcaption></figure>`;
}

/** Averages each line over a sixtieth of the run, because single columns hold few packets.
 * @param {any[]} lines */
function smoothed(lines) {
  const reach = Math.round(COLUMNS / 120);
  return lines.map((line) => ({
    ...line,
    values: line.values.map((/** @type {number} */ _, /** @type {number} */ i) => {
      const part = line.values.slice(Math.max(0, i - reach), i + reach);
      return part.reduce((/** @type {number} */ a, /** @type {number} */ b) => a + b, 0) / part.length;
    }),
  }));
}

/** @param {any} props */
function Knee({ knee, instant }) {
  const curve = instant?.curve;
  if (knee.length === 0 && !curve) return null;
  const x = [...new Set([...knee.map((/** @type {any} */ p) => p.packets), ...(curve?.packets ?? [])])].filter((p) => p > 0).sort((a, b) => a - b);
  const at = (/** @type {(p: any) => number} */ of) => {
    const found = new Map(knee.map((/** @type {any} */ p) => [p.packets, of(p.link)]));
    return x.map((p) => found.get(p) ?? null);
  };
  const expected = (/** @type {string} */ key, /** @type {number} */ by) => {
    const found = new Map((curve?.packets ?? []).map((/** @type {number} */ p, /** @type {number} */ i) => [p, curve[key][i] * by]));
    return x.map((p) => found.get(p) ?? null);
  };
  const recommended = instant?.answer?.packets;
  const marks = recommended ? [{ x: recommended, label: `${recommended} packets` }] : [];
  return html`
    <figure><h2>What a buffer buys</h2>
      <${Chart} x=${x} xLabel="buffer in packets" logX unit="% busy" label="Utilisation against the buffer" marks=${marks} from=${100}
        lines=${[
          { label: "simulated", values: at((link) => link.utilization * 100), colour: COLOURS[0], width: 0, points: true },
          { label: "expected by theory", values: expected("utilization", 100), colour: COLOURS[0], dash: [5, 4] },
        ]} />
      <figcaption>Utilisation against the buffer. Points are short single runs with this queue; the dashed line is calibrated theory for a FIFO.</figcaption></figure>
    <figure><h2>What it costs</h2>
      <${Chart} x=${x} xLabel="buffer in packets" logX unit="ms" label="99th percentile of the queueing delay against the buffer" marks=${marks}
        lines=${[
          { label: "simulated", values: at((link) => link.p99_queueing_delay_s * 1e3), colour: COLOURS[1], width: 0, points: true },
          { label: "expected by theory", values: expected("p99_delay_s", 1e3), colour: COLOURS[1], dash: [5, 4] },
        ]} />
      <figcaption>The 99th percentile of the queueing delay against the buffer.</figcaption></figure>`;
}

/** @param {any} props */
function Copies({ question, instant }) {
  const text = scenarioText(question, runSeconds(question));
  const lines = [...(instant?.commands ?? []), sizeCommand(question)];
  return html`<section aria-label="To take with you"><h2>To take with you</h2>
    ${lines.map((line) => html`<${Copy} text=${line} />`)}
    <${Copy} text=${location.href} shown="The address of this page keeps its settings." />
    <details><summary>The scenario file</summary><pre>${text}</pre>
      <button type="button" onClick=${() => save("scenario.toml", text)}>Save</button></details>
  </section>`;
}

/** @param {any} props */
function Copy({ text, shown }) {
  const [done, setDone] = useState(false);
  const timer = useRef(0);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setDone(true);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setDone(false), 1500);
  };
  return html`<div class="copy">${shown ? html`<span>${shown}</span>` : html`<code>${text}</code>`}
    <button type="button" onClick=${copy}>${done ? "Copied" : "Copy"}</button></div>`;
}

/** @param {string} name @param {string} text */
function save(name, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

render(html`<${App} />`, /** @type {HTMLElement} */ (document.getElementById("app")));
