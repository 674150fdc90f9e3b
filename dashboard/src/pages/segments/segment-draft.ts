// A segment while it is written: what is stored of it, what was changed, and how that is saved.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useRef, useState } from "react";
import type { Filter } from "@postloft/contract/filters.ts";
import { call, isChangedMeanwhile } from "../../api/call.ts";
import { createSegment, updateSegment } from "../../api/endpoints.ts";
import { t } from "../../text/t.ts";
import { useToast } from "../../ui/toasts.tsx";
import { isSame } from "../../ui/typed.ts";
import { EMPTY_FILTER, filterOf, readTree } from "./condition-builder/condition-tree.ts";
import { invalidateMembers, type Segment } from "./segment-queries.ts";

export interface Draft {
  name: string;
  description: string;
  type: Segment["type"];
  trackMembership: boolean;
}

/** What is written; the condition is null while it is not complete, and of a segment without one. */
export interface Written {
  draft: Draft;
  filters: Filter | null;
}

export const storedFiltersOf = (segment: Segment | null) =>
  (segment?.filters as Filter | null | undefined) ?? EMPTY_FILTER;

/** @param segment null: one that begins */
export function draftOf(segment: Segment | null): Draft {
  return {
    name: segment?.name ?? "",
    description: segment?.description ?? "",
    type: segment?.type ?? "DYNAMIC",
    trackMembership: segment?.trackMembership ?? false,
  };
}

const writtenOf = (segment: Segment | null): Written => ({
  draft: draftOf(segment),
  filters: filterOf(readTree(storedFiltersOf(segment))),
});

function bodyOf({ draft: { name, description, type, trackMembership }, filters }: Written) {
  return {
    name,
    description: description === "" ? null : description,
    ...(type === "DYNAMIC" && filters !== null ? { filters, trackMembership } : {}),
  };
}

function changeOf(before: Written, after: Written): Partial<ReturnType<typeof bodyOf>> {
  const old: Record<string, unknown> = bodyOf(before);
  return Object.fromEntries(
    Object.entries(bodyOf(after)).filter(([name, value]) => !isSame(value, old[name])),
  );
}

/**
 * Saves a segment, or makes it. Who changed it since it was read here is not overwritten without a word: the call fails with
 * CHANGED_MEANWHILE, and `saveOver` saves what is written over what was then looked at.
 *
 * @param read null: a new one
 */
export function useSaving(projectId: string, read: Segment | null, written: Written) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const toast = useToast();
  /** As it was typed when it was stored: the server may keep it trimmed, which is no change to be saved again. */
  const [stored, setStored] = useState(() => writtenOf(read));
  // One after the other: the second starts from what the first has stored.
  const latest = useRef(read);
  const saving = useMutation({
    scope: { id: `segment ${read?.id ?? "new"}` },
    mutationFn: ({ sent, over }: { sent: Written; over: Segment | null }) => {
      const base = over ?? latest.current;
      if (base === null)
        return call(createSegment, { projectId, body: { ...bodyOf(sent), type: sent.draft.type } });
      const body = { ...changeOf(writtenOf(base), sent), expectedUpdatedAt: base.updatedAt };
      return call(updateSegment, { projectId, params: { id: base.id }, body });
    },
    onSuccess: async (saved, { sent }) => {
      latest.current = saved;
      setStored(sent);
      if (read === null)
        await navigate({
          to: "/$projectId/segments/$segmentId",
          params: { projectId, segmentId: saved.id },
          ignoreBlocker: true,
        });
      await invalidateMembers(queries, projectId);
      toast(t("Segment saved"), sent.draft.name);
    },
  });
  return {
    saving,
    isChanged: !isSame(written, stored),
    save: () => saving.mutate({ sent: written, over: null }),
    saveOver: (over: Segment) => saving.mutate({ sent: written, over }),
    hasConflict: isChangedMeanwhile(saving.error),
  };
}
