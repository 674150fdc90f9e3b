// A render thread: compiles contents, keeps them while the pool wants it to, renders, builds bodies and checks. It has no
// clock of its own; the pool watches its progress and ends it when a step takes too long. Started by renderer.ts.

import { parentPort, workerData } from "node:worker_threads";
import { buildBody, type BodyParts, type MessageBody } from "../message/body.ts";
import {
  compileContent,
  completeParts,
  ContentError,
  type CompiledContent,
  type RenderedParts,
  type TemplateContent,
} from "./compile-content.ts";
import {
  BUILDING,
  sizeText,
  PROGRESS_STEP,
  PROGRESS_TASK,
  PROGRESS_WORK,
  READING,
  RENDERING,
  type WorkerAnswer,
  type WorkerSettings,
  type WorkerTask,
} from "./render-messages.ts";
import { checkTemplate } from "./template-syntax.ts";

/** Answers are sent when they add up to this many characters, so that the pool never takes over a huge message. */
const ANSWERS_PER_MESSAGE_MAX_CHARACTERS = 500_000;
/** UTF-8 needs at most this many bytes for a UTF-16 unit. */
const BYTES_PER_CHARACTER_MAX = 3;

const settings: WorkerSettings = workerData;
const progress = new Int32Array(settings.progress);
/** A content as it was given, and what became of it: where it cannot be compiled the reason, so that it fails once and not once per mail. */
interface HeldContent {
  given: TemplateContent;
  compiled: CompiledContent | string;
}

const contents = new Map<string, HeldContent>();
/** Contents of which the pool knows the links. */
const announced = new WeakSet<CompiledContent>();

parentPort?.on("message", (tasks: readonly WorkerTask[]) => {
  let answers: WorkerAnswer[] = [];
  let characters = 0;
  for (const [index, task] of tasks.entries()) {
    Atomics.store(progress, PROGRESS_TASK, index);
    const answer = task.kind === "check" ? check(task.source) : render(task);
    answers.push(answer);
    characters += answer.kind === "rendered" ? lengthOf(answer.parts) : 0;
    if (characters > ANSWERS_PER_MESSAGE_MAX_CHARACTERS) {
      send(answers);
      answers = [];
      characters = 0;
    }
  }
  Atomics.store(progress, PROGRESS_TASK, -1);
  send(answers);
});

function send(answers: readonly WorkerAnswer[]): void {
  // Bodies change hands; everything else is copied.
  const handedOver = answers.flatMap((answer) =>
    answer.kind === "built" ? [answer.body.memory.buffer] : [],
  );
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is a window's; a thread has no origin.
  parentPort?.postMessage(answers, handedOver);
}

function start(work: typeof READING | typeof RENDERING | typeof BUILDING): void {
  Atomics.store(progress, PROGRESS_WORK, work);
  Atomics.add(progress, PROGRESS_STEP, 1);
}

const startReading = () => start(READING);

function check(source: string): WorkerAnswer {
  startReading();
  return { kind: "checked", problems: checkTemplate(source) };
}

function render(task: WorkerTask & { kind: "render" }): WorkerAnswer {
  for (const key of task.forgottenKeys) contents.delete(key);
  try {
    const { given, compiled } = contentOf(task);
    if (typeof compiled === "string") return { kind: "failed", reason: compiled };
    start(RENDERING);
    const parts = compiled.render(JSON.parse(task.variablesJson), task.tracking);
    const reason = tooLarge(parts);
    if (reason !== null) return { kind: "failed", reason };
    const { subject, ...texts } = completeParts(parts, given);
    const body = task.bodyOf === null ? null : build({ ...texts, ...task.bodyOf });
    if (typeof body === "string") return { kind: "failed", reason: body };
    const links = announced.has(compiled) ? null : compiled.links;
    announced.add(compiled);
    return body === null ? { kind: "rendered", parts, links } : { kind: "built", subject, body, links };
  } catch (error) {
    return { kind: "failed", reason: reasonOf(error) };
  }
}

/** Answers the reason where it is impossible. */
function build(parts: BodyParts): MessageBody | string {
  start(BUILDING);
  try {
    return buildBody(parts);
  } catch (error) {
    return `The message could not be built: ${textOf(error)}`;
  }
}

function contentOf(task: WorkerTask & { kind: "render" }): HeldContent {
  const known = contents.get(task.contentKey);
  if (known !== undefined) return known;
  if (task.content === null) throw new Error(`Content ${task.contentKey} was never sent to this thread.`);
  const held = { given: task.content, compiled: compile(task.content, task.tracking !== null) };
  contents.set(task.contentKey, held);
  return held;
}

function compile(content: TemplateContent, isTracked: boolean): CompiledContent | string {
  try {
    return compileContent(content, startReading, isTracked);
  } catch (error) {
    if (!(error instanceof ContentError)) throw error;
    return `The template cannot be used: ${error.message}`;
  }
}

function tooLarge(parts: RenderedParts): string | null {
  const limit = settings.outputLimitBytes;
  for (const [field, text] of Object.entries<string | null>({ ...parts })) {
    if (text === null || text.length * BYTES_PER_CHARACTER_MAX <= limit) continue;
    // The length is known without joining the pieces of the string; only what can be small enough is counted.
    if (text.length > limit || Buffer.byteLength(text) > limit) return tooLargeReason(field);
  }
  return null;
}

function tooLargeReason(field: string): string {
  return `The rendered ${field} is larger than ${sizeText(settings.outputLimitBytes)}.`;
}

function reasonOf(error: unknown): string {
  if (error instanceof RangeError && /string length/i.test(error.message)) return tooLargeReason("mail");
  return `The template could not be rendered: ${textOf(error)}`;
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function lengthOf(parts: RenderedParts): number {
  return (parts.subject?.length ?? 0) + (parts.html?.length ?? 0) + (parts.text?.length ?? 0);
}
