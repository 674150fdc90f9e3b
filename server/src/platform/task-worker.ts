// The other side of task-thread.ts: a module that runs on the thread calls this once.
// Before it: a task. After it: its result, or why there is none.
import { platform, setPriority } from "node:os";
import { parentPort } from "node:worker_threads";
import type { TaskMessage } from "./task-thread.ts";

/** Whoever answers requests goes first when processors are short. */
const NICENESS = 10;

/** Does one task after the other. `answer` must not wait: nothing else happens on this thread. */
export function answerTasks<Task, Result>(answer: (task: Task) => Result | Promise<Result>): void {
  // Linux takes it for this thread alone, others for the whole process.
  if (platform() === "linux") setPriority(NICENESS);
  const send = (message: TaskMessage<Result>) => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is a window's; a thread has no origin.
    parentPort?.postMessage(message);
  };
  async function answerOne(task: Task): Promise<void> {
    try {
      send({ is: "done", result: await answer(task) });
    } catch (error) {
      send({ is: "failed", reason: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
  }
  parentPort?.on("message", (task: Task) => void answerOne(task));
  send({ is: "ready" });
}
