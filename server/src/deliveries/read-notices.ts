// Reads a batch of notices. Strangers write these while a transaction is open, so the time for costly ones is limited per batch.
import { nextTurn } from "../platform/background/turns.ts";
import { localPartOf } from "@postloft/contract/address.ts";
import { isReportName } from "../domains/reports/domain-reports.ts";
import type { DomainReport } from "../domains/reports/report.ts";
import type { ReportReader } from "../domains/reports/unpack-apart.ts";
import { AppError } from "../platform/app-error.ts";
import { TaskOverLimit } from "../platform/threads/task-thread.ts";
import { isCostly } from "./parse-apart.ts";
import type { NoticeRow } from "./queries.ts";
import {
  isAtProjectDomain,
  readReturnedMessage,
  type IncomingMessage,
  type AdminMessage,
} from "./returned-message.ts";
import type { ReturnPaths } from "./return-path.ts";
import { readSesEvent, type Report } from "./ses-events.ts";

export type Read =
  | { reports: Report[] }
  | { message: IncomingMessage }
  | { operator: AdminMessage }
  | { domainReport: DomainReport }
  | { ignored: string }
  /** Not read yet. */
  | { waitSeconds: number };

export interface ReadingDependencies {
  returnPaths: ReturnPaths;
  /** Domains that this server receives email for. */
  ownDomains: readonly string[];
  /** Reads receivers' reports about domains. */
  reportReader: Pick<ReportReader, "read">;
}

/** How long to retry a notice that can't be applied yet, because its email is unknown or it took too long to read. */
export const PATIENCE_SECONDS = 600;
/** A batch starts costly notices only within this time. */
const COSTLY_MS = 2_000;
/**
 * How long to wait for one costly notice, since its thread may be busy. Both limits together stay below the idle timeout of a transaction.
 */
const LONGEST_MS = 3_000;
const AGAIN_SECONDS = 5;
const MAX_FAULT_LENGTH = 200;

/** Reads each notice in its own turn of the event loop. */
export async function readAll(notices: readonly NoticeRow[], deps: ReadingDependencies): Promise<Read[]> {
  const read: Read[] = [];
  let costlyMs = 0;
  for (const notice of notices) {
    if (!isReadApart(notice, deps)) read.push(await readNotice(notice, deps));
    else if (costlyMs >= COSTLY_MS) read.push({ waitSeconds: AGAIN_SECONDS });
    else {
      const beganAtMs = performance.now();
      read.push(await readCostly(notice, deps));
      costlyMs += performance.now() - beganAtMs;
    }
    await nextTurn();
  }
  return read;
}

function isReadApart({ source, recipient, raw }: NoticeRow, { ownDomains }: ReadingDependencies): boolean {
  if (source !== "smtp") return false;
  return isForReports(recipient ?? "", ownDomains) || (raw !== null && isCostly(raw));
}

/** At a project's domain every address belongs to the project. */
const isForReports = (recipient: string, ownDomains: readonly string[]) =>
  isReportName(localPartOf(recipient)) && !isAtProjectDomain(recipient, ownDomains);

async function readCostly(notice: NoticeRow, deps: ReadingDependencies): Promise<Read> {
  const late = Promise.withResolvers<Read>();
  const timer = setTimeout(() => late.resolve({ waitSeconds: AGAIN_SECONDS }), LONGEST_MS);
  try {
    return await Promise.race([
      readNotice(notice, deps).catch((error: unknown) => unread(error, notice)),
      late.promise,
    ]);
  } finally {
    clearTimeout(timer);
  }
}

/** Returns when to retry. At first the machine may be slow; after ten minutes the message is to blame. */
function unread(error: unknown, { ageSeconds }: NoticeRow): Read {
  if (error instanceof AppError) return { waitSeconds: AGAIN_SECONDS };
  if (!(error instanceof TaskOverLimit)) throw error;
  return ageSeconds < PATIENCE_SECONDS
    ? { waitSeconds: Math.max(AGAIN_SECONDS, ageSeconds) }
    : { ignored: "ignored: took too long to read" };
}

async function readNotice(notice: NoticeRow, { reportReader, ...parts }: ReadingDependencies): Promise<Read> {
  if (notice.source === "sns") {
    const event = readSesEvent(notice.text ?? "");
    if (event === null) return { ignored: "no event in it" };
    return event.reports.length === 0
      ? { ignored: `nothing to do: ${event.type === "" ? "no type" : event.type}` }
      : { reports: [...event.reports] };
  }
  const envelope = { sender: notice.sender ?? "", recipient: notice.recipient ?? "" };
  if (isForReports(envelope.recipient, parts.ownDomains)) {
    const unpacked = await reportReader.read(notice.raw ?? Buffer.alloc(0));
    return "report" in unpacked
      ? { domainReport: unpacked.report }
      : { ignored: `ignored: ${unpacked.fault.slice(0, MAX_FAULT_LENGTH)}` };
  }
  const found = await readReturnedMessage(notice.raw ?? Buffer.alloc(0), envelope, parts);
  switch (found.kind) {
    case "reports":
      return { reports: found.reports };
    case "message":
      return { message: found.message };
    case "operator":
      return { operator: found.message };
    case "ignored":
      return { ignored: `ignored: ${found.why}` };
  }
}
