// Vitest setup: records each distinct statement of a test run on a cluster, with the reason if the cluster refused it.
import { appendFileSync, mkdirSync } from "node:fs";
import path from "node:path";
import { Client } from "pg";
import { REJECTIONS, RESULTS_FOLDER, type StatementResult } from "./statement-results.ts";

const FILE = path.join(RESULTS_FOLDER, `${process.pid}.jsonl`);
const PATCHED = Symbol.for("postloft: results are recorded");
const written = new Set<string>();

function note(text: string, reason: string | null): void {
  const result: StatementResult = { text: text.replaceAll(/\s+/g, " ").trim(), reason };
  const line = JSON.stringify(result);
  if (written.has(line)) return;
  written.add(line);
  appendFileSync(FILE, `${line}\n`);
}

function patchClient(): void {
  type Method = (this: object, ...args: unknown[]) => unknown;
  const host = Client.prototype as unknown as { query: Method };
  const original = host.query;
  host.query = function (...args) {
    const response = original.apply(this, args);
    const text = typeof args[0] === "string" ? args[0] : (args[0] as { text?: unknown }).text;
    if (!(response instanceof Promise) || typeof text !== "string") return response;
    return response.then(
      (result: unknown) => {
        note(text, null);
        return result;
      },
      (error: { code?: string; message?: string }) => {
        if (REJECTIONS.has(error.code ?? "")) note(text, error.message ?? "");
        throw error;
      },
    );
  };
}

const worker = globalThis as { [PATCHED]?: true };
if (process.env["SHARDED_DATABASE_URL"] !== undefined && worker[PATCHED] === undefined) {
  worker[PATCHED] = true;
  mkdirSync(RESULTS_FOLDER, { recursive: true });
  patchClient();
}
