// Reads a process's resource usage from the kernel (Linux).
import { readFileSync } from "node:fs";

/** The kernel counts in hundredths of a second on all current Linux platforms. */
const TICK_MS = 10;

export interface ProcessCost {
  cpuMs: number;
  /** Peak memory. */
  peakBytes: number;
  /** Current memory. */
  residentBytes: number;
}

export function costOf(pid: number): ProcessCost {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const kilobytes = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0);
  return {
    cpuMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS,
    peakBytes: kilobytes("VmHWM") * 1024,
    residentBytes: kilobytes("VmRSS") * 1024,
  };
}
