// Sends a planned file to the API, in one request or, for large files, in several consecutive ones.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { call, CallError, upload } from "../../../api/call.ts";
import { api } from "../../../api/endpoints.ts";
import { t } from "../../../text/t.ts";
import { mappingOf, type ChosenFile } from "./import-plan.ts";
import { splitTable } from "./split-table.ts";

const POLL_MS = 1_000;
const WHOLE = 100;

export interface SendProgress {
  /** Counted from 1. */
  part: number;
  parts: number;
  /** Between 0 and 1. */
  share: number;
}

interface Sending {
  projectId: string;
  chosen: ChosenFile;
  dryRun: boolean;
  signal: AbortSignal;
  /** Jobs of the parts sent by an interrupted attempt. Each sent part is appended. */
  jobs: string[];
  onProgress: (progress: SendProgress) => void;
}

/**
 * Sends all parts not sent yet. Each part waits for the previous one, so that the last row of a contact wins.
 * @returns the jobs of all parts. The last one may still run.
 * @throws CallError if a part can't be sent or its job fails. Calling it again with the same `jobs` continues with that part.
 */
export async function sendImport({
  projectId,
  chosen,
  dryRun,
  signal,
  jobs,
  onProgress,
}: Sending): Promise<string[]> {
  const { planned } = chosen;
  const { separator, start } = planned.table;
  const parts = await splitTable({ text: planned.text, separator, start }, LIMITS.importFileBytes.value);
  const fields = { mapping: JSON.stringify(mappingOf(planned)) };
  const { segment, resubscribes, decimal } = chosen.options;
  const options = {
    ...(dryRun ? { dryRun: "true" as const } : {}),
    ...(segment === null || !("id" in segment) ? {} : { segmentId: segment.id }),
    ...(resubscribes ? { resubscribe: "true" as const } : {}),
    ...(decimal === "comma" ? { decimal } : {}),
  };
  const report = (at: number, share: number) =>
    onProgress({ part: at + 1, parts: parts.length, share: (at + share) / parts.length });
  for (const part of parts.slice(jobs.length)) {
    const at = jobs.length;
    const before = jobs.at(-1);
    const failure =
      before === undefined ? null : await finish(projectId, before, signal, (share) => report(at - 1, share));
    if (failure !== null) {
      jobs.pop();
      throw new CallError(failure);
    }
    report(at, 0);
    const file = new File([part.text], planned.name, { type: "text/csv" });
    const query = { ...options, ...(part.rowOffset === 0 ? {} : { rowOffset: String(part.rowOffset) }) };
    const { jobId } = await upload(api.contacts.import, { projectId, query, signal }, file, { fields });
    jobs.push(jobId);
  }
  return jobs;
}

/** Waits until a job has ended. Returns why it failed, or null. */
async function finish(
  projectId: string,
  jobId: string,
  signal: AbortSignal,
  onProgress: (share: number) => void,
): Promise<string | null> {
  for (;;) {
    const { state, progress, failedReason } = await call(api.contacts.getImport, {
      projectId,
      params: { jobId },
      signal,
    });
    if (state === "completed") return null;
    if (state === "failed") return failedReason ?? t("Couldn't complete the import");
    onProgress(progress / WHOLE);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Creates the segment that a plan names, and returns the plan with its id. */
export async function withSegment(projectId: string, chosen: ChosenFile): Promise<ChosenFile> {
  const { segment } = chosen.options;
  if (segment === null || !("name" in segment)) return chosen;
  const { id } = await call(api.segments.create, { projectId, body: { name: segment.name, type: "STATIC" } });
  return { ...chosen, options: { ...chosen.options, segment: { id } } };
}
