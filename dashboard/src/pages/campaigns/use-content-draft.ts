// Saves a draft's content when typing pauses. The browser keeps unsaved edits, so that a reload or a closed tab loses nothing.
import { useQueryClient } from "@tanstack/react-query";
import { useBlocker } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { accountQuery } from "../../session/queries.ts";
import { t } from "../../text/t.ts";
import { useDebounced } from "../../ui/use-debounced.ts";
import { holdHistory } from "../../ui/hold-history.ts";
import { confirmLeaving } from "../../ui/leave-question.ts";
import { useOnline } from "../../ui/use-online.ts";
import { useLatestCampaign, useSavingCampaign, type Campaign } from "./campaign-queries.ts";
import {
  conflictsOf,
  contentOf,
  keep,
  readKeptDraft,
  settledAs,
  shownOf,
  typedAfter,
  typedWith,
  unsavedOf,
  type Content,
  type Typed,
} from "./content-draft.ts";
import { draftStorageKey } from "./kept-drafts.ts";

const KEPT_HERE = {
  title: t("Leave this page?"),
  description: t("We couldn't save your changes. This browser keeps a copy."),
};
const TYPING_PAUSE_MS = 900;

const orNull = (text: string) => (text.trim() === "" ? null : text);

/** Returns the change in the API's format, with null for an empty preview text, sender name or Reply-to. */
function bodyOf({ previewText, fromName, replyTo, design, ...rest }: Partial<Content>) {
  return {
    ...rest,
    ...(design === undefined ? {} : { design: design as Record<string, unknown> | null }),
    ...(previewText === undefined ? {} : { previewText: orNull(previewText) }),
    ...(fromName === undefined ? {} : { fromName: orNull(fromName) }),
    ...(replyTo === undefined ? {} : { replyTo: orNull(replyTo) }),
  };
}

export type SavingState = "saved" | "saving" | "unsaved";

/**
 * Returns the content of a draft and saves edits. Sends only the fields edited here, so that changes made elsewhere are kept and shown. A
 * field changed both here and elsewhere stays in `conflicts` until `settle` is called.
 * Saves before leaving the page, and asks if that fails.
 */
export function useContentDraft(projectId: string, campaign: Campaign) {
  const { id } = campaign;
  const [known, setKnown] = useLatestCampaign(campaign);
  const stored = contentOf(known);
  const queries = useQueryClient();
  const [name] = useState(() => draftStorageKey(queries.getQueryData(accountQuery.queryKey)?.id ?? "", id));
  const [typed, setTyped] = useState<Typed>(() => readKeptDraft(name, stored));
  const latest = useRef(typed);
  const update = (next: Typed) => {
    latest.current = next;
    keep(name, next);
    setTyped(next);
  };
  // Drop kept edits that have been saved since.
  useEffect(() => keep(name, latest.current), [name]);
  const saving = useSavingCampaign(
    projectId,
    campaign,
    (now) => conflictsOf(contentOf(now), latest.current).length > 0,
  );
  const unsaved = unsavedOf(stored, typed);
  const conflicts = conflictsOf(stored, typed);
  const isUnsaved = Object.keys(unsaved).length > 0;

  const save = async (): Promise<boolean> => {
    const sent = unsavedOf(stored, latest.current);
    if (Object.keys(sent).length === 0) return true;
    if (conflictsOf(stored, latest.current).length > 0) return false;
    try {
      const saved = await saving.mutateAsync(bodyOf(sent));
      update(typedAfter(contentOf(saved), latest.current, sent));
      setKnown(saved);
      return true;
    } catch {
      return false; // The mutation keeps the error, which the page displays.
    }
  };
  const text = JSON.stringify(unsaved);
  const settled = useDebounced(text, TYPING_PAUSE_MS);
  const isOnline = useOnline();
  useEffect(() => {
    if (settled === text) void save();
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- run once per debounced text, and when the network is back
  }, [settled, isOnline]);
  useBlocker({
    shouldBlockFn: () => holdHistory(async () => !(await save()) && !(await confirmLeaving(KEPT_HERE))),
    enableBeforeUnload: false,
    disabled: !isUnsaved,
  });
  const state: SavingState = saving.isPending ? "saving" : isUnsaved ? "unsaved" : "saved";
  return {
    draft: shownOf(stored, typed),
    change: (changed: Partial<Content>) => update(typedWith(stored, latest.current, changed)),
    save,
    state,
    error: isUnsaved && conflicts.length === 0 ? saving.error : null,
    conflicts,
    /** Resolves the conflicts with either the stored values or the local edits. */
    settle: (owner: "stored" | "typed") => {
      update(settledAs(owner, stored, latest.current, conflicts));
      void save();
    },
  };
}
