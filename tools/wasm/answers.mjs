// Answers questions with the WebAssembly engine under node: `node answers.mjs FOLDER < questions > answers`.
// Questions are a list of {action, body}; an answer has its status, the SHA-256 of its text, and its seconds of processor
// time, which other programs of the machine hardly change.

import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folder = process.argv[2];
// node takes a file for a module by its ending.
const copies = mkdtempSync(join(tmpdir(), "goodqueue-wasm-"));
const copy = join(copies, "goodqueue_wasm.mjs");
writeFileSync(copy, readFileSync(join(folder, "goodqueue_wasm.js")));
const { default: start, LabJob } = await import(copy);
rmSync(copies, { recursive: true });
await start({ module_or_path: readFileSync(join(folder, "goodqueue_wasm_bg.wasm")) });

const answers = JSON.parse(readFileSync(0, "utf-8")).map(({ action, body }) => {
  const started = process.cpuUsage();
  const job = new LabJob(action, JSON.stringify(body));
  while (job.advance() !== undefined);
  const { status } = job;
  const text = job.answer();
  const { user, system } = process.cpuUsage(started);
  const seconds = (user + system) / 1e6;
  return { status, sha256: createHash("sha256").update(text).digest("hex"), seconds };
});
process.stdout.write(JSON.stringify(answers));
