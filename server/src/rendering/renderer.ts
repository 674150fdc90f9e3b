// Renders emails and checks templates on separate threads, so that a hostile template affects only emails of its project.

import { LRUCache } from "lru-cache";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { recordedReason } from "@postloft/contract/recorded-reasons.ts";
import type { MessageBody } from "../message/body.ts";
import { completeParts, type TemplateContent } from "./compile-content.ts";
import type { ContentField } from "./compile-part.ts";
import type { ContentLink } from "./link-target.ts";
import { sizeText, type BodyExtras, type WorkerResponse } from "./render-messages.ts";
import { RenderQueue, type RenderJob, type ThreadTask } from "./render-queue.ts";
import { RenderThread, type ThreadEnd } from "./render-thread.ts";
import type { TemplateProblem } from "./source-position.ts";

export type { TemplateContent } from "./compile-content.ts";
export type { ContentLink, MailTracking } from "./link-target.ts";
export type { RenderJob } from "./render-queue.ts";

export interface Failed {
  ok: false;
  reason: string;
}

export type RenderResult = { ok: true; subject: string; html: string; text: string } | Failed;

/** An outgoing email. Its rendered parts are built directly into a body. */
export type BodyJob = RenderJob & BodyExtras;

export type BodyResult =
  | {
      ok: true;
      subject: string;
      body: MessageBody;
      /** All links of a tracked message template, including those this email leaves out, because clicks are looked up by number. */
      links: readonly ContentLink[];
    }
  | Failed;

export interface ContentProblem extends TemplateProblem {
  field: ContentField;
}

export interface RendererOptions {
  threads: number;
  /** Wall time of rendering one email. */
  renderTimeoutMs?: number;
  /** Wall time of each step of reading a message template (parsing or compiling one part), which happens once. */
  readTimeoutMs?: number;
  /** Maximum UTF-8 size of each of the three parts. */
  outputLimitBytes?: number;
  /** How often a task may end a thread before the task fails. */
  triesMax?: number;
  /** Starts the threads immediately instead of with the first task. */
  startsAhead?: boolean;
  /** Gives threads that respond to requests priority over these when CPU is scarce. */
  isBehind?: boolean;
}

export interface Renderer {
  /** Returns the problems of all parts of a message template; empty if the template is usable. Never rejects. */
  check(content: TemplateContent): Promise<ContentProblem[]>;
  /** Returns one result per job, in job order. Jobs fail independently. Never rejects. */
  render(jobs: readonly RenderJob[]): Promise<RenderResult[]>;
  /** Renders outgoing emails and also builds their bodies on the threads. */
  renderBodies(jobs: readonly BodyJob[]): Promise<BodyResult[]>;
  /** Ends the threads; waiting tasks fail. */
  close(): Promise<void>;
}

const RENDER_TIMEOUT_MS = 250;
/**
 * The largest allowed template takes up to 200 ms. The limit leaves room for a busy machine because a whole campaign depends on this step.
 */
const READ_TIMEOUT_MS = 1_000;
/** A busy machine may pause a thread for longer than the render limit, so a task gets a second try. */
const TRIES_MAX = 2;
/** After ending this many threads in a row a message template is rejected for a while, because others need the threads. */
const ENDED_THREADS_IN_A_ROW_MAX = 3;
const REJECTION_MS = 60_000;
const SUSPECTS_MAX = 1_000;

const FIELDS: readonly ContentField[] = ["subject", "html", "text"];

/** Creates the pool and, unless configured otherwise, starts its threads. */
export function createRenderer(options: RendererOptions): Renderer {
  const outputLimitBytes = options.outputLimitBytes ?? LIMITS.renderedBytes.value;
  const pool = new RenderPool({
    threads: options.threads,
    renderTimeoutMs: options.renderTimeoutMs ?? RENDER_TIMEOUT_MS,
    readTimeoutMs: options.readTimeoutMs ?? READ_TIMEOUT_MS,
    outputLimitBytes,
    triesMax: options.triesMax ?? TRIES_MAX,
    startsAhead: options.startsAhead ?? true,
    isBehind: options.isBehind ?? false,
  });

  const checkField = async (field: ContentField, source: string | null): Promise<ContentProblem[]> => {
    if (source === null) return [];
    if (source.length > outputLimitBytes)
      return [wholeField(field, `The ${field} is larger than ${sizeText(outputLimitBytes)}.`)];
    if (!source.includes("{{")) return [];
    const { answer } = await pool.add({ kind: "check", source });
    if (answer.kind === "checked") return answer.problems.map((problem) => ({ field, ...problem }));
    return [wholeField(field, failureOf(answer).reason)];
  };
  const run = async (job: RenderJob, bodyOf: BodyExtras | null): Promise<Finished> => {
    const large = FIELDS.find((field) => (job.content[field]?.length ?? 0) > outputLimitBytes);
    if (large === undefined) return pool.add({ kind: "render", job, bodyOf });
    const reason = recordedReason("partTooLarge", { part: large, size: sizeText(outputLimitBytes) });
    return { answer: { kind: "failed", reason }, links: [] };
  };
  const renderJob = async (job: RenderJob): Promise<RenderResult> => {
    const { answer } = await run(job, null);
    if (answer.kind !== "rendered") return failureOf(answer);
    return withShortSubject({ ok: true, ...completeParts(answer.parts, job.content) });
  };
  const renderBody = async (job: BodyJob): Promise<BodyResult> => {
    const { messageId, attachments } = job;
    const { answer, links } = await run(job, { messageId, attachments });
    if (answer.kind !== "built") return failureOf(answer);
    return withShortSubject({ ok: true, subject: answer.subject, body: answer.body, links });
  };
  return {
    check: async (content) =>
      (await Promise.all(FIELDS.map((field) => checkField(field, content[field])))).flat(),
    render: (jobs) => Promise.all(jobs.map(renderJob)),
    renderBodies: (jobs) => Promise.all(jobs.map(renderBody)),
    close: () => pool.close(),
  };
}

function wholeField(field: ContentField, message: string): ContentProblem {
  return { field, line: 1, column: 1, message };
}

function withShortSubject<Result extends { ok: true; subject: string }>(result: Result): Result | Failed {
  // Counted as in the contract, where an emoji is one character.
  return [...result.subject].length > LIMITS.subjectLength.value
    ? { ok: false, reason: LONG_SUBJECT }
    : result;
}

function failureOf(response: WorkerResponse): Failed {
  if (response.kind !== "failed") return { ok: false, reason: recordedReason("templateFailed") };
  return { ok: false, reason: response.reason };
}

interface Finished {
  answer: WorkerResponse;
  links: readonly ContentLink[];
}

/** The queue and the threads that process it. */
class RenderPool {
  private readonly threads: readonly RenderThread[];
  private readonly settings: Required<RendererOptions>;
  private readonly queue = new RenderQueue();
  private isDispatchDue = false;
  private isClosed = false;
  /** Message templates that recently ended threads: how many in a row, and the failure to return. */
  private readonly suspects = new LRUCache<string, { endedThreads: number; failure: WorkerResponse }>({
    max: SUSPECTS_MAX,
    ttl: REJECTION_MS,
  });

  constructor(settings: Required<RendererOptions>) {
    this.settings = settings;
    this.threads = Array.from(
      { length: settings.threads },
      () =>
        new RenderThread({
          ...settings,
          onIdle: () => this.dispatch(),
          onEnd: (end, culprit, others) => this.handleThreadEnd(end, culprit, others),
        }),
    );
    if (settings.startsAhead) for (const thread of this.threads) thread.start();
  }

  add(work: ThreadTask["work"]): Promise<Finished> {
    if (this.isClosed) return Promise.resolve({ answer: CLOSED, links: [] });
    return new Promise((resolve) => {
      const finish: ThreadTask["finish"] = (answer, links) => {
        this.clear(work, answer);
        resolve({ answer, links });
      };
      this.queue.push({ work, endedThreads: 0, finish });
      if (this.isDispatchDue) return;
      // Runs after the caller has added all its tasks, so that a batch is spread evenly over the threads.
      this.isDispatchDue = true;
      queueMicrotask(() => {
        this.isDispatchDue = false;
        this.dispatch();
      });
    });
  }

  async close(): Promise<void> {
    this.isClosed = true;
    const waiting = this.queue.clear();
    const unfinished = await Promise.all(this.threads.map((thread) => thread.close()));
    for (const task of [...unfinished.flat(), ...waiting]) task.finish(CLOSED, []);
  }

  private dispatch(): void {
    if (this.isClosed) return;
    if (this.suspects.size > 0) this.queue.keepOnly((task) => !this.refuse(task));
    const idle = this.threads.filter((thread) => thread.isIdle);
    for (const [index, thread] of idle.entries()) {
      if (this.queue.length === 0) return;
      thread.run(this.queue, Math.ceil(this.queue.length / (idle.length - index)));
    }
  }

  /** Handles the end of a thread during a task. That task is queued last or fails, and the other tasks return to the front. */
  private handleThreadEnd(end: ThreadEnd, culprit: ThreadTask, others: readonly ThreadTask[]): void {
    this.queue.putBack(others);
    culprit.endedThreads += 1;
    const failure: WorkerResponse = { kind: "failed", reason: this.reasonOf(end) };
    const key = contentKeyOf(culprit.work);
    if (key !== null) {
      const before = this.suspects.get(key)?.endedThreads ?? 0;
      this.suspects.set(key, { endedThreads: before + 1, failure });
    }
    if (culprit.endedThreads < this.settings.triesMax) this.queue.push(culprit);
    else culprit.finish(failure, []);
    this.dispatch();
  }

  private refuse(task: ThreadTask): boolean {
    const key = contentKeyOf(task.work);
    const suspect = key === null ? undefined : this.suspects.get(key);
    if (suspect === undefined || suspect.endedThreads < ENDED_THREADS_IN_A_ROW_MAX) return false;
    task.finish(suspect.failure, []);
    return true;
  }

  private clear(work: ThreadTask["work"], response: WorkerResponse): void {
    const key = contentKeyOf(work);
    if (response.kind !== "failed" && key !== null && this.suspects.size > 0) this.suspects.delete(key);
  }

  private reasonOf(end: ThreadEnd): string {
    const { readTimeoutMs, renderTimeoutMs } = this.settings;
    if (end === "slow reading") return recordedReason("readingTooSlow", { ms: readTimeoutMs });
    if (end === "slow rendering") return recordedReason("renderingTooSlow", { ms: renderTimeoutMs });
    if (end === "memory") return recordedReason("templateTooLarge");
    return recordedReason("renderingStopped");
  }
}

const LONG_SUBJECT = recordedReason("subjectTooLong", { most: LIMITS.subjectLength.value });
const CLOSED: WorkerResponse = { kind: "failed", reason: recordedReason("rendererClosed") };

function contentKeyOf(work: ThreadTask["work"]): string | null {
  return work.kind === "render" ? work.job.contentKey : null;
}
