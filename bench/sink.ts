// The mail server of the benchmarks: a process of its own that takes everything, and says how much.
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";

/** How many a sender opens to it, unless something else is said: as many as it does by itself. */
export const CONNECTIONS = 20;

export interface BenchSink {
  port: number;
  /** The setting MAIL_TRANSPORT that sends to it over so many connections. */
  transport(connections?: number): string;
  /** Messages taken so far. */
  taken(): Promise<number>;
  stop(): Promise<void>;
}

interface Said {
  port: number;
  taken: number;
}

const SERVER = fileURLToPath(new URL("sink-server.ts", import.meta.url));

export async function startSink(): Promise<BenchSink> {
  const child = fork(SERVER);
  const asked: Array<PromiseWithResolvers<Said>> = [];
  child.on("message", (message) => asked.shift()?.resolve(message as Said));
  child.once("exit", (code) => {
    for (const { reject } of asked.splice(0)) reject(new Error(`the sink ended with code ${code}`));
  });
  /** What it says next; it answers in order. */
  function answer(): Promise<Said> {
    const next = Promise.withResolvers<Said>();
    asked.push(next);
    return next.promise;
  }
  const { port } = await answer();
  return {
    port,
    transport: (connections = CONNECTIONS) => `smtp://127.0.0.1:${port}?connections=${connections}`,
    async taken() {
      child.send("taken");
      return (await answer()).taken;
    },
    stop: () =>
      new Promise((resolve) => {
        child.once("exit", () => resolve());
        child.disconnect();
      }),
  };
}
