// Remembers the edits of a workflow's graph while its page is open, and undoes and redoes them.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { createContext, useContext, useState, type ReactNode } from "react";
import { call, isChangedMeanwhile, problemOf } from "../../../api/call.ts";
import { api } from "../../../api/endpoints.ts";
import { t } from "../../../text/t.ts";
import { useToast } from "../../../ui/toasts.tsx";
import { invalidateWorkflows, workflowQuery, type Workflow } from "../workflow-queries.ts";
import {
  isBlocked,
  NO_EDITS,
  returnOf,
  withEdit,
  withReturn,
  type Direction,
  type Edit,
  type Return,
} from "./edit-history.ts";
import { editText } from "./edit-text.ts";

interface Edits {
  /** Returns the revision of the graph before an edit. */
  begin: () => number;
  /** Refetches the workflow and remembers the edit. An edit that left the graph as it was needs no undo. */
  end: (edit: Edit, before: number) => Promise<void>;
  /** The edits that can be undone and redone now. */
  offered: Record<Direction, Edit | null>;
  /** Whether someone else's edit prevents undo and redo. */
  isBlocked: boolean;
  isPending: boolean;
  take: (direction: Direction) => void;
}

const Context = createContext<Edits | null>(null);

interface Props {
  projectId: string;
  workflow: Workflow;
  children: ReactNode;
}

/** Provides the edits to the page of a workflow. */
export function EditsOf({ projectId, workflow, children }: Props) {
  const { id, revision } = workflow;
  const queries = useQueryClient();
  const toast = useToast();
  const [history, setHistory] = useState(NO_EDITS);
  const returning = useMutation({
    mutationFn: ({ back }: { direction: Direction; back: Return }) =>
      call(api.workflows.undo, {
        projectId,
        params: { id },
        body: { revision: back.revision, expectedRevision: back.expectedRevision },
      }),
    onSuccess: (restored, { direction, back }) => {
      setHistory((old) => withReturn(old, direction, restored.revision));
      queries.setQueryData(workflowQuery(projectId, id).queryKey, restored);
      const edit = editText(back.edit);
      toast(direction === "undo" ? t("Undone: {edit}", { edit }) : t("Redone: {edit}", { edit }));
    },
    onError: (error, { direction }) => {
      // The page shows this one next to the buttons.
      if (isChangedMeanwhile(error)) return;
      const title = direction === "undo" ? t("Couldn't undo") : t("Couldn't redo");
      toast(title, problemOf(error) ?? error.message);
    },
    // Without waiting, because the response is the new workflow already.
    onSettled: () => void invalidateWorkflows(queries, projectId),
  });
  const isStopped = isBlocked(history, revision);
  const offer = (direction: Direction) => (isStopped ? null : returnOf(history, direction));
  const edits: Edits = {
    begin: () => revision,
    end: async (edit, before) => {
      await invalidateWorkflows(queries, projectId);
      const after = queries.getQueryData(workflowQuery(projectId, id).queryKey)?.revision ?? before;
      if (after !== before) setHistory((old) => withEdit(old, edit, { before, after }));
    },
    offered: { undo: offer("undo")?.edit ?? null, redo: offer("redo")?.edit ?? null },
    isBlocked: isStopped && !returning.isPending,
    isPending: returning.isPending,
    take: (direction) => {
      const back = offer(direction);
      if (back !== null && !returning.isPending) returning.mutate({ direction, back });
    },
  };
  return <Context value={edits}>{children}</Context>;
}

/** @throws Error outside the page of a workflow */
export function useEdits(): Edits {
  const edits = useContext(Context);
  if (edits === null) throw new Error("useEdits must be used below EditsOf.");
  return edits;
}
