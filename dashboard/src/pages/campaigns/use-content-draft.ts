// What a draft says while it is written: saved when nobody types any more, and kept in this tab until it is, so that a reload, or a
// text that cannot be saved yet, loses nothing. Before it: content-step.tsx. After it: campaign-queries.ts.
import { hashKey } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import type { Design } from "@postloft/contract/design.ts";
import { useBlocker } from "@tanstack/react-router";
import { t } from "../../text/t.ts";
import { useDebounced } from "../../ui/use-debounced.ts";
import { isBlocks } from "../templates/blocks/block-tree.ts";
import { blocksOf, useSavingCampaign, type Campaign } from "./campaign-queries.ts";

const TYPING_PAUSE_MS = 900;
const NAMES = ["subject", "body", "from", "fromName", "replyTo", "name"] as const;
type Texts = Record<(typeof NAMES)[number], string>;
export type Content = Texts & {
  /** What makes the body; null where it is written as HTML. */
  design: Design | null;
};
type Typed = Partial<Content>;

const contentOf = (campaign: Campaign): Content => ({
  ...(Object.fromEntries(NAMES.map((name) => [name, campaign[name] ?? ""])) as Texts),
  design: blocksOf(campaign),
});

/** What was typed and is not what is stored. The database keeps the names of an object in an order of its own. */
function unsavedOf(typed: Typed, stored: Typed): Typed {
  return Object.fromEntries(
    Object.entries(typed).filter(
      ([name, given]) => hashKey([stored[name as keyof Content]]) !== hashKey([given]),
    ),
  );
}

const keptAs = (id: string) => `postloft.draft.${id}`;

function readKept(id: string): Typed {
  const kept: unknown = JSON.parse(sessionStorage.getItem(keptAs(id)) ?? "{}");
  const given = Object.entries(kept as Record<string, unknown>);
  return Object.fromEntries(
    given.filter(([name, one]) =>
      name === "design"
        ? one === null || isBlocks(one as Record<string, unknown>)
        : NAMES.some((known) => known === name) && typeof one === "string",
    ),
  );
}

function keep(id: string, unsaved: Typed): void {
  try {
    if (Object.keys(unsaved).length === 0) sessionStorage.removeItem(keptAs(id));
    else sessionStorage.setItem(keptAs(id), JSON.stringify(unsaved));
  } catch {
    // A full store keeps nothing; the text is still saved to the server.
  }
}

const orNull = (text: string) => (text.trim() === "" ? null : text);

/** As the API takes it: an empty name or address to reply to is none. */
function bodyOf({ fromName, replyTo, design, ...rest }: Typed) {
  return {
    ...rest,
    ...(design === undefined ? {} : { design: design as Record<string, unknown> | null }),
    ...(fromName === undefined ? {} : { fromName: orNull(fromName) }),
    ...(replyTo === undefined ? {} : { replyTo: orNull(replyTo) }),
  };
}

export type SavingState = "saved" | "saving" | "unsaved";

/**
 * The text of a draft. Only what was typed here is sent, so what others change elsewhere in the campaign stays.
 *
 * Leaving the page saves first, and asks where that fails.
 */
export function useContentDraft(projectId: string, campaign: Campaign) {
  const { id } = campaign;
  const stored = contentOf(campaign);
  const saving = useSavingCampaign(projectId, campaign);
  const [typed, setTyped] = useState<Typed>(() => readKept(id));
  // What the server took, as it was typed: it may store it trimmed, which is no reason to send it again.
  const [taken, setTaken] = useState<Typed>({});
  const unsaved = unsavedOf(typed, { ...stored, ...taken });
  const isUnsaved = Object.keys(unsaved).length > 0;
  const text = JSON.stringify(unsaved);
  useEffect(() => keep(id, JSON.parse(text) as Typed), [id, text]);

  const save = async (): Promise<boolean> => {
    if (!isUnsaved) return true;
    try {
      await saving.mutateAsync(bodyOf(unsaved));
      setTaken((old) => ({ ...old, ...unsaved }));
      return true;
    } catch {
      return false; // The mutation holds the error, and the page shows it.
    }
  };
  const settled = useDebounced(text, TYPING_PAUSE_MS);
  useEffect(() => {
    if (settled === text) void save();
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- once for each text that stands still
  }, [settled]);
  useBlocker({
    shouldBlockFn: async () =>
      // oxlint-disable-next-line no-alert -- the browser asks the same way when its tab is closed
      !(await save()) &&
      !confirm(t("This could not be saved. Leave all the same? This tab keeps what you typed.")),
    enableBeforeUnload: false,
    disabled: !isUnsaved,
  });
  const state: SavingState = saving.isPending ? "saving" : isUnsaved ? "unsaved" : "saved";
  return {
    draft: { ...stored, ...typed },
    change: (changed: Typed) => setTyped((old) => ({ ...old, ...changed })),
    save,
    state,
    error: isUnsaved ? saving.error : null,
  };
}
