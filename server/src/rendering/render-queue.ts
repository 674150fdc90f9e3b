// Tasks that wait for a render thread.
import type { TemplateContent } from "./compile-content.ts";
import type { ContentLink, MailTracking } from "./link-target.ts";
import type { BodyRest, WorkerAnswer } from "./render-messages.ts";

/** A content, by a name that is its own for good, and what one mail puts in. */
export interface RenderJob {
  contentKey: string;
  content: TemplateContent;
  /** Plain data, as JSON carries it. */
  variables: Record<string, unknown>;
  /** How the mail's links are written, where the content is tracked. */
  tracking?: MailTracking | null;
}

export interface ThreadTask {
  work: { kind: "render"; job: RenderJob; bodyOf: BodyRest | null } | { kind: "check"; source: string };
  /** How many threads it was the end of. */
  endedThreads: number;
  /** Called once, with the links of the content where it was rendered. */
  finish(answer: WorkerAnswer, links: readonly ContentLink[]): void;
}

/** Where both wait, of so many tasks one is a mail's: mails go on, however much is asked. */
const TASKS_PER_MAIL = 4;

/** What somebody waits for, a check or a preview, goes before mails on their way out, which wait in a queue anyway. */
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

  /** Before all others, in their order. */
  putBack(tasks: readonly ThreadTask[]): void {
    for (const task of tasks.toReversed()) this.lineOf(task).unshift(task);
  }

  shift(): ThreadTask | undefined {
    this.takenCount += 1;
    return this.takenCount % TASKS_PER_MAIL === 0
      ? (this.mails.shift() ?? this.asked.shift())
      : (this.asked.shift() ?? this.mails.shift());
  }

  /** Keeps those for which `isKept` is true. */
  keepOnly(isKept: (task: ThreadTask) => boolean): void {
    this.asked = this.asked.filter(isKept);
    this.mails = this.mails.filter(isKept);
  }

  /** Takes all that wait. */
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
