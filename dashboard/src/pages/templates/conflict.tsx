// Somebody changed a template while it was being written here: when, what is saved now, and whose text stays.
// Before it: template-page.tsx. After it: the API.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../../api/call.ts";
import { getTemplate } from "../../api/endpoints.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { formatAgo, formatInstant } from "../../ui/format.ts";
import { MailFrame } from "../../ui/mail-frame.tsx";
import { Failure } from "../../ui/states.tsx";
import { templateQuery, type Template } from "./template-draft.ts";

interface ConflictProps {
  projectId: string;
  templateId: string;
  /** What is written here goes over what was looked at. */
  onSaveOver: (saved: Template) => void;
  /** What is saved is gone on with, in place of what is written here. */
  onTaken: () => void;
}

export function Conflict({ projectId, templateId, onSaveOver, onTaken }: ConflictProps) {
  const queries = useQueryClient();
  const [isLooking, setLooking] = useState(false);
  const saved = useQuery({
    queryKey: ["project", projectId, "template", templateId, "saved"],
    queryFn: ({ signal }) => call(getTemplate, { projectId, params: { id: templateId }, signal }),
    staleTime: 0,
    gcTime: 0,
  });
  if (saved.isError) return <Failure error={saved.error} onRetry={() => void saved.refetch()} />;
  const now = saved.data;
  const over = (
    <Button
      disabled={now === undefined}
      onClick={() => {
        if (now !== undefined) onSaveOver(now);
        setLooking(false);
      }}
    >
      {t("Save mine over it")}
    </Button>
  );
  return (
    <div role="alert" className="mb-5 rounded-md border border-line bg-warn-wash px-3.5 py-2.5 text-sm">
      <p className="font-medium text-warn">
        {now === undefined
          ? t("This template was changed elsewhere.")
          : t("This template was changed elsewhere, {when}.", { when: formatAgo(now.updatedAt) })}
      </p>
      <p className="mt-0.5 text-soft">{t("What you wrote is here still, and is not saved.")}</p>
      <div className="mt-2 flex flex-wrap gap-2">
        <Button disabled={now === undefined} onClick={() => setLooking(true)}>
          {t("Look at what is saved now")}
        </Button>
        {over}
      </div>
      {isLooking && now !== undefined && (
        <Dialog
          title={t("What is saved now")}
          description={t("Changed {when}.", { when: formatInstant(now.updatedAt) })}
          open
          onClose={() => setLooking(false)}
        >
          <p className="text-sm text-soft">
            {t("Subject")} <bdi className="text-ink">{now.subject}</bdi>
          </p>
          <MailFrame title={t("What is saved now")} html={now.body} className="mt-3 h-72 w-full" />
          <p className="mt-4 text-sm text-warn">
            {t("Go on with this one, and what you have not saved is lost.")}
          </p>
          <div className="mt-3 flex flex-wrap justify-end gap-2">
            <Button look="quiet" onClick={() => setLooking(false)}>
              {t("Close")}
            </Button>
            <Button
              onClick={() => {
                queries.setQueryData(templateQuery(projectId, templateId).queryKey, now);
                onTaken();
              }}
            >
              {t("Go on with this one")}
            </Button>
            {over}
          </div>
        </Dialog>
      )}
    </div>
  );
}
