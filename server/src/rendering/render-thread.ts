// Manages one thread of the render pool: starts it, sends it tasks, enforces time limits and replaces it.

import { recordedReason } from "@postloft/contract/recorded-reasons.ts";
import { LRUCache } from "lru-cache";
import { Worker } from "node:worker_threads";
import { threadEnvironment } from "../platform/threads/environment.ts";
import type { TemplateContent } from "./compile-content.ts";
import type { ContentLink } from "./link-target.ts";
import type { RenderQueue, ThreadTask } from "./render-queue.ts";
import {
  PROGRESS_SIZE_BYTES,
  PROGRESS_STEP,
  PROGRESS_TASK,
  PROGRESS_WORK,
  BUILDING,
  READING,
  type WorkerResponse,
  type WorkerSettings,
  type WorkerTask,
} from "./render-messages.ts";

/** A message template that the thread has compiled. */
interface HeldContent {
  links: readonly ContentLink[];
}

interface RunningTask {
  task: ThreadTask;
  held: HeldContent | null;
}

/** Reason why a thread ended during a task. */
export type ThreadEnd = "slow reading" | "slow rendering" | "memory" | "crash";

export interface ThreadOptions {
  outputLimitBytes: number;
  /** Wall time of rendering one email. */
  renderTimeoutMs: number;
  /** Wall time of each step of reading a message template: parsing or compiling one part. */
  readTimeoutMs: number;
  /** Whether threads that respond to requests have priority over this one. */
  isBehind: boolean;
  /** Called when all tasks of the last `run` are finished. */
  onIdle(): void;
  /** Called when the thread has ended while running `culprit`; none of these tasks is finished. */
  onEnd(end: ThreadEnd, culprit: ThreadTask, others: ThreadTask[]): void;
}

/** Limits of one message: tasks, and characters of variables, message templates and files. Only the last task may exceed the characters. */
const TASKS_PER_MESSAGE_MAX = 25;
const MESSAGE_MAX_CHARACTERS = 1_000_000;
/** Longest delay until an overdue step is noticed. */
const WATCH_INTERVAL_MS = 20;
/** Limits of compiled message templates kept by a thread: their number, and the characters of their sources. */
const HELD_CONTENTS_MAX = 500;
const HELD_CONTENTS_MAX_CHARACTERS = 8_000_000;
/** JavaScript heap of a thread. Compiled message templates take some tens of MB; the rest is for the current task. */
const HEAP_LIMITS_MB = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32 };

/** A thread and its successors, one at a time, started with the first task. */
export class RenderThread {
  private readonly options: ThreadOptions;
  private readonly progress = new Int32Array(new SharedArrayBuffer(PROGRESS_SIZE_BYTES));
  private worker: Worker | null = null;
  private tasks: RunningTask[] = [];
  private answered = 0;
  private watch: NodeJS.Timeout | null = null;
  /** Message templates the thread has compiled. The thread drops evicted ones in task order. */
  private held = new LRUCache<string, HeldContent>({ max: 1 });
  private forgottenKeys: string[] = [];
  private readonly endings = new Set<Promise<unknown>>();

  constructor(options: ThreadOptions) {
    this.options = options;
  }

  get isIdle(): boolean {
    return this.tasks.length === 0;
  }

  /** Starts the thread ahead of the first task. */
  start(): void {
    if (this.worker !== null) return;
    Atomics.store(this.progress, PROGRESS_TASK, -1);
    this.forgottenKeys = [];
    this.held = new LRUCache({
      max: HELD_CONTENTS_MAX,
      maxSize: HELD_CONTENTS_MAX_CHARACTERS,
      dispose: (_, key, reason) => {
        if (reason === "evict") this.forgottenKeys.push(key);
      },
    });
    const workerData: WorkerSettings = {
      progress: this.progress.buffer,
      outputLimitBytes: this.options.outputLimitBytes,
      isBehind: this.options.isBehind,
    };
    const worker = new Worker(new URL("./render-worker.ts", import.meta.url), {
      workerData,
      env: threadEnvironment(),
      execArgv: [],
      resourceLimits: HEAP_LIMITS_MB,
    });
    worker.on("message", (responses: readonly WorkerResponse[]) => {
      if (this.worker === worker) this.take(responses);
    });
    worker.on("error", (error: NodeJS.ErrnoException) => {
      if (this.worker === worker) this.end(error.code === "ERR_WORKER_OUT_OF_MEMORY" ? "memory" : "crash");
    });
    worker.on("exit", () => {
      if (this.worker === worker) this.end("crash");
    });
    this.worker = worker;
  }

  /** Takes up to `most` tasks from the front of the queue and runs them. Requires an idle thread. */
  run(queue: RenderQueue, most: number): void {
    this.start();
    const messages: WorkerTask[] = [];
    let characters = 0;
    while (messages.length < Math.min(most, TASKS_PER_MESSAGE_MAX) && characters < MESSAGE_MAX_CHARACTERS) {
      const task = queue.shift();
      if (task === undefined) break;
      const prepared = this.prepare(task);
      if (prepared === null) continue;
      characters += lengthOf(prepared.message);
      messages.push(prepared.message);
      this.tasks.push({ task, held: prepared.held });
    }
    if (messages.length === 0) return;
    this.answered = 0;
    this.worker?.postMessage(messages);
    this.startWatch();
  }

  /** Ends the thread and returns its unfinished tasks. */
  async close(): Promise<ThreadTask[]> {
    const unfinished = this.leave();
    await Promise.all(this.endings);
    return unfinished;
  }

  private prepare(task: ThreadTask): { message: WorkerTask; held: HeldContent | null } | null {
    if (task.work.kind === "check") return { message: task.work, held: null };
    const { job, bodyOf } = task.work;
    const { content, variables, tracking = null } = job;
    // With slots a message template compiles to a different result, so it needs a different key.
    const contentKey = tracking === null ? job.contentKey : `${job.contentKey} tracked`;
    let variablesJson: string;
    try {
      variablesJson = JSON.stringify(variables);
    } catch (error) {
      task.finish(
        { kind: "failed", reason: recordedReason("variablesInvalid", { message: String(error) }) },
        [],
      );
      return null;
    }
    const known = this.held.get(contentKey);
    const held = known ?? { links: [] };
    const forgottenKeys = this.forgottenKeys;
    this.forgottenKeys = [];
    if (known === undefined) {
      this.held.set(contentKey, held, { size: sizeOf(content) });
      // Message templates too large to keep are dropped right after the task.
      if (!this.held.has(contentKey)) this.forgottenKeys.push(contentKey);
    }
    const sent = known === undefined ? content : null;
    return {
      message: { kind: "render", contentKey, content: sent, variablesJson, tracking, bodyOf, forgottenKeys },
      held,
    };
  }

  private take(responses: readonly WorkerResponse[]): void {
    for (const response of responses) {
      const running = this.tasks[this.answered];
      this.answered += 1;
      const held = running?.held ?? { links: [] };
      if (response.kind === "rendered" || response.kind === "built")
        held.links = response.links ?? held.links;
      running?.task.finish(response, held.links);
    }
    if (this.answered < this.tasks.length) return;
    this.tasks = [];
    this.stopWatch();
    this.options.onIdle();
  }

  /** Ends the thread when a step exceeds its time limit. */
  private startWatch(): void {
    const { readTimeoutMs, renderTimeoutMs } = this.options;
    let step = Atomics.load(this.progress, PROGRESS_STEP);
    let seenAt = performance.now();
    this.watch = setInterval(() => {
      const now = performance.now();
      const current = Atomics.load(this.progress, PROGRESS_STEP);
      const work = Atomics.load(this.progress, PROGRESS_WORK);
      if (current !== step || work === BUILDING || Atomics.load(this.progress, PROGRESS_TASK) === -1) {
        step = current;
        seenAt = now;
      } else if (now - seenAt >= (work === READING ? readTimeoutMs : renderTimeoutMs)) {
        this.end(work === READING ? "slow reading" : "slow rendering");
      }
    }, WATCH_INTERVAL_MS);
  }

  private stopWatch(): void {
    if (this.watch !== null) clearInterval(this.watch);
    this.watch = null;
  }

  private end(end: ThreadEnd): void {
    const running = Math.max(Atomics.load(this.progress, PROGRESS_TASK) - this.answered, 0);
    const others = this.leave();
    const [culprit] = others.splice(running, 1);
    if (culprit !== undefined) this.options.onEnd(end, culprit, others);
  }

  /** Drops the thread, running or not, and returns its unfinished tasks. */
  private leave(): ThreadTask[] {
    this.stopWatch();
    const unfinished = this.tasks.slice(this.answered).map(({ task }) => task);
    this.tasks = [];
    if (this.worker !== null) {
      const ending = this.worker.terminate().finally(() => this.endings.delete(ending));
      this.endings.add(ending);
    }
    this.worker = null;
    return unfinished;
  }
}

function sizeOf(content: TemplateContent): number {
  return content.subject.length + content.html.length + (content.text?.length ?? content.html.length) + 1;
}

function lengthOf(task: WorkerTask): number {
  if (task.kind === "check") return task.source.length;
  const files = task.bodyOf?.attachments ?? [];
  return (
    task.variablesJson.length +
    (task.content === null ? 0 : sizeOf(task.content)) +
    files.reduce((sum, file) => sum + file.content.length, 0)
  );
}
