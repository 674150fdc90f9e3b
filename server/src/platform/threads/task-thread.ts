// A thread for work that would block the serving thread: it starts when there is something to do and runs one task at a time, each with a
// deadline and in its turn of all costly work (fair-queue.ts). On the thread: task-worker.ts.
import { Worker } from "node:worker_threads";
import { costlyWork } from "../background/fair-queue.ts";
import { threadEnvironment } from "./environment.ts";

export interface TaskThreadOptions {
  /** A module that calls `answerTasks`. */
  module: URL;
  /** Wall time of one task; the thread's start is not counted. */
  deadlineMs: number;
  /** Tasks of one owner that may wait. */
  waitingPerOwner: number;
  /** Tasks that may wait in all. */
  waiting: number;
}

export interface TaskThread<Task, Result> {
  /**
   * @param task what is large is made when its turn has come: those that wait would keep it, and all be made at once
   * @throws Refusal RATE_LIMIT_EXCEEDED when too many wait; TaskOverLimit; Error when the task failed; whatever making it throws.
   */
  run(owner: string, task: Task | (() => Promise<Task>)): Promise<Result>;
  /** Ends the thread; a task that runs fails. */
  close(): Promise<void>;
}

/** The task took longer than its deadline, or more memory than its thread has. */
export class TaskOverLimit extends Error {}

/** What the thread says: once that it listens, then one answer a task. */
export type TaskMessage<Result> =
  | { is: "ready" }
  | { is: "done"; result: Result }
  | { is: "failed"; reason: string };

const HEAP_LIMITS_MB = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 32 };
/** A thread without work is let go: its memory is worth more than its start. */
const IDLE_MS = 60_000;
/** A thread that cannot be started in this time will not be. */
const START_TIMEOUT_MS = 15_000;

export function createTaskThread<Task, Result>(options: TaskThreadOptions): TaskThread<Task, Result> {
  const { waitingPerOwner, waiting } = options;
  const resource = options.module.href;
  let worker: Worker | null = null;
  let idle: NodeJS.Timeout | null = null;

  async function letGo(): Promise<void> {
    const old = worker;
    worker = null;
    await old?.terminate();
  }

  async function start(): Promise<Worker> {
    const started = new Worker(options.module, {
      env: threadEnvironment(),
      execArgv: [],
      resourceLimits: HEAP_LIMITS_MB,
    });
    started.unref();
    // Whoever waits hears of it; where nobody does, the next task starts another thread.
    started.on("error", () => undefined);
    started.on("exit", () => {
      if (worker === started) worker = null;
    });
    worker = started;
    await nextMessage(started, START_TIMEOUT_MS);
    return started;
  }

  async function nextMessage(from: Worker, timeoutMs: number): Promise<TaskMessage<Result>> {
    const { promise, resolve, reject } = Promise.withResolvers<TaskMessage<Result>>();
    const timer = setTimeout(
      () => reject(new TaskOverLimit(`It took longer than ${timeoutMs} ms.`)),
      timeoutMs,
    );
    const fail = (error: NodeJS.ErrnoException) =>
      reject(
        error.code === "ERR_WORKER_OUT_OF_MEMORY" ? new TaskOverLimit("It took too much memory.") : error,
      );
    const end = () => reject(new Error("The thread ended."));
    from.once("message", resolve).once("error", fail).once("exit", end);
    try {
      return await promise;
    } catch (error) {
      await letGo();
      throw error;
    } finally {
      clearTimeout(timer);
      from.off("message", resolve).off("error", fail).off("exit", end);
    }
  }

  return {
    run: (owner, task) =>
      costlyWork.run({ owner, resource, waitingPerOwner, waiting }, async () => {
        const made = typeof task === "function" ? await (task as () => Promise<Task>)() : task;
        if (idle !== null) clearTimeout(idle);
        const thread = worker ?? (await start());
        const answer = nextMessage(thread, options.deadlineMs);
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is a window's; a thread has no origin.
        thread.postMessage(made);
        const message = await answer;
        idle = setTimeout(() => void letGo(), IDLE_MS).unref();
        if (message.is === "done") return message.result;
        throw new Error(message.is === "failed" ? message.reason : "The thread spoke out of turn.");
      }),
    async close() {
      if (idle !== null) clearTimeout(idle);
      await letGo();
    },
  };
}
