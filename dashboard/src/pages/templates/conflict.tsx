// Resolves a conflict when a template was changed elsewhere while it was edited here.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import { t } from "../../text/t.ts";
import { ChangedElsewhere } from "../../ui/changed-elsewhere.tsx";
import { formatAgo } from "../../ui/format.ts";
import { Failure } from "../../ui/states.tsx";
import { SavedMail } from "../mail-editor/saved-mail.tsx";
import { templateQuery, type Template } from "./template-draft.ts";

interface ConflictProps {
  projectId: string;
  templateId: string;
  onSaveOver: (saved: Template) => void;
  onTaken: () => void;
}

export function Conflict({ projectId, templateId, onSaveOver, onTaken }: ConflictProps) {
  const queries = useQueryClient();
  const saved = useQuery({
    ...query(api.templates.get, { projectId, params: { id: templateId } }, "saved"),
    staleTime: 0,
    gcTime: 0,
  });
  if (saved.isError) return <Failure error={saved.error} onRetry={() => void saved.refetch()} />;
  const now = saved.data;
  return (
    <ChangedElsewhere
      said={
        now === undefined
          ? t("Someone else changed this template.")
          : t("Someone else changed this template {when}.", { when: formatAgo(now.updatedAt) })
      }
      saved={now}
      show={(shown) => <SavedMail {...shown} />}
      onSaveOver={onSaveOver}
      onTaken={(taken) => {
        queries.setQueryData(templateQuery(projectId, templateId).queryKey, taken);
        onTaken();
      }}
    />
  );
}
