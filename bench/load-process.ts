// The process behind load.ts. Keep-alive sockets repeatedly write a prepared request and wait for its response. Kept small, because it
// shares the machine with the server.
import { connect, type Socket } from "node:net";
import type { LoadResult, LoadSpec } from "./load.ts";
import { NUMBER_DIGITS } from "./request.ts";

const RECEIVE_BYTES = 16 * 1024;
/** Buckets of a tenth of a millisecond, up to 10 s. */
const BUCKETS = 100_000;
const ZERO = 0x30;
const OK = Buffer.from("HTTP/1.1 200");
const HEAD_END = "\r\n\r\n";
const CONTENT_LENGTH = "\r\ncontent-length: ";
const END_TIMEOUT_MS = 10_000;

/** State of a run, shared by all connections. */
interface Run {
  spec: LoadSpec;
  nextNumber: number;
  measureFromMs: number;
  endMs: number;
  result: LoadResult & { tenthsOfMs: number[] };
}

/** Writes `number` as nine digits at position `at`. */
function writeNumber(bytes: Buffer, at: number, number: number): void {
  let rest = number;
  for (let place = at + NUMBER_DIGITS - 1; place >= at; place--) {
    bytes[place] = ZERO + (rest % 10);
    rest = Math.floor(rest / 10);
  }
}

/** Returns the end of the first response in `bytes`, or -1 if it is incomplete. */
function endOfResponse(bytes: Buffer): number {
  const head = bytes.indexOf(HEAD_END, 0, "latin1");
  if (head === -1) return -1;
  const field = bytes.indexOf(CONTENT_LENGTH, 0, "latin1");
  if (field === -1 || field > head) throw new Error(`a response without a length:\n${bytes.toString()}`);
  let length = 0;
  for (let at = field + CONTENT_LENGTH.length; bytes[at] !== 0x0d; at++)
    length = length * 10 + (bytes[at] ?? 0) - ZERO;
  const end = head + HEAD_END.length + length;
  return bytes.length >= end ? end : -1;
}

/** Drives one connection until the end of the run. */
function drive(run: Run): Promise<void> {
  const { spec, result } = run;
  const request = Buffer.from(spec.request.bytes);
  let writtenAtMs = 0;
  let received: Buffer | null = null;

  function write(): void {
    const number = run.nextNumber++;
    for (const { at, modulus } of spec.request.numbers) writeNumber(request, at, number % modulus);
    writtenAtMs = performance.now();
    socket.write(request);
  }

  function count(response: Buffer): void {
    const nowMs = performance.now();
    if (response.compare(OK, 0, OK.length, 0, OK.length) !== 0) {
      result.refused++;
      result.refusal = response.toString("utf8").slice(0, 2_000);
    }
    if (nowMs >= run.measureFromMs && nowMs < run.endMs) {
      const bucket = Math.min(BUCKETS - 1, Math.floor((nowMs - writtenAtMs) * 10));
      result.tenthsOfMs[bucket] = (result.tenthsOfMs[bucket] ?? 0) + 1;
      result.answers++;
    }
    if (nowMs < run.endMs && result.refused === 0) write();
    else socket.end();
  }

  function take(length: number, bytes: Uint8Array): boolean {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, length);
    const all: Buffer = received === null ? chunk : Buffer.concat([received, chunk]);
    const end = endOfResponse(all);
    // Copy the rest, because the receive buffer is reused for the next chunk.
    received = end === -1 ? Buffer.from(all) : null;
    if (end !== -1) count(all);
    return true;
  }

  const socket: Socket = connect({
    port: spec.port,
    host: "127.0.0.1",
    noDelay: true,
    onread: { buffer: Buffer.allocUnsafeSlow(RECEIVE_BYTES), callback: take },
  });
  return new Promise((resolve, reject) => {
    socket.once("connect", write);
    socket.once("error", reject);
    socket.once("close", () => resolve());
  });
}

async function work(spec: LoadSpec): Promise<LoadResult> {
  const startMs = performance.now();
  const run: Run = {
    spec,
    nextNumber: spec.firstNumber,
    measureFromMs: startMs + spec.warmUpMs,
    endMs: startMs + spec.warmUpMs + spec.measureMs,
    result: {
      answers: 0,
      measuredMs: spec.measureMs,
      tenthsOfMs: Array.from({ length: BUCKETS }, () => 0),
      cpuMs: 0,
      refused: 0,
      refusal: "",
    },
  };
  const cpu = { start: 0 };
  setTimeout(() => (cpu.start = cpuMs()), spec.warmUpMs);
  const stuck = setTimeout(
    () => {
      process.stderr.write(`no response for ${END_TIMEOUT_MS} ms after the end\n`);
      process.exit(1);
    },
    spec.warmUpMs + spec.measureMs + END_TIMEOUT_MS,
  );
  await Promise.all(Array.from({ length: spec.connections }, () => drive(run)));
  clearTimeout(stuck);
  run.result.cpuMs = cpuMs() - cpu.start;
  return run.result;
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

process.once("message", (spec) => {
  void work(spec as LoadSpec).then((result) => process.send?.(result));
});
