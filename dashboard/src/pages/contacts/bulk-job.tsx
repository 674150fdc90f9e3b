// Shows the progress and the result of a bulk change.
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect } from "react";
import type { BulkOperation, BulkResult } from "@postloft/contract/contact-bulk.ts";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { projectKey } from "../../api/query-key.ts";
import { query } from "../../api/query.ts";
import { plural, t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/page.tsx";
import { Failure } from "../../ui/states.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { useUndoToast } from "../use-undo.ts";
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
  /** The segment that contacts were added to. */
  segmentId?: string;
}

export const sequelKey = (projectId: string, jobId: string) => [
  ...projectKey(projectId),
  "bulk-sequel",
  jobId,
];

const SHOWN_ERRORS = 3;

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

/** Shows a toast once when the job has ended: the undo of a subscription change, or the way to the segment. */
function useSequel(
  { projectId, jobId, onUndo }: BulkJobProps,
  { result, isFailed }: { result: BulkResult | null; isFailed: boolean },
) {
  const queries = useQueryClient();
  const toast = useToast();
  const navigate = useNavigate();
  const done = useUndoToast(projectId);
  const offerUndo = ({ operation, contactIds }: Reverse) => {
    const undo = async () =>
      onUndo((await call(UNDO_CALLS[operation], { projectId, body: { mode: "ids", contactIds } })).jobId);
    done(operation === "subscribe" ? t("Unsubscribed") : t("Subscribed"), {
      description: plural(contactIds.length, "{n} contact", "{n} contacts"),
      undo,
      isShownElsewhere: true,
    });
  };
  const offerSegment = (added: number, segmentId: string) =>
    toast(plural(added, "{n} contact added to the segment.", "{n} contacts added to the segment."), {
      action: {
        label: t("Open segment"),
        run: () => void navigate({ to: "/$projectId/segments/$segmentId", params: { projectId, segmentId } }),
      },
    });
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
    const key = sequelKey(projectId, jobId);
    const { reverse, segmentId } = queries.getQueryData<Sequel>(key) ?? {};
    queries.removeQueries({ queryKey: key });
    if (reverse != null) offerUndo(reverse);
    if (segmentId !== undefined) offerSegment(result.successCount, segmentId);
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- notify once, when the job has ended
  }, [result === null]);
}

export function BulkJob(props: BulkJobProps) {
  const { projectId, jobId, onClose } = props;
  const job = useJob(query(api.contacts.getBulk, { projectId, params: { jobId } }));
  const { data } = job;
  const isOver = data?.state === "completed";
  useSequel(props, { result: data?.result ?? null, isFailed: data?.state === "failed" });
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
