// Vitest's global setup: what an earlier run wrote down of its statements is gone.
import { mkdir, rm } from "node:fs/promises";
import { RECORD_FOLDER } from "./statement-record.ts";

export async function setup(): Promise<void> {
  await rm(RECORD_FOLDER, { recursive: true, force: true });
  await mkdir(RECORD_FOLDER, { recursive: true });
}
