// @ts-check
// The series of a picture as one table.

/** Returns the names and values of all series of a picture; each name has its unit.
 * @param {any} picture */
export function columnsOf({ links, flows, column_s: width }) {
  const columns = /** @type {[string, (number | null)[]][]} */ ([
    ["time_s", links[0].mean_packets.map((/** @type {number} */ _, /** @type {number} */ i) => i * width)],
  ]);
  for (const one of [...links, ...flows]) {
    for (const [key, values] of Object.entries(one)) {
      if (Array.isArray(values)) columns.push([`${one.name}.${key}`, values]);
    }
  }
  return columns;
}

/** Returns all series of a picture as text.
 * @param {any} picture */
export function csvOfRuns(picture) {
  const columns = columnsOf(picture);
  const quoted = columns.map(([name]) => (/^[\w.]+$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`));
  const rows = columns[0][1].map((_, i) => columns.map(([, values]) => values[i] ?? "").join(","));
  return `${[quoted.join(","), ...rows].join("\n")}\n`;
}
