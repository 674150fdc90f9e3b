// Tracks and saves the edits of a template in one language.
import { queryOptions, useMutation, useQueryClient, type QueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import type { ApiResponse } from "../../api/address.ts";
import { call, isChangedMeanwhile } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import { EDITED } from "../../session/tabs.ts";
import { t } from "../../text/t.ts";
import { useToast } from "../../ui/toasts.tsx";
import { isSame } from "../../ui/typed.ts";
import { templateQuery, writtenOf } from "./template-draft.ts";
import type { Written } from "./writing.tsx";

export type Variant = ApiResponse<typeof api.templates.variant>;

export function variantQuery(projectId: string, id: string, locale: string) {
  return queryOptions({
    ...query(api.templates.variant, { projectId, params: { id, locale } }),
    // As for templates: fetched each time the language is opened, but never refetched during editing.
    gcTime: 0,
    refetchOnWindowFocus: false,
    meta: EDITED,
  });
}

/** Returns the content in the API's format. Blocks generate the body. */
export function contentOf({ subject, previewText, body, design }: Written) {
  if (design !== null) return { subject, design };
  return { subject, previewText: previewText.trim() === "" ? null : previewText, body, design };
}

/** Updates the languages of a template that this page has loaded, and the list. */
export async function storeLocales(
  queries: QueryClient,
  projectId: string,
  id: string,
  change: (locales: string[]) => string[],
): Promise<void> {
  queries.setQueryData(
    templateQuery(projectId, id).queryKey,
    (shown) => shown && { ...shown, locales: change(shown.locales).toSorted() },
  );
  await queries.invalidateQueries({ queryKey: query(api.templates.list, { projectId }).queryKey });
}

function isSameContent(one: Written, other: Written): boolean {
  if (one.subject !== other.subject) return false;
  // Compare without key order, because the database reorders object keys.
  if (one.design !== null) return isSame(one.design, other.design);
  return other.design === null && one.body === other.body && one.previewText === other.previewText;
}

/** Saves a draft. If the language was changed elsewhere, the save fails, and `saveOver` overwrites the version the user was shown. */
export function useVariantSaving(projectId: string, templateId: string, read: Variant, draft: Written) {
  const queries = useQueryClient();
  const toast = useToast();
  const [stored, setStored] = useState(read);
  // Saves run one after the other, each based on the previous result.
  const latest = useRef(read);
  const saving = useMutation({
    scope: { id: `template ${templateId} ${read.locale}` },
    mutationFn: (over: Variant | null) =>
      call(api.templates.saveVariant, {
        projectId,
        params: { id: templateId, locale: read.locale },
        body: { ...contentOf(draft), expectedUpdatedAt: (over ?? latest.current).updatedAt },
      }),
    onSuccess: ({ warnings: _warnings, ...saved }) => {
      latest.current = saved;
      setStored(saved);
      queries.setQueryData(
        variantQuery(projectId, templateId, read.locale).queryKey,
        (shown) => shown && saved,
      );
      toast(t("Template saved"));
    },
  });
  return {
    stored,
    saving,
    isChanged: !isSameContent(writtenOf(stored), draft),
    save: () => saving.mutateAsync(null),
    saveOver: (over: Variant) => saving.mutate(over),
    hasConflict: isChangedMeanwhile(saving.error),
  };
}
