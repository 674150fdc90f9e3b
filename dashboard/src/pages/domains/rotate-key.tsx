// Rotates a domain's DKIM key without interrupting email. The next key signs once DNS publishes it.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { resourceKey } from "../../api/query-key.ts";
import type { Project } from "../../session/queries.ts";
import { whyNot } from "../../session/rights.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmDialog } from "../../ui/confirm-dialog.tsx";
import { useToast } from "../../ui/toasts.tsx";
import type { Domain } from "./domains-query.ts";

interface RotateKeyProps {
  project: Project;
  domain: Domain;
}

export function RotateKey({ project, domain }: RotateKeyProps) {
  const [isAsked, setAsked] = useState(false);
  const appError = whyNot(project, "ADMIN") ?? whyNotNow(domain);
  return (
    <>
      <Button look="quiet" disabled={appError !== undefined} title={appError} onClick={() => setAsked(true)}>
        {t("Rotate key")}
      </Button>
      {isAsked && <RotateDialog project={project} domain={domain} onClose={() => setAsked(false)} />}
    </>
  );
}

/**
 * Returns why the key cannot be rotated now. A domain has at most two keys, and the second record belongs to the next or the former key.
 */
function whyNotNow({ records, dkimTokens, ed25519 }: Domain): string | undefined {
  if (dkimTokens.length <= (ed25519 ? 2 : 1)) return undefined;
  const second = records.filter(({ purpose }) => purpose === "dkim")[1];
  return second?.required === true
    ? t("Publish the record of the next key first.")
    : t("You can rotate again a week after the last change.");
}

function RotateDialog({
  project,
  domain: { id, domain },
  onClose,
}: RotateKeyProps & { onClose: () => void }) {
  const queries = useQueryClient();
  const toast = useToast();
  const rotating = useMutation({
    mutationFn: () => call(api.domains.rotateKey, { projectId: project.id, params: { id } }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: resourceKey(api.domains.list, { projectId: project.id }) });
      toast(t("New key created"), t("Now publish its DNS record for {domain}.", { domain }));
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={t("Rotate DKIM key?")}
      description={t(
        "We create a new key and TXT record for {domain}. Publish it next to the current record. We sign with the new key once we find the record. Keep the current record for seven more days.",
        { domain },
      )}
      action={t("Rotate key")}
      keep={t("Cancel")}
      doing={rotating}
      onClose={onClose}
    />
  );
}
