// Changes many contacts: the selected ones, or all that match. The job runs on the server, and the URL contains its id.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState, type ComponentProps } from "react";
import type { BulkOperation } from "@postloft/contract/contact-bulk.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { plural, t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmDialog } from "../../ui/confirm-dialog.tsx";
import { Failure } from "../../ui/states.tsx";
import { AddToSegment } from "./add-to-segment.tsx";
import { sequelKey, type Reverse, type Sequel } from "./bulk-job.tsx";
import type { ContactsList } from "./contact-list.ts";
import type { Selection } from "./selection.ts";
import { SetField } from "./set-field.tsx";
import { useSelectedCount } from "./use-selected-count.ts";

/** A change without a dialog of its own. */
type PlainOperation = Exclude<BulkOperation, "update" | "addToSegment">;

const CALLS = {
  subscribe: api.contacts.bulkSubscribe,
  unsubscribe: api.contacts.bulkUnsubscribe,
  delete: api.contacts.bulkDelete,
};

interface BulkBarProps {
  projectId: string;
  selection: Selection;
  /** The displayed list, whether its total is known, and a query for the current total. */
  list: Pick<ContactsList, "rows" | "countAll" | "recount">;
  onStarted: (jobId: string) => void;
}

/** Returns the change that restores all affected contacts, or null if those are unknown. */
function reverseOf(
  operation: PlainOperation,
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

/** Starts changes. Asks first if a change is permanent or can't be undone. */
function useStarting(props: BulkBarProps) {
  const { projectId, selection, onStarted } = props;
  const queries = useQueryClient();
  const [asked, setAsked] = useState<PlainOperation | null>(null);
  const finish = (jobId: string, sequel: Sequel) => {
    queries.setQueryData(sequelKey(projectId, jobId), sequel);
    setAsked(null);
    selection.clear();
    onStarted(jobId);
  };
  const starting = useMutation({
    mutationFn: async (operation: PlainOperation) => {
      const reverse = reverseOf(operation, props);
      const { jobId } = await call(CALLS[operation], { projectId, body: selection.body() });
      return { jobId, reverse };
    },
    onSuccess: ({ jobId, reverse }) => finish(jobId, { reverse }),
  });
  return { starting, asked, setAsked, finish };
}

export function BulkBar(props: BulkBarProps) {
  const { projectId, selection, list } = props;
  const { starting, asked, setAsked, finish } = useStarting(props);
  if (selection.count === 0) return null;
  const isTooMany = !selection.isAll && selection.count > LIMITS.bulkContacts.value;
  const isOff = isTooMany || starting.isPending;
  const act = (operation: PlainOperation) => () =>
    selection.isAll || operation === "delete" ? setAsked(operation) : starting.mutate(operation);
  return (
    <div
      role="region"
      aria-label={t("Selected contacts")}
      className="sticky bottom-3 z-10 mt-3 flex flex-wrap items-center gap-2 rounded-lg bg-raised px-4 py-2.5 shadow-float"
    >
      <span className="mr-auto text-sm font-medium" aria-live="polite">
        {plural(selection.count, "{n} selected", "{n} selected")}
        {isTooMany && (
          <span className="block font-normal text-soft">
            {t("Select at most {most} contacts, or all matches.", { most: LIMITS.bulkContacts.value })}
          </span>
        )}
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
      <DialogButtons {...{ projectId, selection, list, isOff }} onStarted={finish} />
      <Button disabled={isOff} onClick={act("subscribe")}>
        {t("Subscribe")}
      </Button>
      <Button disabled={isOff} onClick={act("unsubscribe")}>
        {t("Unsubscribe")}
      </Button>
      <Button disabled={isOff} onClick={act("delete")}>
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

/** The buttons that open a dialog to ask for a value. The bar closes with its dialogs when a change has started. */
function DialogButtons({
  onStarted,
  isOff,
  ...common
}: Omit<BulkBarProps, "onStarted"> & {
  isOff: boolean;
  onStarted: (jobId: string, sequel: Sequel) => void;
}) {
  const [open, setOpen] = useState<"field" | "segment" | null>(null);
  const close = () => setOpen(null);
  return (
    <>
      <Button disabled={isOff} onClick={() => setOpen("field")}>
        {t("Set field")}
      </Button>
      <Button disabled={isOff} onClick={() => setOpen("segment")}>
        {t("Add to segment")}
      </Button>
      {open === "field" && (
        <SetField {...common} onStarted={(jobId) => onStarted(jobId, {})} onClose={close} />
      )}
      {open === "segment" && (
        <AddToSegment
          {...common}
          onStarted={(jobId, segmentId) => onStarted(jobId, { segmentId })}
          onClose={close}
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

const QUESTIONS: Record<PlainOperation, Question> = {
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
  operation: PlainOperation;
  doing: ComponentProps<typeof ConfirmDialog>["doing"];
  onClose: () => void;
}

/** Shows how many contacts would change. */
function BulkDialog({ operation, selection, list, doing, onClose }: BulkDialogProps) {
  const { count, afterCounting } = useSelectedCount(selection, list);
  const { title, titleOfAll, about, action } = QUESTIONS[operation];
  return (
    <ConfirmDialog
      title={count === null ? titleOfAll : title(count)}
      description={about}
      action={action}
      look={operation === "subscribe" ? "primary" : "danger"}
      keep={t("Cancel")}
      doing={afterCounting(doing)}
      onClose={onClose}
    />
  );
}
