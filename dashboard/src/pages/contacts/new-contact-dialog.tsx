// Adds a contact by address.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { projectKey } from "../../api/query-key.ts";
import { t } from "../../text/t.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { OneFieldForm } from "../../ui/one-field-form.tsx";
import { useToast } from "../../ui/toasts.tsx";

export function NewContactDialog({ projectId, onClose }: { projectId: string; onClose: () => void }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const toast = useToast();
  const [email, setEmail] = useState("");
  const adding = useMutation({
    mutationFn: () => call(api.contacts.upsert, { projectId, body: { email } }),
    onSuccess: async ({ id, email: stored, _meta }) => {
      toast(_meta.isNew ? t("Contact added") : t("This contact already exists"), stored);
      await queries.invalidateQueries({ queryKey: projectKey(projectId) });
      await navigate({ to: "/$projectId/contacts/$contactId", params: { projectId, contactId: id } });
      onClose();
    },
  });
  return (
    <Dialog
      title={t("Add contact")}
      description={t("New contacts are subscribed. Add only people who agreed to hear from you.")}
      open
      onClose={onClose}
    >
      <OneFieldForm
        label={t("Email address")}
        type="email"
        placeholder="ada@example.com"
        value={email}
        onChange={setEmail}
        action={t("Add contact")}
        asking={adding}
        onCancel={onClose}
      />
    </Dialog>
  );
}
