// `npm run bench start [times]`: how soon the program is ready, on an empty folder and on one that is there.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { BOOTSTRAP, makeDataFolder, startProgram } from "../e2e/program.ts";
import { percentile } from "./latency.ts";
import { readNumbers } from "./read-numbers.ts";
import { oneDecimal, printTable, progress, whole } from "./table.ts";

const TIMES = 7;

export async function benchStart(): Promise<void> {
  const [times = TIMES] = readNumbers([TIMES]);
  const bare: number[] = [];
  const first: number[] = [];
  const later: number[] = [];
  for (let turn = 1; turn <= times; turn++) {
    progress(`start ${turn} of ${times}`);
    bare.push(await startNode());
    const folder = await makeDataFolder();
    try {
      first.push(await startOnce({ DATA_DIR: folder.path, ...BOOTSTRAP }));
      later.push(await startOnce({ DATA_DIR: folder.path }));
    } finally {
      await folder.remove();
    }
  }
  const floor = percentile(bare, 0.5);
  const row = (what: string, ms: readonly number[]) => [
    what,
    whole(percentile(ms, 0.5)),
    whole(percentile(ms, 1)),
    oneDecimal(percentile(ms, 0.5) / floor),
  ];
  printTable(
    ["start", "ready: p50 ms", "longest ms", "× bare Node.js"],
    [
      row("bare Node.js, to its end", bare),
      row("an empty folder", first),
      row("a folder that is there", later),
    ],
  );
}

async function startOnce(settings: Readonly<Record<string, string>>): Promise<number> {
  const program = await startProgram(settings);
  await program.stop();
  return program.readyMs;
}

async function startNode(): Promise<number> {
  const startedMs = performance.now();
  await once(spawn(process.execPath, ["--eval", ""], { stdio: "ignore" }), "exit");
  return performance.now() - startedMs;
}
