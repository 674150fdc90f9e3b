// A render thread: compiles contents, keeps them while the pool wants it to, renders and checks. It has no clock of its
// own; the pool watches its progress and ends it when a step takes too long. Started by renderer.ts.

import { parentPort, workerData } from "node:worker_threads";
import { compileContent, ContentError, type CompiledContent, type RenderedParts } from "./compile-content.ts";
import {
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
/** What cannot be compiled is kept as its reason, so that it fails once and not once per mail. */
const contents = new Map<string, CompiledContent | string>();
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
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is a window's; a thread has no origin.
  parentPort?.postMessage(answers);
}

function startReading(): void {
  Atomics.store(progress, PROGRESS_WORK, READING);
  Atomics.add(progress, PROGRESS_STEP, 1);
}

function startRendering(): void {
  Atomics.store(progress, PROGRESS_WORK, RENDERING);
  Atomics.add(progress, PROGRESS_STEP, 1);
}

function check(source: string): WorkerAnswer {
  startReading();
  return { kind: "checked", problems: checkTemplate(source) };
}

function render(task: WorkerTask & { kind: "render" }): WorkerAnswer {
  for (const key of task.forgottenKeys) contents.delete(key);
  try {
    const content = compiled(task);
    if (typeof content === "string") return { kind: "failed", reason: content };
    startRendering();
    const parts = content.render(JSON.parse(task.variablesJson), task.tracking);
    const reason = tooLarge(parts);
    if (reason !== null) return { kind: "failed", reason };
    const links = announced.has(content) ? null : content.links;
    announced.add(content);
    return { kind: "rendered", parts, links };
  } catch (error) {
    return { kind: "failed", reason: reasonOf(error) };
  }
}

function compiled(task: WorkerTask & { kind: "render" }): CompiledContent | string {
  const known = contents.get(task.contentKey);
  if (known !== undefined) return known;
  if (task.content === null) throw new Error(`Content ${task.contentKey} was never sent to this thread.`);
  let made: CompiledContent | string;
  try {
    made = compileContent(task.content, startReading, task.tracking !== null);
  } catch (error) {
    if (!(error instanceof ContentError)) throw error;
    made = `The template cannot be used: ${error.message}`;
  }
  contents.set(task.contentKey, made);
  return made;
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
  return `The template could not be rendered: ${error instanceof Error ? error.message : String(error)}`;
}

function lengthOf(parts: RenderedParts): number {
  return (parts.subject?.length ?? 0) + (parts.html?.length ?? 0) + (parts.text?.length ?? 0);
}
