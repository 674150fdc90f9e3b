// Runs work that would block the serving thread on a separate thread, one task at a time. Each task has a deadline and waits for its turn
// in a queue, by default that of all costly work (fair-queue.ts). The code on the thread is in task-worker.ts.
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { costlyWork, type FairQueue } from "../background/fair-queue.ts";
import { threadEnvironment } from "./environment.ts";

export interface TaskThreadOptions {
  /** A module that calls `runTasks`. */
  module: URL;
  /** CPU time of one task, without the thread's start. */
  deadlineMs: number;
  /** How many tasks of one owner may wait. */
  waitingPerOwner: number;
  /** How many tasks may wait in total. */
  waiting: number;
  /** Default: the queue of all costly work. */
  queue?: FairQueue;
}

export interface TaskThread<Task, Result> {
  /**
   * Runs a task in its turn.
   * @param task the task, or a function that creates a large one when it is its turn, so that waiting tasks take no memory
   * @throws AppError RATE_LIMIT_EXCEEDED if too many wait, TaskOverLimit, Error if the task failed, and any error of its creation
   */
  run(owner: string, task: Task | (() => Promise<Task>)): Promise<Result>;
  /** Ends the thread. A running task fails. */
  close(): Promise<void>;
}

/** The task exceeded its deadline or the memory of its thread. */
export class TaskOverLimit extends Error {}

/** The messages of the thread, which are "ready" once and then one result per task. */
export type TaskMessage<Result> =
  | { is: "ready" }
  | { is: "done"; result: Result }
  | { is: "failed"; reason: string };

const HEAP_LIMITS_MB = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 32 };
/** An idle thread is ended, because its memory is worth more than the time to start it. */
const IDLE_MS = 60_000;
/** A thread that takes longer to start never will. */
const START_TIMEOUT_MS = 60_000;
/** A task that waits or runs native code may not report its CPU time. It ends after this many deadlines of wall time. */
const WALL_DEADLINES = 5;
const SHORTEST_CHECK_MS = 10;

// oxlint-disable-next-line max-lines-per-function -- the inner functions share its state
export function createTaskThread<Task, Result>(options: TaskThreadOptions): TaskThread<Task, Result> {
  const { waitingPerOwner, waiting, queue = costlyWork } = options;
  const resource = options.module.href;
  let worker: Worker | null = null;
  let idle: NodeJS.Timeout | null = null;

  async function endWorker(): Promise<void> {
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
    // Callers that wait get the error. Otherwise the next task starts another thread.
    started.on("error", () => undefined);
    started.on("exit", () => {
      if (worker === started) worker = null;
    });
    worker = started;
    await nextMessage(started, START_TIMEOUT_MS);
    return started;
  }

  async function nextMessage(from: Worker, wallMs: number, cpu?: CpuDeadline): Promise<TaskMessage<Result>> {
    const { promise, resolve, reject } = Promise.withResolvers<TaskMessage<Result>>();
    const timer = setTimeout(() => reject(new TaskOverLimit(`It took longer than ${wallMs} ms.`)), wallMs);
    const fail = (error: NodeJS.ErrnoException) =>
      reject(
        error.code === "ERR_WORKER_OUT_OF_MEMORY" ? new TaskOverLimit("It took too much memory.") : error,
      );
    const end = () => reject(new Error("The thread ended."));
    from.once("message", resolve).once("error", fail).once("exit", end);
    const watched = cpu === undefined ? null : watchCpuTime(from, cpu, reject);
    try {
      return await promise;
    } catch (error) {
      await endWorker();
      throw error;
    } finally {
      clearTimeout(timer);
      watched?.abort();
      from.off("message", resolve).off("error", fail).off("exit", end);
    }
  }

  return {
    run: (owner, task) =>
      queue.run({ owner, resource, waitingPerOwner, waiting }, async () => {
        const made = typeof task === "function" ? await (task as () => Promise<Task>)() : task;
        if (idle !== null) clearTimeout(idle);
        const thread = worker ?? (await start());
        const cpu = { ms: options.deadlineMs, before: await thread.cpuUsage() };
        const response = nextMessage(thread, options.deadlineMs * WALL_DEADLINES, cpu);
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is a window's; a thread has no origin.
        thread.postMessage(made);
        const message = await response;
        idle = setTimeout(() => void endWorker(), IDLE_MS).unref();
        if (message.is === "done") return message.result;
        throw new Error(message.is === "failed" ? message.reason : "Unexpected message from the thread.");
      }),
    async close() {
      if (idle !== null) clearTimeout(idle);
      await endWorker();
    },
  };
}

interface CpuDeadline {
  ms: number;
  /** The CPU time of the thread before the task. */
  before: NodeJS.CpuUsage;
}

/** Reports when the thread has used its CPU time. Wall time would end tasks only because the machine is busy. */
function watchCpuTime(
  thread: Worker,
  { ms, before }: CpuDeadline,
  end: (error: TaskOverLimit) => void,
): AbortController {
  const watched = new AbortController();
  const watch = async () => {
    let leftMs = ms;
    while (leftMs > 0) {
      await sleep(Math.max(leftMs, SHORTEST_CHECK_MS), undefined, { signal: watched.signal, ref: false });
      const used = await thread.cpuUsage(before);
      leftMs = ms - (used.user + used.system) / 1_000;
    }
    end(new TaskOverLimit(`It took longer than ${ms} ms.`));
  };
  // Rejects when the task ended, or when the thread ended, which `nextMessage` reports.
  watch().catch(() => undefined);
  return watched;
}
