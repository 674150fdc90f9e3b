// Records the columns that each statement of a test run returned, by the calling file, line and column.
import { AsyncLocalStorage } from "node:async_hooks";
import { appendFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  sql,
} from "kysely";
import { Client } from "pg";
import { RECORD_FOLDER, type RunStatement } from "./statement-record.ts";

const ROOT = path.join(import.meta.dirname, "../..");
const FILE = path.join(RECORD_FOLDER, `${process.pid}.jsonl`);
const PATCHED = Symbol.for("postloft: statements are recorded");

type Method = (this: object, ...args: unknown[]) => unknown;
type Host = Record<string, Method>;

interface Result {
  fields?: Array<{ name: string; dataTypeID: number }>;
  rows?: Array<Record<string, unknown>>;
}

/** A running statement: the place of its call and a function that returns its text, called only when a record is written. */
interface Run {
  at: string;
  textOf: () => string;
}

const runs = new AsyncLocalStorage<Run>();
/** Whether a recorded method is currently being called. */
const within = { call: false };
const known = new Map<string, string>();
const written = new Set<string>();
/** Files with row types that the program relies on. */
const READ = /^server\/src\/(?!testing\/)(?!.*\.test\.ts:)/;

/** Returns the place of the caller of `called` in the original source. */
function callerOf(called: Method): string {
  const { prepareStackTrace, stackTraceLimit } = Error;
  const holder: { stack?: NodeJS.CallSite[] } = {};
  Error.stackTraceLimit = 1;
  Error.prepareStackTrace = (_error, sites) => sites;
  Error.captureStackTrace(holder, called);
  const [site] = holder.stack ?? [];
  Error.prepareStackTrace = prepareStackTrace;
  Error.stackTraceLimit = stackTraceLimit;
  if (site === undefined) return "";
  const raw = `${site.getFileName()}:${site.getLineNumber()}:${site.getColumnNumber()}`;
  const mapped = known.get(raw);
  if (mapped !== undefined) return mapped;
  // Vitest's function maps places to the original source.
  const line = String(prepareStackTrace?.(new Error(), [site]) ?? site);
  const [, file = "", at = ""] = /((?:file:\/\/)?\/[^()\s]+?)(:\d+:\d+)\)?$/.exec(line.trim()) ?? [];
  const full = file.startsWith("file:") ? fileURLToPath(file) : file;
  const found = `${path.relative(ROOT, full).replaceAll(path.sep, "/")}${at}`;
  known.set(raw, found);
  return found;
}

function note({ at, textOf }: Run, text: unknown, { fields, rows = [] }: Result): void {
  if (!READ.test(at) || fields === undefined) return;
  const nulls = fields.filter(({ name }) => rows.some((row) => row[name] === null)).map(({ name }) => name);
  const said: RunStatement = { at, columns: fields.map(({ name, dataTypeID }) => [name, dataTypeID]), nulls };
  const line = JSON.stringify(said);
  // Setup queries of a new connection run while a statement waits for it, so skip them.
  if (written.has(line) || text !== textOf()) return;
  written.add(line);
  appendFileSync(FILE, `${line}\n`);
}

function patchBuilders(): void {
  const db = new Kysely<{ t: { a: string } }>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (of) => new PostgresIntrospector(of),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
  const builders = [
    sql`select 1`,
    db.selectFrom("t"),
    db.insertInto("t"),
    db.updateTable("t"),
    db.deleteFrom("t"),
  ];
  for (const builder of builders) {
    const host = Object.getPrototypeOf(builder) as Host;
    for (const name of ["execute", "executeTakeFirst", "executeTakeFirstOrThrow"]) {
      const original = host[name];
      if (original === undefined) continue;
      const recorded: Method = function (...args) {
        // Recorded methods may call each other. The outermost call is the one in the source.
        if (within.call) return original.apply(this, args);
        within.call = true;
        try {
          const { compile } = this as { compile: (of: unknown) => { sql: string } };
          const textOf = () => compile.call(this, args[0]).sql;
          return runs.run({ at: callerOf(recorded), textOf }, () => original.apply(this, args));
        } finally {
          within.call = false;
        }
      };
      host[name] = recorded;
    }
  }
}

function patchClient(): void {
  const host = Client.prototype as unknown as Host;
  const original = host["query"];
  if (original === undefined) throw new Error("pg has no query to listen to.");
  host["query"] = function (...args) {
    const response = original.apply(this, args);
    const run = runs.getStore();
    if (run === undefined || !(response instanceof Promise)) return response;
    return response.then((result: Result) => {
      note(run, (args[0] as { text?: unknown }).text, result);
      return result;
    });
  };
}

const worker = globalThis as { [PATCHED]?: true };
if (worker[PATCHED] === undefined) {
  worker[PATCHED] = true;
  patchBuilders();
  patchClient();
}
