// @ts-check
// Small parts of the page: buttons that copy and save.

import { html, useRef, useState } from "../vendor/htm-preact-3.1.1.js";

/** Saves a file.
 * @param {string} name @param {string | Blob} content @param {string} [type] */
export function save(name, content, type = "text/plain") {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** A small button that saves a chart.
 * @param {{kind: string, what: string, act: () => void}} props */
export const SaveButton = ({ kind, what, act }) =>
  html`<button type="button" class="small" onClick=${act} aria-label=${`Save ${what} as ${kind}`}>${kind}</button>`;

/** Copies a text. Browsers offer the clipboard only to pages of https and of this computer; elsewhere the text is copied
 * from a field.
 * @param {string} text */
async function copyText(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const before = document.activeElement;
  const field = document.createElement("textarea");
  field.value = text;
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
  if (before instanceof HTMLElement) before.focus();
}

/** A button that copies a text.
 * @param {{text: string | (() => string), name: string}} props */
export function CopyButton({ text, name }) {
  const [done, setDone] = useState(false);
  const timer = useRef(0);
  const copy = async () => {
    await copyText(typeof text === "string" ? text : text());
    setDone(true);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setDone(false), 1500);
  };
  return html`<button type="button" onClick=${copy}>${done ? "Copied" : name}</button>`;
}

/** A line to copy.
 * @param {{text: string}} props */
export const CopyLine = ({ text }) =>
  html`<div class="copy"><code>${text}</code><${CopyButton} text=${text} name="Copy" /></div>`;
