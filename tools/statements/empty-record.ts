// Vitest's global setup: deletes the statements recorded by an earlier run.
import { mkdir, rm } from "node:fs/promises";
import { RECORD_FOLDER } from "./statement-record.ts";

export async function setup(): Promise<void> {
  await rm(RECORD_FOLDER, { recursive: true, force: true });
  await mkdir(RECORD_FOLDER, { recursive: true });
}
