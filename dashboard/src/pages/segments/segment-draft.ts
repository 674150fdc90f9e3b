// Tracks and saves the edits of a segment.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useRef, useState } from "react";
import type { Filter } from "@postloft/contract/filters.ts";
import { call, isChangedMeanwhile } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
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

/** The edited values. `filters` is null while incomplete, and for segments without a filter. */
export interface Written {
  draft: Draft;
  filters: Filter | null;
}

export const storedFiltersOf = (segment: Segment | null) =>
  (segment?.filters as Filter | null | undefined) ?? EMPTY_FILTER;

/** @param segment null for a new one */
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
 * Creates or saves a segment. If it was changed elsewhere, the save fails with CHANGED_MEANWHILE, and `saveOver` then overwrites the
 * version the user was shown.
 * @param read null for a new one
 */
export function useSaving(projectId: string, read: Segment | null, written: Written) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const toast = useToast();
  /** The values as typed, because the server may trim them, which is no change to save again. */
  const [stored, setStored] = useState(() => writtenOf(read));
  // Saves run one after the other, each based on the previous result.
  const latest = useRef(read);
  const saving = useMutation({
    scope: { id: `segment ${read?.id ?? "new"}` },
    mutationFn: ({ sent, over }: { sent: Written; over: Segment | null }) => {
      const base = over ?? latest.current;
      if (base === null)
        return call(api.segments.create, { projectId, body: { ...bodyOf(sent), type: sent.draft.type } });
      const body = { ...changeOf(writtenOf(base), sent), expectedUpdatedAt: base.updatedAt };
      return call(api.segments.update, { projectId, params: { id: base.id }, body });
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
