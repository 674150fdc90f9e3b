// Replaces a campaign's subject and content with those of a template.
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Design } from "@postloft/contract/design.ts";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Select } from "../../ui/field.tsx";
import { Failure } from "../../ui/states.tsx";
import { blocksOf, offeredTemplatesQuery } from "./campaign-queries.ts";

interface TemplateDialogProps {
  projectId: string;
  onChoose: (content: { subject: string; previewText: string; body: string; design: Design | null }) => void;
  onClose: () => void;
}

export function TemplateDialog({ projectId, onChoose, onClose }: TemplateDialogProps) {
  const templates = useQuery(offeredTemplatesQuery(projectId));
  const rows = templates.data?.data ?? [];
  const [chosen, setChosen] = useState<string | null>(null);
  const id = chosen ?? rows[0]?.id;
  const using = useMutation({
    mutationFn: (template: string) => call(api.templates.get, { projectId, params: { id: template } }),
    onSuccess: ({ subject, previewText, body, design }) => {
      const blocks = blocksOf({ design });
      onChoose({ subject, previewText: blocks === null ? (previewText ?? "") : "", body, design: blocks });
      onClose();
    },
  });
  return (
    <Dialog
      title={t("Use template")}
      description={t("Replaces this campaign's subject and content.")}
      open
      onClose={onClose}
    >
      {templates.isError && <Failure error={templates.error} />}
      {using.isError && <Failure error={using.error} />}
      {templates.isSuccess && rows.length === 0 ? (
        <p className="text-soft">{t("No templates yet.")}</p>
      ) : (
        <Select
          label={t("Template")}
          options={rows.map(({ id: value, name }) => ({ value, label: name }))}
          value={id ?? ""}
          onChange={({ target }) => setChosen(target.value)}
        />
      )}
      <div className="mt-4 flex justify-end gap-2">
        <Button look="quiet" onClick={onClose}>
          {t("Cancel")}
        </Button>
        <Button
          look="primary"
          busy={using.isPending}
          disabled={id === undefined}
          onClick={() => id !== undefined && using.mutate(id)}
        >
          {t("Replace content")}
        </Button>
      </div>
    </Dialog>
  );
}
