// Lists the descendants of a process, to kill a program with all of its child processes.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

/** Returns the process ids below `pid`, parents before children. */
export function listDescendants(pid: number): number[] {
  const parents = process.platform === "linux" ? parentsFromProc() : parentsFromPs();
  const found = [pid];
  for (const parent of found) {
    for (const [child, itsParent] of parents) if (itsParent === parent) found.push(child);
  }
  return found.slice(1);
}

/** Reads /proc, because small systems have no ps. */
function parentsFromProc(): Array<[pid: number, parent: number]> {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const parent = /^\d+ \(.*\) \S (\d+)/s.exec(readFileSync(`/proc/${name}/stat`, "utf8"))?.[1];
        return parent === undefined ? [] : [[Number(name), Number(parent)] as [number, number]];
      } catch (error) {
        if (isGone(error)) return [];
        throw error;
      }
    });
}

function parentsFromPs(): Array<[pid: number, parent: number]> {
  return execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" })
    .trim()
    .split("\n")
    .map((line) => {
      const [pid = 0, parent = 0] = line.trim().split(/\s+/).map(Number);
      return [pid, parent];
    });
}

/** Sends SIGKILL to all processes; ignores those that have already ended. */
export function killAtOnce(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, "SIGKILL");
    } catch (error) {
      if (!isGone(error)) throw error;
    }
  }
}

function isGone(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ESRCH" || error.code === "ENOENT");
}
