// Shows the progress and the result of a bulk change, with its undo.
import { skipToken, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect } from "react";
import type { BulkOperation, BulkResult } from "@postloft/contract/contact-bulk.ts";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { projectKey } from "../../api/query-key.ts";
import { query } from "../../api/query.ts";
import { t } from "../../text/t.ts";
import { Button, buttonClass } from "../../ui/button.tsx";
import { Card } from "../../ui/page.tsx";
import { Failure } from "../../ui/states.tsx";
import { invalidateContactLists } from "./contact-list.ts";
import { JobProgress, useJob } from "./job-progress.tsx";

const UNDO_CALLS = { subscribe: api.contacts.bulkSubscribe, unsubscribe: api.contacts.bulkUnsubscribe };

/** The inverse of a change, for the contacts it affects. */
export interface Reverse {
  operation: "subscribe" | "unsubscribe";
  contactIds: string[];
}

/** What the page offers when the job has ended. It is lost if the page is reloaded before. */
export interface Sequel {
  reverse?: Reverse | null;
  /** When the undo is withdrawn. Set when the job has ended. */
  undoUntilMs?: number;
  /** The segment that contacts were added to. */
  segmentId?: string;
}

export const sequelKey = (projectId: string, jobId: string) => [
  ...projectKey(projectId),
  "bulk-sequel",
  jobId,
];

const SHOWN_ERRORS = 3;
/** Later, contacts may have unsubscribed themselves, and an undo would subscribe them again. */
const UNDO_OFFERED_MS = 60_000;

interface BulkJobProps {
  projectId: string;
  jobId: string;
  onUndo: (jobId: string) => void;
  onClose: () => void;
}

const NAMES: Record<BulkOperation, string> = {
  subscribe: t("Subscribed"),
  unsubscribe: t("Unsubscribed"),
  delete: t("Deleted"),
  update: t("Field changed"),
  addToSegment: t("Added to segment"),
};

/** Reads the changed contacts again when the job has ended. */
function useRereading(
  projectId: string,
  { result, isFailed }: { result: BulkResult | null; isFailed: boolean },
) {
  const queries = useQueryClient();
  useEffect(() => {
    // A job that failed may have changed contacts before.
    if (isFailed) void queries.invalidateQueries({ queryKey: projectKey(projectId) });
  }, [isFailed, queries, projectId]);
  useEffect(() => {
    if (result === null) return;
    const isInLists = result.operation !== "update" && result.operation !== "addToSegment";
    // Fields and segments are shown on many pages.
    void (isInLists
      ? invalidateContactLists(queries, projectId)
      : queries.invalidateQueries({ queryKey: projectKey(projectId) }));
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- read once, when the job has ended
  }, [result === null]);
}

const NO_SEQUEL: Sequel = {};

/** Returns what the page offers when the job has ended, with the undo for a limited time. */
function useSequel(projectId: string, jobId: string, isOver: boolean): Sequel {
  const queries = useQueryClient();
  const queryKey = sequelKey(projectId, jobId);
  // Observed from the beginning, because an entry without an observer is removed after some minutes.
  const { data: sequel = NO_SEQUEL } = useQuery<Sequel>({ queryKey, queryFn: skipToken });
  const hasUndo = isOver && sequel.reverse != null;
  const { undoUntilMs } = sequel;
  useEffect(() => {
    if (!hasUndo) return;
    const change = (to: Partial<Sequel>) =>
      queries.setQueryData<Sequel>(sequelKey(projectId, jobId), (now) => ({ ...now, ...to }));
    if (undoUntilMs === undefined) return void change({ undoUntilMs: Date.now() + UNDO_OFFERED_MS });
    const timer = setTimeout(() => change({ reverse: null }), undoUntilMs - Date.now());
    return () => clearTimeout(timer);
  }, [hasUndo, undoUntilMs, queries, projectId, jobId]);
  return sequel;
}

interface SequelsProps extends Omit<BulkJobProps, "onClose"> {
  sequel: Sequel;
}

/** Offers to undo a change of subscriptions, or leads to the segment. */
function Sequels({ projectId, jobId, sequel: { reverse, segmentId }, onUndo }: SequelsProps) {
  const queries = useQueryClient();
  const undoing = useMutation({
    mutationFn: ({ operation, contactIds }: Reverse) =>
      call(UNDO_CALLS[operation], { projectId, body: { mode: "ids", contactIds } }),
    onSuccess: (undo) => {
      queries.removeQueries({ queryKey: sequelKey(projectId, jobId) });
      onUndo(undo.jobId);
    },
  });
  return (
    <>
      {undoing.isError && <Failure error={undoing.error} />}
      {reverse != null && (
        <Button busy={undoing.isPending} onClick={() => undoing.mutate(reverse)}>
          {t("Undo")}
        </Button>
      )}
      {segmentId !== undefined && (
        <Link
          to="/$projectId/segments/$segmentId"
          params={{ projectId, segmentId }}
          className={buttonClass("plain")}
        >
          {t("Open segment")}
        </Link>
      )}
    </>
  );
}

export function BulkJob({ projectId, jobId, onUndo, onClose }: BulkJobProps) {
  const job = useJob(query(api.contacts.getBulk, { projectId, params: { jobId } }));
  const { data } = job;
  const isOver = data?.state === "completed";
  const sequel = useSequel(projectId, jobId, isOver);
  useRereading(projectId, { result: data?.result ?? null, isFailed: data?.state === "failed" });
  const close = (
    <Button look="quiet" onClick={onClose}>
      {t("Close")}
    </Button>
  );
  if (job.isError)
    return (
      <div className="mb-4 flex flex-wrap items-start gap-2">
        <div className="min-w-60 flex-1">
          <Failure error={job.error} onRetry={() => void job.refetch()} />
        </div>
        {close}
      </div>
    );
  if (data === undefined) return null;
  return (
    <Card className="mb-4 flex flex-wrap items-center gap-4 px-5 py-3.5">
      <div className="min-w-60 flex-1">
        {data.result === null ? (
          data.state === "failed" ? (
            <p className="text-sm text-bad">{data.failedReason}</p>
          ) : (
            <JobProgress label={t("Updating contacts")} job={data} />
          )
        ) : (
          <Outcome result={data.result} />
        )}
      </div>
      {isOver && <Sequels {...{ projectId, jobId, sequel, onUndo }} />}
      {(isOver || data.state === "failed") && close}
    </Card>
  );
}

/** Shows the counts, and why the first contacts failed. */
function Outcome({ result }: { result: BulkResult }) {
  return (
    <div className="text-sm" role="status">
      <p>
        <span className="font-medium">{NAMES[result.operation]}:</span>{" "}
        {t("{changed} updated, {unchanged} unchanged, {failed} failed.", {
          changed: result.successCount,
          unchanged: result.unchangedCount,
          failed: result.failureCount,
        })}
      </p>
      {result.errors.length > 0 && (
        <ul className="mt-1 text-soft">
          {result.errors.slice(0, SHOWN_ERRORS).map(({ contactId, email, error }) => (
            <li key={contactId}>{email === null ? error : `${email}: ${error}`}</li>
          ))}
        </ul>
      )}
    </div>
  );
}
