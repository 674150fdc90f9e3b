// Generates SMTP load from a separate process. Each connection submits one message after another, and waits for each reply.
import { connect } from "node:net";
import { ADDRESSES, NUMBER_DIGITS } from "./request.ts";

export interface SubmissionLoad {
  port: number;
  user: string;
  key: string;
  connections: number;
  warmUpMs: number;
  measureMs: number;
  /** The first message number. Other runs on the same database need other numbers. */
  firstNumber: number;
}

export interface SubmissionResult {
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
}

const HTML =
  "<p>Thank you for your order; here is what we know of it, in a paragraph of the usual length.</p>\r\n".repeat(
    200,
  );

function messageOf(number: number): string {
  return [
    "From: Shop <shop@sandbox.localhost>",
    `To: person-${number}@example.com`,
    "Subject: Your order",
    `Message-ID: <${number}@sandbox.localhost>`,
    "Date: Fri, 21 Nov 2025 03:27:00 +0000",
    "MIME-Version: 1.0",
    "Content-Type: text/html; charset=utf-8",
    "",
    `${HTML}.`,
    "",
  ].join("\r\n");
}

async function work(load: SubmissionLoad): Promise<SubmissionResult> {
  const startMs = performance.now();
  const measureFromMs = startMs + load.warmUpMs;
  const endMs = measureFromMs + load.measureMs;
  const state = { next: load.firstNumber };
  const times: number[] = [];

  async function drive(): Promise<void> {
    const socket = connect({ port: load.port, host: "127.0.0.1", noDelay: true }).setEncoding("latin1");
    const waiting: { text: string; wake: () => void } = { text: "", wake: () => undefined };
    socket.on("data", (chunk: string) => {
      waiting.text += chunk;
      waiting.wake();
    });
    async function say(line: string, expected: number): Promise<void> {
      if (line !== "") socket.write(line);
      while (!/^\d{3} .*\r\n$/m.test(waiting.text))
        await new Promise<void>((resolve) => (waiting.wake = resolve));
      if (!waiting.text.includes(`${expected} `)) throw new Error(`rejected: ${waiting.text}`);
      waiting.text = "";
    }
    await say("", 220);
    await say("EHLO load\r\n", 250);
    await say(`AUTH PLAIN ${Buffer.from(`\0${load.user}\0${load.key}`).toString("base64")}\r\n`, 235);
    while (performance.now() < endMs) {
      const number = state.next++;
      const atMs = performance.now();
      const place = String(number % ADDRESSES).padStart(NUMBER_DIGITS, "0");
      await say("MAIL FROM:<shop@sandbox.localhost>\r\n", 250);
      await say(`RCPT TO:<person-${place}@example.com>\r\n`, 250);
      await say("DATA\r\n", 354);
      await say(messageOf(number), 250);
      const nowMs = performance.now();
      if (nowMs >= measureFromMs && nowMs < endMs) times.push(nowMs - atMs);
    }
    socket.end("QUIT\r\n");
  }

  await Promise.all(Array.from({ length: load.connections }, drive));
  times.sort((one, other) => one - other);
  const percentile = (share: number) => times[Math.floor(times.length * share)] ?? Number.NaN;
  return {
    perSecond: (times.length * 1_000) / load.measureMs,
    p50Ms: percentile(0.5),
    p99Ms: percentile(0.99),
  };
}

process.once("message", (load) => {
  void work(load as SubmissionLoad).then((result) => process.send?.(result));
});
