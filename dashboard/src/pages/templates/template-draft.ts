// A template while it is written: what is stored of it, what was changed, and how that is saved.
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import type { Design } from "@postloft/contract/design.ts";
import { call, isChangedMeanwhile, type Answer } from "../../api/call.ts";
import { getTemplate, updateTemplate } from "../../api/endpoints.ts";
import { EDITED } from "../../session/tabs.ts";
import { t } from "../../text/t.ts";
import { useToast } from "../../ui/toasts.tsx";
import { isSame } from "../../ui/typed.ts";
import { isBlocks } from "./blocks/block-tree.ts";
import type { Written } from "./writing.tsx";

export type Template = Answer<NonNullable<typeof getTemplate.endpoint>>;
type Setting = "name" | "from" | "fromName" | "replyTo";
export type Draft = Record<Setting, string> & Written & Pick<Template, "type">;

export function templateQuery(projectId: string, id: string) {
  return queryOptions({
    queryKey: ["project", projectId, "template", id],
    queryFn: ({ signal }) => call(getTemplate, { projectId, params: { id }, signal }),
    // What is being edited is read anew each time it is opened, and not changed under the hands of whoever edits it.
    gcTime: 0,
    refetchOnWindowFocus: false,
    meta: EDITED,
  });
}

export function draftOf({ name, type, subject, body, design, from, fromName, replyTo }: Template): Draft {
  return {
    name,
    type,
    subject,
    body,
    // The server stores none that is not one.
    design: isBlocks(design) ? (design as unknown as Design) : null,
    from: from ?? "",
    fromName: fromName ?? "",
    replyTo: replyTo ?? "",
  };
}

/** What is sent of a change: an emptied address is none, and blocks bring their body. */
function changeOf(stored: Draft, draft: Draft) {
  const { design, body, ...rest } = draft;
  const changed = (Object.keys(rest) as Array<keyof typeof rest>).filter(
    (name) => stored[name] !== rest[name],
  );
  const valueOf = (name: keyof typeof rest) =>
    (name === "from" || name === "fromName" || name === "replyTo") && rest[name].trim() === ""
      ? null
      : rest[name];
  const settings = Object.fromEntries(changed.map((name) => [name, valueOf(name)])) as Partial<typeof rest>;
  if (design !== null)
    // The database keeps the names of an object in an order of its own.
    return isSame(design, stored.design) ? settings : { ...settings, design };
  if (stored.design !== null) return { ...settings, body, design };
  return body === stored.body ? settings : { ...settings, body };
}

/**
 * Saves a draft. Who changed the template since it was read here is not overwritten without a word: the call fails with
 * CHANGED_MEANWHILE, and `saveOver` saves the whole draft over what was then looked at.
 */
export function useSaving(projectId: string, read: Template, draft: Draft) {
  const queries = useQueryClient();
  const toast = useToast();
  /** What is stored as far as this page knows: what it read, or saved last. */
  const [stored, setStored] = useState(read);
  // One after the other: the second starts from what the first has stored.
  const latest = useRef(read);
  const saving = useMutation({
    scope: { id: `template ${read.id}` },
    mutationFn: (over: Template | null) => {
      const base = over ?? latest.current;
      const body = { ...changeOf(draftOf(base), draft), expectedUpdatedAt: base.updatedAt };
      return call(updateTemplate, { projectId, params: { id: read.id }, body });
    },
    onSuccess: async ({ warnings: _warnings, ...saved }) => {
      latest.current = saved;
      setStored(saved);
      // Of a page that was left by now nothing is kept.
      queries.setQueryData(templateQuery(projectId, read.id).queryKey, (shown) => shown && saved);
      await queries.invalidateQueries({ queryKey: ["project", projectId, "templates"] });
      toast(t("Template saved"));
    },
  });
  return {
    stored,
    saving,
    isChanged: Object.keys(changeOf(draftOf(stored), draft)).length > 0,
    save: () => saving.mutateAsync(null),
    saveOver: (over: Template) => saving.mutate(over),
    hasConflict: isChangedMeanwhile(saving.error),
  };
}
