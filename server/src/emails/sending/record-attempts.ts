// Writes logs and metrics for each attempt.
import type { Log } from "../../platform/log.ts";
import type { Metrics } from "../../platform/metrics.ts";
import type { Ready, Unready } from "../rows/prepared.ts";
import type { Outcome, Transport } from "../../transports/transport.ts";
import { kindOf } from "../rows/rules.ts";
import type { ClaimedRow } from "../rows/claimed-queries.ts";

/** Returns the ids that identify an email in the log. */
export function idsOf({ row }: { row: ClaimedRow }) {
  return { projectId: row.projectId, emailId: row.id };
}

/** The label of metrics for all transports of projects. */
const OF_PROJECT = "project";

interface Noted {
  metrics: Metrics;
  log: Log;
  transport: Transport;
}

/** Counts and logs an attempt. */
export function addAttempt(mail: Ready, outcome: Outcome, { metrics, log, transport }: Noted): void {
  const by = ("by" in outcome ? outcome.by : undefined) ?? transport.name;
  // All transports of projects count as one, because each name would be a time series of its own.
  const counted = (mail.chosen?.own ?? null) === null || mail.row.staysHere === true ? by : OF_PROJECT;
  metrics.emailOutcomes.inc({ outcome: outcome.kind, kind: kindOf(mail.row.priority), transport: counted });
  const level = outcome.kind === "rejected" || outcome.kind === "uncertain" ? "info" : "debug";
  log[level](
    { ...idsOf(mail), attempt: mail.message.attempt, transport: by, ...outcome },
    "an attempt ended",
  );
}

/** Counts and logs an email that could not be prepared or is no longer wanted. */
export function addUnready(mail: Unready, { metrics, log }: Noted): void {
  metrics.emailOutcomes.inc({ outcome: mail.kind, kind: kindOf(mail.row.priority), transport: "" });
  log.info({ ...idsOf(mail), reason: mail.reason }, `a mail was ${mail.kind} before its handover`);
}
