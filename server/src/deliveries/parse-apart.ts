// Takes messages apart that came over SMTP: what costs little at once, what costs much on a thread beside the one that serves.
import { createTaskThread } from "../platform/threads/task-thread.ts";
import { parseMessage, type Parsed } from "./parse-message.ts";

/** Each line costs the parser a hundredth of a millisecond, however short it is; what a report says stands in far fewer. */
const MAX_LINES = 10_000;
/** So much is taken apart at once: 10 ms. A report that shows the whole of a usual mail has no more. */
const CHEAP_LINES = 1_000;
/** A list of recipients costs by its length, on one line as on many. */
const CHEAP_HEADER_BYTES = 16 * 1024;
/** The dearest message that came to our mind takes a tenth of a second where nothing else runs. */
const DEADLINE_MS = 2_000;
/** One at a time is asked for; one that nobody waits for any more may stand before it. */
const WAITING = 2;
const OWNER = "messages over SMTP";

/** One for the process: it is let go when nothing comes. */
const thread = createTaskThread<Uint8Array, Parsed>({
  module: new URL("./parse-worker.ts", import.meta.url),
  deadlineMs: DEADLINE_MS,
  waitingPerOwner: WAITING,
  waiting: WAITING,
});

/** Whether taking it apart would keep the serving thread. */
export function isCostly(raw: Buffer): boolean {
  const lines = endOfLines(raw, CHEAP_LINES);
  if (lines !== null && lines < raw.length) return true;
  return (
    raw.length > CHEAP_HEADER_BYTES &&
    !/\r?\n\r?\n/.test(raw.subarray(0, CHEAP_HEADER_BYTES).toString("latin1"))
  );
}

/** @throws TaskOverLimit when it took too long; Refusal RATE_LIMIT_EXCEEDED when too many wait for the thread */
export async function parseApart(raw: Buffer): Promise<Parsed> {
  const first = raw.subarray(0, endOfLines(raw, MAX_LINES) ?? raw.length);
  return isCostly(raw) ? thread.run(OWNER, first) : parseMessage(first);
}

/** Behind so many lines; null: there are fewer. */
function endOfLines(raw: Buffer, most: number): number | null {
  let end = 0;
  for (let lines = 0; lines < most; lines++) {
    const at = raw.indexOf("\n", end);
    if (at < 0) return null;
    end = at + 1;
  }
  return end;
}
