// Contains the thread's side of task-thread.ts, which a module on the thread calls once.
import { parentPort } from "node:worker_threads";
import type { TaskMessage } from "./task-thread.ts";
import { lowerPriority } from "./priority.ts";

/** Runs one task after the other. `answer` must not wait, because nothing else happens on this thread. */
export function runTasks<Task, Result>(respond: (task: Task) => Result | Promise<Result>): void {
  lowerPriority();
  const send = (message: TaskMessage<Result>) => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is a window's; a thread has no origin.
    parentPort?.postMessage(message);
  };
  async function runOne(task: Task): Promise<void> {
    try {
      send({ is: "done", result: await respond(task) });
    } catch (error) {
      send({ is: "failed", reason: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
  }
  parentPort?.on("message", (task: Task) => void runOne(task));
  send({ is: "ready" });
}
