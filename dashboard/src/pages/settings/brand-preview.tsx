// Shows a new marketing email in the brand, as the server renders it.
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import type { Project } from "../../session/queries.ts";
import { t } from "../../text/t.ts";
import { MailFrame } from "../../ui/mail-frame.tsx";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { useDebounced } from "../../ui/use-debounced.ts";
import { beginningOf, button, heading, text } from "../templates/starting-points.ts";
import type { BrandDraft } from "./brand-draft.ts";

const PAUSE_MS = 300;
const CONTENT = () => [
  heading(t("Something new")),
  text(t("Say in two sentences what is new and why it helps.")),
  button(t("See what's new"), "https://example.com"),
];

interface BrandPreviewProps {
  project: Project;
  draft: BrandDraft;
}

export function BrandPreview({ project, draft }: BrandPreviewProps) {
  const { logoUrl, postalAddress: _footer, ...brand } = draft;
  const look = JSON.stringify(brand);
  const mail = useMemo(() => {
    const branded = { ...project, brand: JSON.parse(look) as Project["brand"], logoUrl: logoUrl || null };
    const { body } = beginningOf({ content: CONTENT }, branded);
    return { subject: t("Something new"), body, type: "MARKETING" as const };
  }, [project, look, logoUrl]);
  const body = useDebounced(mail, PAUSE_MS);
  const preview = useQuery({
    ...query(api.templates.preview, { projectId: project.id, body }),
    // The footer changes with the project.
    queryKey: ["brand-preview", project, body],
    placeholderData: keepPreviousData,
    gcTime: 0,
  });
  return (
    <section aria-label={t("Preview")} className="min-w-0 lg:sticky lg:top-6">
      <h2 className="mb-1 text-sm font-medium">{t("Preview")}</h2>
      <p className="mb-3 text-sm text-faint">{t("The footer shows the saved settings.")}</p>
      {preview.isError && <Failure error={preview.error} />}
      {preview.data === undefined && !preview.isError && <Skeleton className="h-128 w-full" />}
      {preview.data !== undefined && <MailFrame title={t("Email content")} html={preview.data.html} />}
    </section>
  );
}
