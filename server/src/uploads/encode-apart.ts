// Re-encodes images in a separate process, because a hostile image may crash the native decoder and the server must survive that.
import { fork, type ChildProcess } from "node:child_process";
import { threadEnvironment } from "../platform/threads/environment.ts";
import { damagedImage, type Encoding } from "./encode-image.ts";

/** The reply of the process to one image. */
export type EncodeReply = { encoding: Encoding } | { failure: string };

/** Longer than the limit of the decoder, which normally ends an image that takes too long. */
const DEADLINE_MS = 30_000;
/** An idle process is ended, because its memory is worth more than the time to start it. */
const IDLE_MS = 60_000;

/**
 * Returns a function that encodes an image like `encodeImage`. Call it for one image at a time. The process starts with the first image.
 * @throws Error if the process cannot run at all
 */
export function createImageEncoder(): (input: Uint8Array) => Promise<Encoding> {
  let child: ChildProcess | null = null;
  let idle: NodeJS.Timeout | null = null;

  function startEncoder(): ChildProcess {
    const started = fork(new URL("encode-process.ts", import.meta.url), {
      serialization: "advanced",
      execArgv: [],
      env: { ...threadEnvironment() },
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    started.once("exit", () => {
      if (child === started) child = null;
    });
    // The process ends with the channel, so it does not keep this one alive.
    started.unref();
    started.channel?.unref();
    child = started;
    return started;
  }

  return async (input) => {
    if (idle !== null) clearTimeout(idle);
    const encoder = child ?? startEncoder();
    const reply = await replyOf(encoder, input);
    idle = setTimeout(() => encoder.kill("SIGKILL"), IDLE_MS).unref();
    if (reply === null) return { ok: false, problem: damagedImage() };
    if ("failure" in reply) throw new Error(reply.failure);
    return reply.encoding;
  };
}

/** Returns the reply, or null if the process ended or had to be ended first. @throws Error if it did not start */
function replyOf(encoder: ChildProcess, input: Uint8Array): Promise<EncodeReply | null> {
  const { promise, resolve, reject } = Promise.withResolvers<EncodeReply | null>();
  const onMessage = (message: unknown) => resolve(message as EncodeReply);
  const onExit = () => resolve(null);
  const timer = setTimeout(() => encoder.kill("SIGKILL"), DEADLINE_MS);
  encoder.channel?.ref();
  encoder.once("message", onMessage).once("exit", onExit).once("error", reject);
  encoder.send(input, (error) => {
    // A process that ended before it read the image also emits its exit.
    if (error !== null && encoder.exitCode === null && encoder.signalCode === null) reject(error);
  });
  return promise.finally(() => {
    clearTimeout(timer);
    encoder.channel?.unref();
    encoder.off("message", onMessage).off("exit", onExit).off("error", reject);
  });
}
