// Reads parts of import files for dry runs on a separate thread, because on the serving thread they would delay the requests of other
// projects. Imports read on the serving thread, because copying whole rows from a thread takes as long as reading them.
import { createFairQueue } from "../../platform/background/fair-queue.ts";
import { nextTurn } from "../../platform/background/turns.ts";
import { createTaskThread } from "../../platform/threads/task-thread.ts";
import { createContactReader } from "./read-contact-row.ts";
import { addressesOf, readPart, type AddressPart, type PartTask } from "./read-part.ts";

/** Parts up to this size are read right away, in a millisecond, so that short files need no thread. */
const QUICK_BYTES = 16 * 1024;
/** A part takes 10 ms, unless a row has megabytes. */
const DEADLINE_MS = 20_000;
/** A process runs a few jobs at a time, and each reads one part at a time. */
const WAITING = 1_000;

/** Not the queue of all costly work, because a step holds a transaction open while it waits. */
const queue = createFairQueue({
  atOnce: 1,
  atOncePerOwner: 1,
  waitingPerOwner: WAITING,
  waiting: WAITING,
  rests: false,
});

/** One thread per process, released when idle. */
const thread = createTaskThread<PartTask, AddressPart | null>({
  module: new URL("./address-worker.ts", import.meta.url),
  deadlineMs: DEADLINE_MS,
  waitingPerOwner: WAITING,
  waiting: WAITING,
  queue,
});

/** Reads whole rows, at least one if any is left. Resolves to null if the bytes end before the first row does. */
export async function readAddresses(projectId: string, task: PartTask): Promise<AddressPart | null> {
  if (task.bytes.length > QUICK_BYTES) return thread.run(projectId, task);
  return addressesOf(await readPart(createContactReader, task, nextTurn));
}
