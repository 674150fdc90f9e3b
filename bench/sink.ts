// The mail server of the benchmarks: a process of its own that takes everything, and says how much.
// Before it: deliver.ts and fairness.ts start it. After it: sink-server.ts is that process.
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";

export interface BenchSink {
  port: number;
  /** Messages taken so far. */
  taken(): Promise<number>;
  stop(): Promise<void>;
}

const SERVER = fileURLToPath(new URL("sink-server.ts", import.meta.url));

export async function startSink(): Promise<BenchSink> {
  const child = fork(SERVER);
  const answer = <T>() =>
    new Promise<T>((resolve, reject) => {
      child.once("message", (message) => resolve(message as T));
      child.once("exit", (code) => reject(new Error(`the sink ended with code ${code}`)));
    });
  const { port } = await answer<{ port: number }>();
  return {
    port,
    async taken() {
      child.send("taken");
      return (await answer<{ taken: number }>()).taken;
    },
    stop: () =>
      new Promise((resolve) => {
        child.once("exit", () => resolve());
        child.disconnect();
      }),
  };
}
