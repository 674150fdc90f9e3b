// The actions of a webhook endpoint: test, edit, pause, rotate the secret, delete.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { resourceKey } from "../../api/query-key.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmDialog } from "../../ui/confirm-dialog.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { Tried } from "./notification-webhook.tsx";
import { EndpointDialog, EndpointSecret, type WebhookEndpoint } from "./webhook-dialog.tsx";

interface ActionProps {
  projectId: string;
  endpoint: WebhookEndpoint;
}

export function EndpointActions({ projectId, endpoint }: ActionProps) {
  const [opened, setOpened] = useState<"edit" | "rotate" | "delete" | null>(null);
  const close = () => setOpened(null);
  const params = { id: endpoint.id };
  const trying = useMutation({ mutationFn: () => call(api.webhooks.testEndpoint, { projectId, params }) });
  return (
    <>
      <div className="mt-3 flex flex-wrap items-center gap-2">
        <Button busy={trying.isPending} onClick={() => trying.mutate()}>
          {t("Send test request")}
        </Button>
        <Button onClick={() => setOpened("edit")}>{t("Edit")}</Button>
        <PauseButton projectId={projectId} endpoint={endpoint} />
        <Button onClick={() => setOpened("rotate")}>{t("Rotate secret")}</Button>
        <Button look="quiet" onClick={() => setOpened("delete")}>
          {t("Delete")}
        </Button>
      </div>
      <p role="status" className="mt-2 text-sm wrap-anywhere empty:hidden">
        {trying.isError && <span className="text-bad">{trying.error.message}</span>}
        {trying.data !== undefined && <Tried {...trying.data} />}
      </p>
      {opened === "edit" && <EndpointDialog projectId={projectId} endpoint={endpoint} onClose={close} />}
      {opened === "rotate" && <RotateDialog projectId={projectId} endpoint={endpoint} onClose={close} />}
      {opened === "delete" && <DeleteDialog projectId={projectId} endpoint={endpoint} onClose={close} />}
    </>
  );
}

function PauseButton({ projectId, endpoint: { id, enabled, url } }: ActionProps) {
  const queries = useQueryClient();
  const toast = useToast();
  const switching = useMutation({
    mutationFn: () =>
      call(api.webhooks.updateEndpoint, { projectId, params: { id }, body: { enabled: !enabled } }),
    onSuccess: async (saved) => {
      await queries.invalidateQueries({ queryKey: resourceKey(api.webhooks.listEndpoints, { projectId }) });
      toast(saved.enabled ? t("Webhook endpoint enabled") : t("Webhook endpoint paused"), url);
    },
    onError: (error) => toast(t("Couldn't save the change"), error.message),
  });
  return (
    <Button busy={switching.isPending} onClick={() => switching.mutate()}>
      {enabled ? t("Pause") : t("Enable")}
    </Button>
  );
}

function RotateDialog({ projectId, endpoint: { id }, onClose }: ActionProps & { onClose: () => void }) {
  const rotating = useMutation({
    mutationFn: () => call(api.webhooks.rotateEndpointSecret, { projectId, params: { id } }),
  });
  if (rotating.data !== undefined) return <EndpointSecret secret={rotating.data.secret} onClose={onClose} />;
  return (
    <ConfirmDialog
      title={t("Rotate secret?")}
      description={t(
        "We create a new secret and sign with both for {hours} hours. Add the new secret to your app within that time.",
        { hours: LIMITS.webhookSecretHours.value },
      )}
      action={t("Rotate secret")}
      look="primary"
      doing={rotating}
      onClose={onClose}
    />
  );
}

function DeleteDialog({ projectId, endpoint: { id, url }, onClose }: ActionProps & { onClose: () => void }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const toast = useToast();
  const deleting = useMutation({
    mutationFn: () => call(api.webhooks.deleteEndpoint, { projectId, params: { id } }),
    onSuccess: async () => {
      // Leave first, so that the deliveries of the deleted endpoint are not read again.
      await navigate({ to: "/$projectId/settings", params: { projectId }, search: { tab: "webhooks" } });
      toast(t("Webhook endpoint deleted"), url);
      await queries.invalidateQueries({ queryKey: resourceKey(api.webhooks.listEndpoints, { projectId }) });
    },
  });
  return (
    <ConfirmDialog
      title={t("Delete endpoint?")}
      description={t("Events that wait for {url} won't be delivered. This can't be undone.", { url })}
      action={t("Delete endpoint")}
      doing={deleting}
      onClose={onClose}
    />
  );
}
