// Resolves a conflict when a template or one of its languages was changed elsewhere while it was edited here.
import { useQuery, useQueryClient, type UseQueryResult } from "@tanstack/react-query";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import { t } from "../../text/t.ts";
import { ChangedElsewhere } from "../../ui/changed-elsewhere.tsx";
import { formatAgo } from "../../ui/format.ts";
import { Failure } from "../../ui/states.tsx";
import { SavedMail } from "../mail-editor/saved-mail.tsx";
import { templateQuery, type Template } from "./template-draft.ts";
import { variantQuery, type Variant } from "./template-variant.ts";

/** Reads what is saved now, without a place in the cache of the edited content. */
const NOW = { staleTime: 0, gcTime: 0 };

interface ConflictProps<Saved> {
  projectId: string;
  templateId: string;
  onSaveOver: (saved: Saved) => void;
  onTaken: () => void;
}

export function Conflict({ projectId, templateId, onSaveOver, onTaken }: ConflictProps<Template>) {
  const queries = useQueryClient();
  const params = { id: templateId };
  const saved = useQuery({ ...query(api.templates.get, { projectId, params }, "saved"), ...NOW });
  const take = (taken: Template) => {
    queries.setQueryData(templateQuery(projectId, templateId).queryKey, taken);
    onTaken();
  };
  return <ContentConflict saved={saved} onSaveOver={onSaveOver} onTaken={take} />;
}

export function VariantConflict({
  projectId,
  templateId,
  locale,
  onSaveOver,
  onTaken,
}: ConflictProps<Variant> & { locale: string }) {
  const queries = useQueryClient();
  const params = { id: templateId, locale };
  const saved = useQuery({ ...query(api.templates.variant, { projectId, params }, "saved"), ...NOW });
  const take = (taken: Variant) => {
    queries.setQueryData(variantQuery(projectId, templateId, locale).queryKey, taken);
    onTaken();
  };
  return <ContentConflict saved={saved} onSaveOver={onSaveOver} onTaken={take} />;
}

interface ContentConflictProps<Saved> {
  saved: UseQueryResult<Saved>;
  onSaveOver: (saved: Saved) => void;
  onTaken: (saved: Saved) => void;
}

function ContentConflict<Saved extends Template | Variant>({
  saved,
  onSaveOver,
  onTaken,
}: ContentConflictProps<Saved>) {
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
      onTaken={onTaken}
    />
  );
}
