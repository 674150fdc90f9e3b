// Creates a template from a starting point.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import type { Project } from "../../session/queries.ts";
import { t } from "../../text/t.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { OneFieldForm } from "../../ui/one-field-form.tsx";
import { StartFrom } from "../../ui/start-from.tsx";
import { beginningOf, STARTING_POINTS } from "./starting-points.ts";

export function NewTemplateDialog({ project, onClose }: { project: Project; onClose: () => void }) {
  const projectId = project.id;
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState("");
  const [key, setKey] = useState("blank");
  const creating = useMutation({
    mutationFn: () => {
      const point = STARTING_POINTS.find((one) => one.key === key) ?? STARTING_POINTS[0]!;
      const { type, subject } = point;
      const written = beginningOf(point, project);
      return call(api.templates.create, {
        projectId,
        body: { name: name.trim(), type, subject, ...written },
      });
    },
    onSuccess: async ({ id }) => {
      await queries.invalidateQueries({ queryKey: query(api.templates.list, { projectId }).queryKey });
      await navigate({ to: "/$projectId/templates/$templateId", params: { projectId, templateId: id } });
      onClose();
    },
  });
  return (
    <Dialog title={t("New template")} open onClose={onClose}>
      <StartFrom choices={STARTING_POINTS} chosen={key} onChoose={setKey} />
      <OneFieldForm
        label={t("Name")}
        help={t("Only you and your team see it.")}
        value={name}
        onChange={setName}
        action={t("Create template")}
        asking={creating}
        onCancel={onClose}
      />
    </Dialog>
  );
}
