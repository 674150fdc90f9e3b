// Changes many contacts: the selected ones, or all that match. The job runs on the server, and the URL contains its id.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState, type ComponentProps } from "react";
import type { BulkOperation } from "@postloft/contract/contact-bulk.ts";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { projectKey } from "../../api/query-key.ts";
import { query } from "../../api/query.ts";
import { plural, t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmDialog } from "../../ui/confirm-dialog.tsx";
import { Card } from "../../ui/page.tsx";
import { Failure } from "../../ui/states.tsx";
import { useUndoToast } from "../use-undo.ts";
import { AddToSegment } from "./add-to-segment.tsx";
import { JobProgress, useJob } from "./job-progress.tsx";
import { invalidateContactLists, type ContactsList } from "./contact-list.ts";
import type { Selection } from "./selection.ts";

const CALLS = {
  subscribe: api.contacts.bulkSubscribe,
  unsubscribe: api.contacts.bulkUnsubscribe,
  delete: api.contacts.bulkDelete,
};

/** The inverse of a change, for the contacts it affects. */
interface Reverse {
  operation: "subscribe" | "unsubscribe";
  contactIds: string[];
}

interface BulkBarProps {
  projectId: string;
  selection: Selection;
  /** The displayed list, whether its total is known, and a query for the current total. */
  list: Pick<ContactsList, "rows" | "countAll" | "recount">;
  onStarted: (jobId: string) => void;
}

/** Returns the change that restores all affected contacts, or null if those are unknown. */
function reverseOf(
  operation: BulkOperation,
  { selection, list: { rows: shown = [] } }: BulkBarProps,
): Reverse | null {
  const body = selection.body();
  if (operation === "delete" || body.mode !== "ids") return null;
  const ids = new Set(body.contactIds);
  const flips = shown.filter(
    ({ id, subscribed }) => ids.has(id) && subscribed !== (operation === "subscribe"),
  );
  if (flips.length === 0) return null;
  const opposite = operation === "subscribe" ? "unsubscribe" : "subscribe";
  return { operation: opposite, contactIds: flips.map(({ id }) => id) };
}

const reverseKey = (projectId: string, jobId: string) => [...projectKey(projectId), "bulk-reverse", jobId];

export function BulkBar(props: BulkBarProps) {
  const { projectId, selection, list, onStarted } = props;
  const queries = useQueryClient();
  /** Asked before permanent changes and those that cannot be undone. */
  const [asked, setAsked] = useState<BulkOperation | null>(null);
  const starting = useMutation({
    mutationFn: async (operation: BulkOperation) => {
      const reverse = reverseOf(operation, props);
      const { jobId } = await call(CALLS[operation], { projectId, body: selection.body() });
      queries.setQueryData(reverseKey(projectId, jobId), reverse);
      return { jobId };
    },
    onSuccess: ({ jobId }) => {
      setAsked(null);
      selection.clear();
      onStarted(jobId);
    },
  });
  if (selection.count === 0) return null;
  const act = (operation: BulkOperation) => () =>
    selection.isAll || operation === "delete" ? setAsked(operation) : starting.mutate(operation);
  return (
    <div
      role="region"
      aria-label={t("Selected contacts")}
      className="sticky bottom-3 z-10 mt-3 flex flex-wrap items-center gap-2 rounded-lg bg-raised px-4 py-2.5 shadow-float"
    >
      <span className="mr-auto text-sm font-medium" aria-live="polite">
        {plural(selection.count, "{n} selected", "{n} selected")}
      </span>
      {selection.canTakeAll && (
        <Button look="quiet" onClick={selection.takeAll}>
          {plural(selection.total, "Select the {n} match", "Select all {n} matches")}
        </Button>
      )}
      {selection.isShownChosen && list.countAll !== null && (
        <Button look="quiet" busy={list.countAll.isBusy} onClick={list.countAll.start}>
          {t("Count all matches")}
        </Button>
      )}
      {!selection.isAll && <AddButton {...props} />}
      <Button disabled={starting.isPending} onClick={act("subscribe")}>
        {t("Subscribe")}
      </Button>
      <Button disabled={starting.isPending} onClick={act("unsubscribe")}>
        {t("Unsubscribe")}
      </Button>
      <Button disabled={starting.isPending} onClick={act("delete")}>
        {t("Delete")}
      </Button>
      <Button look="quiet" onClick={selection.clear}>
        {t("Clear selection")}
      </Button>
      {starting.isError && asked === null && <Failure error={starting.error} />}
      {asked !== null && (
        <BulkDialog
          operation={asked}
          selection={selection}
          list={list}
          doing={{
            error: starting.error,
            isPending: starting.isPending,
            mutate: () => starting.mutate(asked),
          }}
          onClose={() => setAsked(null)}
        />
      )}
    </div>
  );
}

/** Adds the selected contacts to a manual list. All matches of a filter are a dynamic segment instead. */
function AddButton({ projectId, selection, list: { rows } }: BulkBarProps) {
  const [isOpen, setOpen] = useState(false);
  /** Of all rows that were shown since the first one was ticked, because another order replaces them. */
  const [emailOf] = useState(() => new Map<string, string>());
  useEffect(() => rows?.forEach(({ id, email }) => emailOf.set(id, email)), [rows, emailOf]);
  const body = selection.body();
  const { contactIds: ids = [] } = body.mode === "ids" ? body : {};
  return (
    <>
      <Button onClick={() => setOpen(true)}>{t("Add to segment")}</Button>
      {isOpen && (
        <AddToSegment
          projectId={projectId}
          emails={ids.flatMap((id) => emailOf.get(id) ?? [])}
          onDone={selection.clear}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  );
}

interface Question {
  title: (count: number) => string;
  /** Title while the number is unknown. */
  titleOfAll: string;
  about: string;
  action: string;
}

const QUESTIONS: Record<BulkOperation, Question> = {
  subscribe: {
    title: (count) => plural(count, "Subscribe {n} contact?", "Subscribe {n} contacts?"),
    titleOfAll: t("Subscribe all matching contacts?"),
    about: t("They will get marketing email again, even if they unsubscribed themselves."),
    action: t("Subscribe"),
  },
  unsubscribe: {
    title: (count) => plural(count, "Unsubscribe {n} contact?", "Unsubscribe {n} contacts?"),
    titleOfAll: t("Unsubscribe all matching contacts?"),
    about: t("They won't get marketing email until you subscribe them again."),
    action: t("Unsubscribe"),
  },
  delete: {
    title: (count) => plural(count, "Delete {n} contact?", "Delete {n} contacts?"),
    titleOfAll: t("Delete all matching contacts?"),
    about: t("Their data and events are deleted permanently. Pending emails to them are canceled."),
    action: t("Delete"),
  },
};

interface BulkDialogProps extends Pick<BulkBarProps, "selection" | "list"> {
  operation: BulkOperation;
  doing: ComponentProps<typeof ConfirmDialog>["doing"];
  onClose: () => void;
}

/** Shows how many contacts would change. Counts all matches when it opens, because the list may be old. */
function BulkDialog({ operation, selection, list, doing, onClose }: BulkDialogProps) {
  const counting = useQuery({ ...list.recount, enabled: selection.isAll, gcTime: 0, staleTime: Infinity });
  const isKnown = !selection.isAll || counting.data !== undefined;
  const { title, titleOfAll, about, action } = QUESTIONS[operation];
  return (
    <ConfirmDialog
      title={isKnown ? title(selection.countOf(counting.data ?? 0)) : titleOfAll}
      description={about}
      action={action}
      look={operation === "subscribe" ? "primary" : "danger"}
      keep={t("Cancel")}
      doing={
        isKnown
          ? doing
          : {
              error: counting.error,
              isPending: counting.isFetching,
              mutate: () => void counting.refetch(),
            }
      }
      onClose={onClose}
    />
  );
}

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
};

export function BulkJob({ projectId, jobId, onUndo, onClose }: BulkJobProps) {
  const queries = useQueryClient();
  const job = useJob(query(api.contacts.getBulk, { projectId, params: { jobId } }));
  const { data } = job;
  const isOver = data?.state === "completed";
  const done = useUndoToast(projectId);
  useEffect(() => {
    if (!isOver) return;
    void invalidateContactLists(queries, projectId);
    const key = reverseKey(projectId, jobId);
    const reverse = queries.getQueryData<Reverse | null>(key);
    if (reverse == null) return;
    queries.removeQueries({ queryKey: key });
    const { operation, contactIds } = reverse;
    const undo = async () =>
      onUndo((await call(CALLS[operation], { projectId, body: { mode: "ids", contactIds } })).jobId);
    done(operation === "subscribe" ? t("Unsubscribed") : t("Subscribed"), {
      description: plural(contactIds.length, "{n} contact", "{n} contacts"),
      undo,
      isShownElsewhere: true,
    });
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- notify once, when the job has ended
  }, [isOver]);
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
          <p className="text-sm" role="status">
            <span className="font-medium">{NAMES[data.result.operation]}:</span>{" "}
            {t("{changed} updated, {unchanged} unchanged, {failed} failed.", {
              changed: data.result.successCount,
              unchanged: data.result.unchangedCount,
              failed: data.result.failureCount,
            })}
          </p>
        )}
      </div>
      {(isOver || data.state === "failed") && close}
    </Card>
  );
}
