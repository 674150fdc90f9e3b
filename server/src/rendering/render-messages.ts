// What the render pool and its threads say to each other. Everything here is copied between threads.
// One side: renderer.ts. The other: render-worker.ts.

import { MEGABYTE } from "@postloft/contract/limits/limit.ts";
import type { BodyParts, MessageBody } from "../message/body.ts";
import type { RenderedParts, TemplateContent } from "./compile-content.ts";
import type { ContentLink, MailTracking } from "./link-target.ts";
import type { TemplateProblem } from "./source-position.ts";

export type WorkerTask =
  | {
      kind: "render";
      contentKey: string;
      /** Null when the thread has it already. */
      content: TemplateContent | null;
      /** JSON: cheaper to carry than objects, and data can be nothing but data on the other side. */
      variablesJson: string;
      /** How the mail's links are written; null when they stay as they are. */
      tracking: MailTracking | null;
      /** What else is in the body of the mail; null when the parts themselves are wanted. */
      bodyOf: BodyRest | null;
      /** Contents to let go of before this task. */
      forgottenKeys: readonly string[];
    }
  | { kind: "check"; source: string };

/** What a body is made of beside what is rendered. */
export type BodyRest = Pick<BodyParts, "messageId" | "attachments">;

/** One per task, in their order. */
export type WorkerAnswer =
  | {
      kind: "rendered";
      parts: RenderedParts;
      /** What the content's links are called; null when that was said before. */
      links: readonly ContentLink[] | null;
    }
  | {
      kind: "built";
      subject: string;
      body: MessageBody;
      /** As above. */
      links: readonly ContentLink[] | null;
    }
  | { kind: "checked"; problems: TemplateProblem[] }
  | { kind: "failed"; reason: string };

export interface WorkerSettings {
  /** Three 32-bit integers, see PROGRESS_*; written by the thread, watched by the pool. */
  progress: SharedArrayBuffer;
  outputLimitBytes: number;
  /** Whether the thread has a lower priority than the others of the process. */
  isBehind: boolean;
}

/** Which task of the message is being worked on; -1 when none is. */
export const PROGRESS_TASK = 0;
/** Goes up with each step that has a time limit of its own. */
export const PROGRESS_STEP = 1;
/** What the step does: READING a part of a content, RENDERING a mail, or BUILDING its body. */
export const PROGRESS_WORK = 2;
export const PROGRESS_SIZE_BYTES = 12;
export const READING = 0;
export const RENDERING = 1;
/** Has no time limit: nobody's template is at work, and how long it takes is known from the size. */
export const BUILDING = 2;

/** "6 MB", as people read it in a reason. */
export function sizeText(sizeBytes: number): string {
  const megabytes = sizeBytes / MEGABYTE;
  return megabytes < 1 ? `${sizeBytes.toLocaleString("en")} bytes` : `${Number(megabytes.toFixed(1))} MB`;
}
