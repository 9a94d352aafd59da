// @ts-check
// The state of the page: one or two questions, a file, a story. All of it lives in the address.

/** A link and its traffic, as texts with units.
 * @typedef {{rate: string, rtt: string, flows: number, control: string, others: number, otherControl: string,
 *   queue: string, queueKeys: string, buffer: string, loss: string, profile: string, tcpKeys: string,
 *   stagger: string, ping: boolean, seed: number}} Question */

/** `file` is an opened scenario, `over` the values of controls that replace the file's. `watch` is the time in
 * seconds from which packets are shown, or null.
 * @typedef {{a: Question, b: Question | null, file: string, over: Record<string, string>, story: string,
 *   watch: number | null}} State */

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

/** Links to begin with.
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
export const firstState = (hash) => (hash.length > 1 ? fromHash(hash) : { ...fromHash(""), a: { ...USUAL, ...PRESETS[0].a } });

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
  const a = overlaid(USUAL, given, "");
  const watch = Number(given.get("watch") ?? Number.NaN);
  return {
    a,
    b: given.has("versus") ? overlaid(a, given, "b.") : null,
    file: given.get("file") ?? "",
    over: Object.fromEntries(OVER.flatMap((name) => (given.has(`set.${name}`) ? [[name, String(given.get(`set.${name}`))]] : []))),
    story: (given.get("story") ?? "").slice(0, 60),
    watch: Number.isFinite(watch) && watch >= 0 ? watch : null,
  };
}

/** Returns a question with the keys that an address gives.
 * @param {Question} base
 * @param {URLSearchParams} given @param {string} prefix @returns {Question} */
function overlaid(base, given, prefix) {
  const question = /** @type {any} */ ({ ...base });
  for (const [key, usual] of Object.entries(USUAL)) {
    const text = given.get(prefix + key);
    if (text === null) continue;
    if (typeof usual === "number") question[key] = whole(text, usual, key === "flows" ? 1 : 0);
    else if (typeof usual === "boolean") question[key] = text === "yes";
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

/** @param {string | number} text @param {number} usual @param {number} least @returns {number} */
export function whole(text, usual, least) {
  const number = Math.round(Number(text));
  return Number.isFinite(number) ? Math.min(Math.max(number, least), 5000) : usual;
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
