// Messages between the render pool (renderer.ts) and its threads (render-worker.ts). Everything here is copied between threads.

import { MEGABYTE } from "@postloft/contract/limits/limit.ts";
import type { BodyParts, MessageBody } from "../message/body.ts";
import type { RenderedParts, TemplateContent } from "./compile-content.ts";
import type { ContentLink, MailTracking } from "./link-target.ts";
import type { TemplateProblem } from "./source-position.ts";

export type WorkerTask =
  | {
      kind: "render";
      contentKey: string;
      /** null when the thread already has the message template. */
      content: TemplateContent | null;
      /** JSON because it copies faster than objects and can contain nothing but data. */
      variablesJson: string;
      /** How to write the email's links; null to leave them unchanged. */
      tracking: MailTracking | null;
      /** The rest of the body of the email; null to return the rendered parts instead of a body. */
      bodyOf: BodyExtras | null;
      /** Message templates to drop before this task. */
      forgottenKeys: readonly string[];
    }
  | { kind: "check"; source: string };

/** Everything in a body that is not rendered. */
export type BodyExtras = Pick<BodyParts, "messageId" | "attachments">;

/** One response per task, in task order. */
export type WorkerResponse =
  | {
      kind: "rendered";
      parts: RenderedParts;
      /** The links of the message template; null when they were sent before. */
      links: readonly ContentLink[] | null;
    }
  | {
      kind: "built";
      subject: string;
      body: MessageBody;
      links: readonly ContentLink[] | null;
    }
  | { kind: "checked"; problems: TemplateProblem[] }
  | { kind: "failed"; reason: string };

export interface WorkerSettings {
  /** Three 32-bit integers, see PROGRESS_*. The thread writes them and the pool watches them. */
  progress: SharedArrayBuffer;
  outputLimitBytes: number;
  /** Whether the thread runs at a lower priority than the other threads of the process. */
  isBehind: boolean;
}

/** Index of the running task in its message; -1 when idle. */
export const PROGRESS_TASK = 0;
/** Incremented with each step that has a separate time limit. */
export const PROGRESS_STEP = 1;
/** Kind of the step: READING a part of a template, RENDERING an email, or BUILDING its body. */
export const PROGRESS_WORK = 2;
export const PROGRESS_SIZE_BYTES = 12;
export const READING = 0;
export const RENDERING = 1;
/** Has no time limit because no template code runs and the duration depends only on the size. */
export const BUILDING = 2;

/** Returns a size in readable form, such as "6 MB". */
export function sizeText(sizeBytes: number): string {
  const megabytes = sizeBytes / MEGABYTE;
  return megabytes < 1 ? `${sizeBytes.toLocaleString("en")} bytes` : `${Number(megabytes.toFixed(1))} MB`;
}
