// Prepares and queues imports, and reads their state.
import type * as contract from "@postloft/contract/contact-import.ts";
import type { ImportResult } from "@postloft/contract/contact-import.ts";
import type { JobState } from "@postloft/contract/job.ts";
import type { UploadedFile } from "@postloft/contract/field.ts";
import type { FieldError } from "@postloft/contract/errors.ts";
import type { z } from "zod";
import { AppError, invalidField } from "../../platform/app-error.ts";
import { addJob, listJobs, readJob, type JobView } from "../../platform/background/jobs.ts";
import type { Database, Tx } from "../../platform/database/database.ts";
import { toPage, type PageRequest } from "../../platform/http/page.ts";
import { isId } from "../../platform/ids.ts";
import { createTaskThread, TaskOverLimit } from "../../platform/threads/task-thread.ts";
import type { ImportOptions } from "./import-input.ts";
import { prepareImport, type FileOptions, type PreparedImport } from "./prepare-import.ts";

export interface PrepareTask {
  file: UploadedFile;
  options: ImportOptions;
  fileOptions: FileOptions;
}

export type Prepared =
  | { is: "prepared"; prepared: PreparedImport }
  | { is: "rejected"; fields: readonly FieldError[] };

/** Files up to this size are prepared right away, in a few milliseconds. An archive may contain much more, so it never is. */
const QUICK_BYTES = 64 * 1024;
const ZIP_START = "PK";
/** The largest file takes 0.3 s. */
const DEADLINE_MS = 10_000;
const WAITING = { waitingPerOwner: 10, waiting: 100 };

/** One thread per process, released when idle. */
const thread = createTaskThread<PrepareTask, Prepared>({
  module: new URL("./prepare-worker.ts", import.meta.url),
  deadlineMs: DEADLINE_MS,
  ...WAITING,
});

/**
 * Finds the table of a file and maps its columns, on a separate thread if the file is large.
 * @throws AppError VALIDATION_ERROR for `file` or `mapping`, with every problem that is visible without reading each row;
 * RATE_LIMIT_EXCEEDED if too many files wait.
 */
export async function prepareApart(projectId: string, task: PrepareTask): Promise<PreparedImport> {
  const { bytes } = task.file;
  const isArchive = Buffer.from(bytes.subarray(0, ZIP_START.length)).toString("latin1") === ZIP_START;
  if (bytes.length <= QUICK_BYTES && !isArchive)
    return prepareImport(task.file, task.options, task.fileOptions);
  const result = await thread.run(projectId, task).catch((error: unknown) => {
    if (!(error instanceof TaskOverLimit)) throw error;
    throw invalidField(
      "file",
      "custom",
      "This file takes too much time or memory to read. Send it in parts, each with the header row.",
    );
  });
  if (result.is === "rejected") throw new AppError("VALIDATION_ERROR", { fields: result.fields });
  const { input, bytes: rows } = result.prepared;
  return { input, bytes: Buffer.from(rows.buffer, rows.byteOffset, rows.byteLength) };
}

/** Queues an import of a kind and returns the id of its job. */
export async function addImport(
  tx: Tx,
  projectId: string,
  kind: string,
  { input, bytes }: PreparedImport,
): Promise<string> {
  return addJob(tx, { projectId, kind, input, bytes });
}

/** @throws AppError JOB_NOT_FOUND, also for a job of another project or another kind. */
export async function getImport(
  database: Database,
  projectId: string,
  kind: string,
  id: string,
): Promise<JobView<ImportResult>> {
  const job = isId(id) ? await readJob<ImportResult>(database, { projectId, id }, [kind]) : undefined;
  if (job === undefined) throw new AppError("JOB_NOT_FOUND");
  return job;
}

/** The name of the list in its cursors. */
export const IMPORTS = "imports";

const COUNTS = ["createdCount", "updatedCount", "failureCount"] as const;
type Counts = Pick<ImportResult, (typeof COUNTS)[number]>;

/** Returns a page of the imports of a kind, newest first, without dry runs. */
export async function listImports(
  database: Database,
  projectId: string,
  kind: string,
  request: PageRequest,
): Promise<z.output<(typeof contract.listImports)["responses"][200]>> {
  const rows = await listJobs<Counts>(database, { projectId, kind, keys: COUNTS }, request);
  return toPage(IMPORTS, request, rows, ({ id, state, result, isUndone, createdAt, finishedAt }) => ({
    jobId: id,
    state: state as JobState,
    createdCount: result?.createdCount ?? null,
    updatedCount: result?.updatedCount ?? null,
    failureCount: result?.failureCount ?? null,
    isUndone,
    createdAt: createdAt.toISOString(),
    finishedAt: finishedAt?.toISOString() ?? null,
  }));
}
