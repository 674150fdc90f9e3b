// The mail server of the benchmarks, a separate process that accepts and counts everything.
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";

/** Default number of connections, as in the program. */
export const CONNECTIONS = 20;

export interface BenchSink {
  port: number;
  /** Returns a MAIL_TRANSPORT setting for this server with the given number of connections. */
  transport(connections?: number): string;
  /** Returns the number of messages accepted so far. */
  taken(): Promise<number>;
  stop(): Promise<void>;
}

interface Said {
  port: number;
  taken: number;
}

const SERVER = fileURLToPath(new URL("sink-server.ts", import.meta.url));

export async function startSink({ chunking = true } = {}): Promise<BenchSink> {
  const child = fork(SERVER, chunking ? ["chunking"] : []);
  const asked: Array<PromiseWithResolvers<Said>> = [];
  child.on("message", (message) => asked.shift()?.resolve(message as Said));
  child.once("exit", (code) => {
    for (const { reject } of asked.splice(0)) reject(new Error(`the sink ended with code ${code}`));
  });
  /** Returns the next message of the process, which responds in order. */
  function respond(): Promise<Said> {
    const next = Promise.withResolvers<Said>();
    asked.push(next);
    return next.promise;
  }
  const { port } = await respond();
  return {
    port,
    transport: (connections = CONNECTIONS) => `smtp://127.0.0.1:${port}?connections=${connections}`,
    async taken() {
      child.send("taken");
      return (await respond()).taken;
    },
    stop: () =>
      new Promise((resolve) => {
        child.once("exit", () => resolve());
        child.disconnect();
      }),
  };
}
