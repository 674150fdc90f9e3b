// Replaces both keys of a project. The user types the project's name, because programs with the old keys stop working immediately.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { projectsQuery, type Project } from "../../session/queries.ts";
import { whyNot } from "../../session/rights.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { OneFieldForm } from "../../ui/one-field-form.tsx";
import { useToast } from "../../ui/toasts.tsx";

export function ReplaceKeys({ project }: { project: Project }) {
  const [isAsked, setAsked] = useState(false);
  const appError = whyNot(project, "ADMIN");
  return (
    <div className="flex flex-wrap items-center gap-x-6 gap-y-2 px-5 py-4">
      <p className="min-w-56 flex-1 text-sm text-soft">
        {t("Replace both keys if one leaked, or if someone who knows them left.")}
      </p>
      <Button disabled={appError !== undefined} title={appError} onClick={() => setAsked(true)}>
        {t("Replace both keys")}
      </Button>
      {isAsked && <ReplaceDialog project={project} onClose={() => setAsked(false)} />}
    </div>
  );
}

function ReplaceDialog({ project: { id, name }, onClose }: { project: Project; onClose: () => void }) {
  const queries = useQueryClient();
  const toast = useToast();
  const [typed, setTyped] = useState("");
  const replacing = useMutation({
    mutationFn: () => call(api.projects.regenerateKeys, { projectId: id }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: projectsQuery.queryKey });
      toast(t("Keys replaced"), t("Update your apps with the new keys."));
      onClose();
    },
  });
  return (
    <Dialog
      title={t("Replace both keys?")}
      description={t(
        "The current keys stop working immediately, so your apps need the new ones. Scoped keys don't change.",
      )}
      open
      onClose={onClose}
    >
      <OneFieldForm
        label={t("Type {name} to confirm", { name })}
        autoComplete="off"
        value={typed}
        onChange={setTyped}
        action={t("Replace both keys")}
        expected={name}
        asking={replacing}
        onCancel={onClose}
      />
    </Dialog>
  );
}
