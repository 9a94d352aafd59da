// @ts-check
// A report of goodqueue in the page: an HTML page of `--report` and `--out`, or a document of `--json`.
//
// A report is a file of unknown origin. Only elements and attributes that the lists below name are copied from it,
// so that it can run nothing, load nothing and style nothing.

import { html, useEffect, useRef } from "../vendor/htm-preact-3.1.1.js";

/** Largest report that is read, in bytes. */
export const MOST_REPORT = 32 << 20;

/** Elements that are copied, each with its name in the page, which has a heading of the first level already.
 * @type {Record<string, string>} */
const KEPT = {
  H1: "h2", H2: "h3", H3: "h4", H4: "h5",
  ...Object.fromEntries(
    "p div section span b strong em i small br code pre ul ol li table caption thead tbody tr th td figure figcaption img a details summary"
      .split(" ").map((name) => [name.toUpperCase(), name]),
  ),
};

/** Attributes that are copied, each with the values that it may have. */
const ATTRIBUTES = {
  class: /^[\w -]+$/,
  colspan: /^\d{1,3}$/,
  rowspan: /^\d{1,3}$/,
  alt: /^/,
  "aria-label": /^/,
  href: /^#/,
  src: /^data:image\/png;base64,[A-Za-z0-9+/=]+$/,
};

/** Returns true if a file is a report by its name, and not a scenario.
 * @param {string} name */
export const isReport = (name) => /\.(html?|json)$/i.test(name);

/** Returns the contents of a report, or null if the file is none.
 * @param {{name: string, text: string}} file @returns {DocumentFragment | null} */
export function contentsOf({ name, text }) {
  const made = document.createDocumentFragment();
  if (/\.json$/i.test(name)) {
    try {
      describe(JSON.parse(text), name, 0, made);
    } catch {
      return null;
    }
    return made;
  }
  // The style above the contents is not parsed, because the page's policy would report it.
  const main = new DOMParser().parseFromString(text.slice(Math.max(text.indexOf("<main"), 0)), "text/html").querySelector("main");
  if (!main) return null;
  copy(main, made);
  return made;
}

/** Copies what is allowed of an element's contents.
 * @param {Node} from @param {Node} into */
function copy(from, into) {
  for (const node of from.childNodes) {
    if (node.nodeType === Node.TEXT_NODE) into.appendChild(document.createTextNode(node.textContent ?? ""));
    if (!(node instanceof Element) || !(node.tagName in KEPT)) continue;
    const made = document.createElement(KEPT[node.tagName]);
    for (const [name, allowed] of Object.entries(ATTRIBUTES)) {
      const value = node.getAttribute(name);
      if (value !== null && allowed.test(value)) made.setAttribute(name, value);
    }
    // The names of places in a report are not those of the page.
    if (node.id) made.dataset.place = node.id;
    if (made.className === "wide" || made.tagName === "PRE") made.tabIndex = 0;
    copy(node, made);
    into.appendChild(made);
  }
}

/** Most rows of a table, and levels of tables in tables. */
const MOST_ROWS = 500;
const DEEPEST = 4;

/** @param {unknown} value @returns {value is Record<string, unknown>} */
const isTable = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** @param {unknown} value */
const words = (value) => (typeof value === "number" ? String(Number(value.toPrecision(6))) : value === null ? "-" : String(value));

/** @param {string} name */
const spoken = (name) => name.replaceAll("_", " ");

/** @param {Node} into @param {string} name @param {string} [text] */
function add(into, name, text = "") {
  const made = document.createElement(name);
  made.textContent = text;
  into.appendChild(made);
  return made;
}

/** Adds a value of a JSON document under its name: figures as a table, lists of objects as a table with a row each.
 * @param {unknown} value @param {string} name @param {number} depth @param {Node} into */
function describe(value, name, depth, into) {
  if (depth > DEEPEST) return;
  const rows = Array.isArray(value) ? value.filter(isTable) : [];
  if (rows.length > 0) return listOf(rows, name, depth, into);
  if (!isTable(value)) return;
  add(into, `h${depth + 2}`, spoken(name));
  const entries = Object.entries(value);
  const plain = entries.filter(([key, one]) => key !== "lab" && !isTable(one) && !(Array.isArray(one) && one.some(isTable)));
  if (typeof value.lab === "string") playOf(value.lab, add(into, "p"), name);
  if (plain.length > 0) {
    const table = add(boxOf(into), "table");
    for (const [key, one] of plain) {
      const row = add(table, "tr");
      add(row, "th", spoken(key));
      add(row, "td", Array.isArray(one) ? one.slice(0, MOST_ROWS).map(words).join(", ") : words(one));
    }
  }
  for (const [key, one] of entries) if (typeof one === "object") describe(one, key, depth + 1, into);
}

/** @param {Node} into */
function boxOf(into) {
  const box = add(into, "div");
  box.className = "wide";
  box.tabIndex = 0;
  return box;
}

/** @param {Record<string, unknown>[]} rows @param {string} name @param {number} depth @param {Node} into */
function listOf(rows, name, depth, into) {
  add(into, `h${depth + 2}`, spoken(name));
  const keys = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const table = add(boxOf(into), "table");
  const head = add(table, "tr");
  for (const key of keys) add(head, "th", spoken(key));
  for (const one of rows.slice(0, MOST_ROWS)) {
    const row = add(table, "tr");
    for (const key of keys) {
      const value = one[key];
      const cell = add(row, "td", key === "lab" ? "" : typeof value === "object" && value !== null ? JSON.stringify(value) : words(value ?? null));
      if (key === "lab" && typeof value === "string") playOf(value, cell, name);
    }
  }
  if (rows.length > MOST_ROWS) add(into, "p", `The first ${MOST_ROWS} of ${rows.length} rows.`);
}

/** @param {string} settings @param {Node} into @param {string} name */
function playOf(settings, into, name) {
  const link = add(into, "a", "lab");
  link.className = "play";
  link.setAttribute("href", `#${settings.replace(/^#/, "")}`);
  link.setAttribute("aria-label", `Open in the lab: ${name}`);
}

/** Shows a report; `play` gets the settings of a cell whose link was followed.
 * @param {{name: string, contents: DocumentFragment, play: (settings: string) => void, close: () => void}} props */
export function Report({ name, contents, play, close }) {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    place.current?.replaceChildren(contents.cloneNode(true));
    scrollTo(0, 0);
  }, [contents]);
  const follow = (/** @type {MouseEvent} */ event) => {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (!link) return;
    event.preventDefault();
    const target = link.getAttribute("href") ?? "";
    if (link.classList.contains("play")) play(target);
    else place.current?.querySelector(`[data-place="${CSS.escape(target.slice(1))}"]`)?.scrollIntoView();
  };
  return html`<main class="report" aria-label=${`The report ${name}`}>
    <p class="buttons"><button type="button" onClick=${close}>Close the report</button>
      <span class="soft small">${name}. A link named lab opens the settings of its cell.</span></p>
    <div ref=${place} onClick=${follow}></div></main>`;
}
