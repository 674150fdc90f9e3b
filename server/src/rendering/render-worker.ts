// Render thread: compiles and caches message templates, renders, builds bodies and checks templates. Has no time limits itself, because the
// pool in renderer.ts watches its progress and ends it when a step takes too long.

import { parentPort, workerData } from "node:worker_threads";
import { buildBody, type BodyParts, type MessageBody } from "../message/body.ts";
import type { PartText } from "../message/part-text.ts";
import { lowerPriority } from "../platform/threads/priority.ts";
import {
  compileContent,
  type CompiledContent,
  type RenderedParts,
  type TemplateContent,
} from "./compile-content.ts";
import { ContentError } from "./compile-part.ts";
import type { ContentLink } from "./link-target.ts";
import {
  BUILDING,
  sizeText,
  PROGRESS_STEP,
  PROGRESS_TASK,
  PROGRESS_WORK,
  READING,
  RENDERING,
  type BodyExtras,
  type WorkerResponse,
  type WorkerSettings,
  type WorkerTask,
} from "./render-messages.ts";
import { readVariables } from "./shared-places.ts";
import { checkTemplate } from "./template-syntax.ts";

/** Responses are sent once they reach this many characters, so that the pool never receives a huge message. */
const RESPONSES_PER_MESSAGE_MAX_CHARACTERS = 500_000;
/** UTF-8 needs at most this many bytes for a UTF-16 unit. */
const BYTES_PER_CHARACTER_MAX = 3;

const settings: WorkerSettings = workerData;
if (settings.isBehind) lowerPriority({ isTimed: true });
const progress = new Int32Array(settings.progress);
/** Compiled message templates, or the reason why one cannot be compiled, so that a broken template fails only once. */
const contents = new Map<string, CompiledContent | string>();
/** Message templates for which the pool has received the links. */
const announced = new WeakSet<CompiledContent>();

parentPort?.on("message", (tasks: readonly WorkerTask[]) => {
  let responses: WorkerResponse[] = [];
  let characters = 0;
  for (const [index, task] of tasks.entries()) {
    Atomics.store(progress, PROGRESS_TASK, index);
    const response = task.kind === "check" ? check(task.source) : render(task);
    responses.push(response);
    characters += response.kind === "rendered" ? lengthOf(response.parts) : 0;
    if (characters > RESPONSES_PER_MESSAGE_MAX_CHARACTERS) {
      send(responses);
      responses = [];
      characters = 0;
    }
  }
  Atomics.store(progress, PROGRESS_TASK, -1);
  send(responses);
});

function send(responses: readonly WorkerResponse[]): void {
  // Bodies are transferred; everything else is copied.
  const handedOver = responses.flatMap((response) =>
    response.kind === "built" ? [response.body.memory.buffer] : [],
  );
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is a window's; a thread has no origin.
  parentPort?.postMessage(responses, handedOver);
}

function start(work: typeof READING | typeof RENDERING | typeof BUILDING): void {
  Atomics.store(progress, PROGRESS_WORK, work);
  Atomics.add(progress, PROGRESS_STEP, 1);
}

const startReading = () => start(READING);

function check(source: string): WorkerResponse {
  startReading();
  return { kind: "checked", problems: checkTemplate(source) };
}

function render(task: RenderTask): WorkerResponse {
  for (const key of task.forgottenKeys) contents.delete(key);
  try {
    const compiled = contentOf(task);
    if (typeof compiled === "string") return { kind: "failed", reason: compiled };
    start(RENDERING);
    const variables = readVariables(task.variablesJson);
    const response =
      task.bodyOf === null
        ? renderParts(compiled, variables, task)
        : renderBody(compiled, variables, { ...task, bodyOf: task.bodyOf });
    if (response.kind !== "failed") announced.add(compiled);
    return response;
  } catch (error) {
    return { kind: "failed", reason: reasonOf(error) };
  }
}

type RenderTask = WorkerTask & { kind: "render" };

function renderParts(
  compiled: CompiledContent,
  variables: Record<string, unknown>,
  task: RenderTask,
): WorkerResponse {
  const parts = compiled.render(variables, task.tracking);
  const reason = tooLarge(parts);
  if (reason !== null) return { kind: "failed", reason };
  return { kind: "rendered", parts, links: linksOf(compiled) };
}

function renderBody(
  compiled: CompiledContent,
  variables: Record<string, unknown>,
  task: RenderTask & { bodyOf: BodyExtras },
): WorkerResponse {
  const { subject, ...texts } = compiled.renderPieces(variables, task.tracking);
  const reason = tooLarge({ subject, ...texts });
  if (reason !== null) return { kind: "failed", reason };
  const body = build({ ...texts, ...task.bodyOf });
  if (typeof body === "string") return { kind: "failed", reason: body };
  return { kind: "built", subject, body, links: linksOf(compiled) };
}

/** Returns null if the pool already has the links. */
function linksOf(compiled: CompiledContent): readonly ContentLink[] | null {
  return announced.has(compiled) ? null : compiled.links;
}

/** Returns the body, or the reason why it cannot be built. */
function build(parts: BodyParts): MessageBody | string {
  start(BUILDING);
  try {
    return buildBody(parts);
  } catch (error) {
    return `The message could not be built: ${textOf(error)}`;
  }
}

function contentOf(task: RenderTask): CompiledContent | string {
  const known = contents.get(task.contentKey);
  if (known !== undefined) return known;
  if (task.content === null) throw new Error(`Content ${task.contentKey} was never sent to this thread.`);
  const compiled = compile(task.content, task.tracking !== null);
  contents.set(task.contentKey, compiled);
  return compiled;
}

function compile(content: TemplateContent, isTracked: boolean): CompiledContent | string {
  try {
    return compileContent(content, startReading, isTracked);
  } catch (error) {
    if (!(error instanceof ContentError)) throw error;
    return `The template cannot be used: ${error.message}`;
  }
}

function tooLarge(parts: Record<keyof RenderedParts, PartText | null>): string | null {
  for (const [field, text] of Object.entries(parts))
    if (text !== null && isTooLarge(text)) return tooLargeReason(field);
  return null;
}

function isTooLarge(text: PartText): boolean {
  const limit = settings.outputLimitBytes;
  const pieces =
    typeof text === "string" ? [text] : text.map((piece) => (typeof piece === "string" ? piece : piece.text));
  const characters = pieces.reduce((sum, piece) => sum + piece.length, 0);
  // The length is known without joining the pieces, so bytes are counted only for text that may fit.
  if (characters * BYTES_PER_CHARACTER_MAX <= limit) return false;
  return characters > limit || pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0) > limit;
}

function tooLargeReason(field: string): string {
  return `The rendered ${field} is larger than ${sizeText(settings.outputLimitBytes)}.`;
}

function reasonOf(error: unknown): string {
  if (error instanceof RangeError && /string length/i.test(error.message)) return tooLargeReason("email");
  return `The template could not be rendered: ${textOf(error)}`;
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function lengthOf(parts: RenderedParts): number {
  return (parts.subject?.length ?? 0) + (parts.html?.length ?? 0) + (parts.text?.length ?? 0);
}
