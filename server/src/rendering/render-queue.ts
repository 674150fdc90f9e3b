// Queue of tasks that wait for a render thread.
import type { TemplateContent } from "./compile-content.ts";
import type { ContentLink, MailTracking } from "./link-target.ts";
import type { BodyExtras, WorkerResponse } from "./render-messages.ts";

/** A message template under a permanent key, and the variables of one email. */
export interface RenderJob {
  contentKey: string;
  content: TemplateContent;
  /** Plain JSON data. */
  variables: Record<string, unknown>;
  /** How to write the email's links, if the message template is tracked. */
  tracking?: MailTracking | null;
}

export interface ThreadTask {
  work: { kind: "render"; job: RenderJob; bodyOf: BodyExtras | null } | { kind: "check"; source: string };
  /** Number of threads that ended while running this task. */
  endedThreads: number;
  /** Called once, with the links of the message template if it was rendered. */
  finish(response: WorkerResponse, links: readonly ContentLink[]): void;
}

/** When both kinds wait, every fourth task is an email, so that checks and previews cannot stop emails. */
const TASKS_PER_MAIL = 4;

/** Puts checks and previews, which a caller waits for, before outgoing emails, which wait in a queue anyway. */
export class RenderQueue {
  private asked: ThreadTask[] = [];
  private mails: ThreadTask[] = [];
  private takenCount = 0;

  get length(): number {
    return this.asked.length + this.mails.length;
  }

  push(task: ThreadTask): void {
    this.lineOf(task).push(task);
  }

  /** Puts tasks back at the front, in their order. */
  putBack(tasks: readonly ThreadTask[]): void {
    for (const task of tasks.toReversed()) this.lineOf(task).unshift(task);
  }

  shift(): ThreadTask | undefined {
    this.takenCount += 1;
    return this.takenCount % TASKS_PER_MAIL === 0
      ? (this.mails.shift() ?? this.asked.shift())
      : (this.asked.shift() ?? this.mails.shift());
  }

  /** Removes the tasks for which `isKept` returns false. */
  keepOnly(isKept: (task: ThreadTask) => boolean): void {
    this.asked = this.asked.filter(isKept);
    this.mails = this.mails.filter(isKept);
  }

  /** Removes and returns all waiting tasks. */
  clear(): ThreadTask[] {
    const waiting = [...this.asked, ...this.mails];
    this.asked = [];
    this.mails = [];
    return waiting;
  }

  private lineOf({ work }: ThreadTask): ThreadTask[] {
    return work.kind === "render" && work.bodyOf !== null ? this.mails : this.asked;
  }
}
