// Parses messages received over SMTP: cheap ones right away, costly ones on a separate thread.
import { createTaskThread } from "../platform/threads/task-thread.ts";
import { parseMessage, type Parsed } from "./parse-message.ts";
import { BEGINNING_BYTES } from "./read-incoming.ts";

/** Each line costs the parser 10 µs, however short it is. Reports need far fewer lines. */
const MAX_LINES = 10_000;
/** Messages up to this many lines are parsed right away, in 10 ms. A report that includes a usual email has no more. */
const CHEAP_LINES = 1_000;
/** A list of recipients costs by its length, on one line or many. */
const CHEAP_HEADER_BYTES = 16 * 1024;
/** The costliest message we could construct takes a tenth of a second on an idle machine. */
const DEADLINE_MS = 2_000;
/** One request at a time is made; an abandoned one may be queued before it. */
const WAITING = 2;
const OWNER = "messages over SMTP";

/** One thread per process, released when idle. */
const thread = createTaskThread<Uint8Array, Parsed>({
  module: new URL("./parse-worker.ts", import.meta.url),
  deadlineMs: DEADLINE_MS,
  waitingPerOwner: WAITING,
  waiting: WAITING,
});

/** Returns whether parsing the beginning of a message would block the serving thread too long. */
export function isCostly(message: Buffer): boolean {
  const raw = message.subarray(0, BEGINNING_BYTES);
  const lines = endOfLines(raw, CHEAP_LINES);
  if (lines !== null && lines < raw.length) return true;
  return (
    raw.length > CHEAP_HEADER_BYTES &&
    !/\r?\n\r?\n/.test(raw.subarray(0, CHEAP_HEADER_BYTES).toString("latin1"))
  );
}

/**
 * Parses the beginning of a message, on the thread if it is costly.
 * @throws TaskOverLimit if it takes too long; AppError RATE_LIMIT_EXCEEDED if too many wait for the thread
 */
export async function parseApart(raw: Buffer): Promise<Parsed> {
  const beginning = raw.subarray(0, BEGINNING_BYTES);
  const first = beginning.subarray(0, endOfLines(beginning, MAX_LINES) ?? beginning.length);
  return isCostly(first) ? thread.run(OWNER, first) : parseMessage(first);
}

/** Returns the offset after that many lines, or null if there are fewer. */
function endOfLines(raw: Buffer, most: number): number | null {
  let end = 0;
  for (let lines = 0; lines < most; lines++) {
    const at = raw.indexOf("\n", end);
    if (at < 0) return null;
    end = at + 1;
  }
  return end;
}
