// Adds a sender domain and opens its DNS records.
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

export function NewDomainDialog({ projectId, onClose }: { projectId: string; onClose: () => void }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const toast = useToast();
  const [name, setName] = useState("");
  const adding = useMutation({
    mutationFn: () => call(api.domains.create, { projectId, body: { domain: name.trim() } }),
    onSuccess: async ({ domain }) => {
      await queries.invalidateQueries({ queryKey: projectKey(projectId) });
      toast(t("Domain added"), t("Now add the DNS records for {domain}.", { domain }));
      onClose();
      await navigate({ to: "/$projectId/domains", params: { projectId }, hash: domain });
    },
  });
  return (
    <Dialog
      title={t("Add domain")}
      description={t("You can only send from this exact domain, not from its subdomains.")}
      open
      onClose={onClose}
    >
      <OneFieldForm
        label={t("Domain")}
        placeholder="mail.example.com"
        autoCapitalize="none"
        value={name}
        onChange={setName}
        action={t("Add domain")}
        asking={adding}
        onCancel={onClose}
      />
    </Dialog>
  );
}
