// Tracks and saves the edits of a template.
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import type { Design } from "@postloft/contract/design.ts";
import type { ApiResponse } from "../../api/address.ts";
import { call, isChangedMeanwhile } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import { EDITED } from "../../session/tabs.ts";
import { t } from "../../text/t.ts";
import { useToast } from "../../ui/toasts.tsx";
import { isSame } from "../../ui/typed.ts";
import { isBlocks } from "./blocks/block-tree.ts";
import type { Written } from "./writing.tsx";

export type Template = ApiResponse<typeof api.templates.get>;
type Setting = "name" | "from" | "fromName" | "replyTo";
export type Draft = Record<Setting, string> & Written & Pick<Template, "type">;

export function templateQuery(projectId: string, id: string) {
  return queryOptions({
    ...query(api.templates.get, { projectId, params: { id } }),
    // Fetched each time the template is opened, but never refetched during editing.
    gcTime: 0,
    refetchOnWindowFocus: false,
    meta: EDITED,
  });
}

/** Returns the content of a template or of one of its languages. */
export function writtenOf({
  subject,
  previewText,
  body,
  design,
}: Pick<Template, "subject" | "previewText" | "body" | "design">): Written {
  return {
    subject,
    previewText: isBlocks(design) ? "" : (previewText ?? ""),
    body,
    // The server stores only valid blocks.
    design: isBlocks(design) ? (design as unknown as Design) : null,
  };
}

export function draftOf({ name, type, from, fromName, replyTo, ...content }: Template): Draft {
  return {
    name,
    type,
    ...writtenOf(content),
    from: from ?? "",
    fromName: fromName ?? "",
    replyTo: replyTo ?? "",
  };
}

/** Returns the changed fields in the API's format. An emptied address or preview text becomes null, and blocks generate the body. */
function changeOf(stored: Draft, draft: Draft) {
  const { design, body, ...rest } = draft;
  const changed = (Object.keys(rest) as Array<keyof typeof rest>).filter(
    (name) => stored[name] !== rest[name],
  );
  const valueOf = (name: keyof typeof rest) =>
    name !== "name" && name !== "type" && name !== "subject" && rest[name].trim() === "" ? null : rest[name];
  const settings = Object.fromEntries(changed.map((name) => [name, valueOf(name)])) as Partial<typeof rest>;
  if (design !== null)
    // Compare without key order, because the database reorders object keys.
    return isSame(design, stored.design) ? settings : { ...settings, design };
  if (stored.design !== null) return { ...settings, body, design };
  return body === stored.body ? settings : { ...settings, body };
}

/**
 * Saves a draft. If the template was changed elsewhere, the save fails with CHANGED_MEANWHILE, and `saveOver` then overwrites the version
 * the user was shown.
 * @param draftFor returns the draft for a stored version, with that version's values in fields that the user doesn't see
 */
export function useSaving(projectId: string, read: Template, draftFor: (stored: Template) => Draft) {
  const queries = useQueryClient();
  const toast = useToast();
  /** The stored version known to this page, from loading or the last save. */
  const [stored, setStored] = useState(read);
  // Saves run one after the other, each based on the previous result.
  const latest = useRef(read);
  const saving = useMutation({
    scope: { id: `template ${read.id}` },
    mutationFn: (over: Template | null) => {
      const base = over ?? latest.current;
      const body = { ...changeOf(draftOf(base), draftFor(base)), expectedUpdatedAt: base.updatedAt };
      return call(api.templates.update, { projectId, params: { id: read.id }, body });
    },
    onSuccess: async ({ warnings: _warnings, ...saved }) => {
      latest.current = saved;
      setStored(saved);
      // If the user has left the page, the query is gone and nothing is cached.
      queries.setQueryData(templateQuery(projectId, read.id).queryKey, (shown) => shown && saved);
      await queries.invalidateQueries({ queryKey: query(api.templates.list, { projectId }).queryKey });
      toast(t("Template saved"));
    },
  });
  return {
    stored,
    saving,
    isChanged: Object.keys(changeOf(draftOf(stored), draftFor(stored))).length > 0,
    save: () => saving.mutateAsync(null),
    saveOver: (over: Template) => saving.mutate(over),
    hasConflict: isChangedMeanwhile(saving.error),
  };
}
