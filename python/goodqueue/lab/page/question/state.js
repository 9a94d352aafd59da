// @ts-check
// The state of the page: one or two questions, a file, a story. All of it lives in the address.

/** A link and its traffic, as texts with units.
 * @typedef {{rate: string, rtt: string, flows: number, control: string, others: number, otherControl: string,
 *   queue: string, queueKeys: string, buffer: string, loss: string, profile: string, tcpKeys: string,
 *   stagger: string, ping: boolean, seed: number}} Question */

/** `file` is an opened scenario, `over` the values of controls that replace the file's. `watch` is the time in
 * seconds from which packets are shown, or null. `notes` say which values were not taken as they were written.
 * @typedef {{a: Question, b: Question | null, file: string, over: Record<string, string>, story: string,
 *   watch: number | null, notes: string[]}} State */

/** @type {Question} */
export const USUAL = {
  rate: "10Mbps",
  rtt: "40ms",
  flows: 2,
  control: "cubic",
  others: 0,
  otherControl: "bbr",
  queue: "drop_tail",
  queueKeys: "",
  buffer: "1bdp",
  loss: "0%",
  profile: "linux",
  tcpKeys: "",
  stagger: "1s",
  ping: false,
  seed: 1,
};

/** Links as homes have them, each with the larger buffer that its devices often have, and a game's ping.
 * @type {{name: string, a: Partial<Question>}[]} */
export const LINKS = [
  { name: "Home DSL", a: { rate: "10Mbps", rtt: "30ms", flows: 1, buffer: "100p", ping: true } },
  { name: "Cable", a: { rate: "40Mbps", rtt: "20ms", flows: 4, buffer: "256KiB", ping: true } },
  { name: "Fibre", a: { rate: "300Mbps", rtt: "10ms", flows: 8, buffer: "30ms", ping: true } },
  { name: "Starlink", a: { rate: "15Mbps", rtt: "45ms", flows: 2, buffer: "4bdp", ping: true } },
];

/** Further links to begin with.
 * @type {{name: string, a: Partial<Question>, b?: Partial<Question>}[]} */
export const PRESETS = [
  { name: "Home uplink, bloated", a: { rate: "10Mbps", rtt: "30ms", flows: 1, buffer: "100p" } },
  { name: "Home uplink, sized", a: { rate: "10Mbps", rtt: "30ms", flows: 1, buffer: "8p" } },
  { name: "Home link, 20 Mb/s", a: { rate: "20Mbps", rtt: "30ms", flows: 4, buffer: "8p" } },
  { name: "Many flows, small buffer", a: { rate: "50Mbps", rtt: "20ms..120ms", flows: 50, buffer: "0.2bdp" } },
  { name: "Flow queues", a: { flows: 4, queue: "fq_codel", buffer: "1000p" } },
  { name: "BBR", a: { control: "bbr", buffer: "2bdp" } },
  { name: "Drop tail against fq_codel", a: { buffer: "200p", ping: true }, b: { queue: "fq_codel", buffer: "1000p" } },
];

/** Returns the state of an address, or the first link to begin with if the address has no settings.
 * @param {string} hash */
export const firstState = (hash) => (hash.length > 1 ? fromHash(hash) : { ...fromHash(""), a: { ...USUAL, ...LINKS[0].a } });

/** Controls of an opened file. */
export const OVER = ["rate", "rtt", "flows", "buffer", "control"];

/** Returns the keys of an opened file that its controls replace, with their values.
 * @param {State} state @param {any} contents answer of the engine to `open` @returns {Record<string, string>} */
export const overridesOf = ({ over }, { controls }) =>
  Object.fromEntries(Object.entries(over).flatMap(([name, text]) => (controls[name] ? [[controls[name].key, text]] : [])));

/** Longest scenario file that an address carries; a longer one lives in the tab only. */
const LONGEST_FILE = 20_000;

/** Reads a state from the part of an address after `#`. Unknown keys are ignored.
 * @param {string} hash @returns {State} */
export function fromHash(hash) {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  /** @type {string[]} */
  const notes = [];
  const a = overlaid(USUAL, given, "", notes);
  const b = given.has("versus") ? overlaid(a, given, "b.", notes) : null;
  const watch = watchTime(given.get("watch"));
  if (given.has("watch") && watch === null)
    notes.push(`watch=${cut(String(given.get("watch")))} is no time of a run from 0 to ${LATEST_WATCH} seconds, so no packets are shown.`);
  return {
    a,
    b,
    file: given.get("file") ?? "",
    over: Object.fromEntries(OVER.flatMap((name) => (given.has(`set.${name}`) ? [[name, String(given.get(`set.${name}`))]] : []))),
    story: (given.get("story") ?? "").slice(0, 60),
    watch,
    notes,
  };
}

/** Latest time from which packets can be shown, in seconds, which is the engine's. */
const LATEST_WATCH = 1000;

/** Returns the time in seconds from which packets are shown, or null if the text is none.
 * @param {string | null} text */
export function watchTime(text) {
  const seconds = Number(text?.trim() || Number.NaN);
  return seconds >= 0 && seconds <= LATEST_WATCH ? seconds : null;
}

/** Returns a question with the keys that an address gives.
 * @param {Question} base
 * @param {URLSearchParams} given @param {string} prefix @param {string[]} notes gets what was not taken as written
 * @returns {Question} */
function overlaid(base, given, prefix, notes) {
  const question = /** @type {any} */ ({ ...base });
  for (const [key, usual] of Object.entries(USUAL)) {
    const text = given.get(prefix + key);
    if (text === null) continue;
    if (typeof usual === "number") {
      const { value, note } = whole(/** @type {keyof WHOLE} */ (key), text, usual);
      question[key] = value;
      if (note) notes.push(note);
    } else if (typeof usual === "boolean") question[key] = text === "yes";
    else question[key] = text.replace(/[\r\n]/g, " ").slice(0, 200);
  }
  return question;
}

/** @param {State} state @returns {string} */
export function toHash({ a, b, file, over, story, watch }) {
  const given = new URLSearchParams();
  const write = (/** @type {any} */ question, /** @type {any} */ base, /** @type {string} */ prefix) => {
    for (const [key, value] of Object.entries(question)) {
      // An address without settings opens the first link.
      if (value === base[key] && (prefix !== "" || key !== "rate")) continue;
      given.set(prefix + key, value === true ? "yes" : value === false ? "no" : String(value));
    }
  };
  write(a, USUAL, "");
  if (b) {
    given.set("versus", "yes");
    write(b, a, "b.");
  }
  if (file && file.length <= LONGEST_FILE) {
    given.set("file", file);
    for (const [name, text] of Object.entries(over)) given.set(`set.${name}`, text);
  }
  if (story) given.set("story", story);
  if (watch !== null) given.set("watch", String(watch));
  return `#${given}`;
}

/** Least and most of the whole numbers of a question. The lab runs up to 5,000 flows, and JavaScript counts exactly up to
 * the seeds of all runs of the largest one. */
export const WHOLE = { flows: [1, 5000], others: [0, 5000], seed: [0, 2 ** 53 - 1000] };

/** Letters of a text that a note repeats. */
const cut = (/** @type {string} */ text) => (text.length > 40 ? `${text.slice(0, 40)}…` : text);

/** Returns the whole number of a text: the nearest one that is allowed, or `usual` if the text is no number. The note is
 * empty if the text is that number.
 * @param {keyof WHOLE} key @param {string} text @param {number} usual @returns {{value: number, note: string}} */
export function whole(key, text, usual) {
  const [least, most] = WHOLE[key];
  const number = Number(text.trim() || Number.NaN);
  const value = Number.isNaN(number) ? usual : Math.min(Math.max(Math.round(number), least), most);
  if (value === number) return { value, note: "" };
  const name = WORDS[key][0].toUpperCase() + WORDS[key].slice(1);
  return { value, note: `${name}: “${cut(text)}” is no whole number from ${least} to ${most}, so ${value} is used.` };
}

/** Returns the name of a side and its question, one or two.
 * @param {State} state
 * @returns {{side: "a" | "b", question: Question}[]} */
export function sides({ a, b }) {
  return b ? [{ side: "a", question: a }, { side: "b", question: b }] : [{ side: "a", question: a }];
}

/** Returns the keys in which b differs from a.
 * @param {Question} a @param {Question} b */
export const differing = (a, b) =>
  /** @type {(keyof Question)[]} */ (Object.keys(a)).filter((key) => a[key] !== b[key]);

/** Keys as the controls name them.
 * @type {Record<keyof Question, string>} */
export const WORDS = {
  rate: "rate",
  rtt: "base RTT",
  flows: "flows",
  control: "congestion control",
  others: "other flows",
  otherControl: "their control",
  queue: "queue",
  queueKeys: "queue's parameters",
  buffer: "buffer",
  loss: "random loss",
  profile: "hosts' TCP",
  tcpKeys: "TCP's parameters",
  stagger: "starts within",
  ping: "ping",
  seed: "seed",
};

/** Returns what a side has and the other side has not, such as `fq_codel, 1000p`.
 * @param {Question} question @param {Question} other */
export function nameOf(question, other) {
  const keys = differing(question, other);
  const short = new Set(["queue", "control", "buffer", "rate", "rtt"]);
  const words = keys.map((key) => {
    if (short.has(key)) return key === "rtt" ? `RTT ${question[key]}` : String(question[key]);
    if (key === "ping") return question.ping ? "with ping" : "without ping";
    return `${WORDS[key]} ${question[key] === "" ? "usual" : question[key]}`;
  });
  return words.join(", ") || "the same";
}

/** Returns the settings of a link in words, for paper, where there are no controls.
 * @param {Question} question */
export function inWords(question) {
  const { rate, rtt, flows, control, others, otherControl, queue, buffer } = question;
  const more = others > 0 ? ` and ${others} ${otherControl}` : "";
  const usual = new Set(["rate", "rtt", "flows", "control", "others", "otherControl", "queue", "buffer"]);
  const rare = differing(question, USUAL).filter((key) => !usual.has(key)).map((key) => (key === "ping" ? "with a ping" : `${WORDS[key]} ${question[key]}`));
  const word = flows + others === 1 ? "flow" : "flows";
  return [`${rate}, base RTT ${rtt}, ${flows} ${control}${more} ${word}, ${queue} with ${buffer || "its usual buffer"}`, ...rare].join(", ");
}
