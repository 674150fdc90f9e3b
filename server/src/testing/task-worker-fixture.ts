// Runs on a thread in tests of platform/threads/task-thread.ts, and adds, fails, never ends, takes all memory or waits on request.
import { runTasks } from "../platform/threads/task-worker.ts";

runTasks((task: number | "fail" | "hang" | "hoard" | { waitMs: number }): number => {
  if (typeof task === "object") {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, task.waitMs);
    return task.waitMs;
  }
  if (task === "fail") throw new Error("as it was told");
  while (task === "hang");
  const hoard: number[][] = [];
  while (task === "hoard") hoard.push(Array.from({ length: 10_000 }, () => Math.random()));
  return Number(task) + 1;
});
