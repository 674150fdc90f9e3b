// The actions of a transport: test, edit, pause, delete.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { ApiResponse } from "../../api/address.ts";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { resourceKey } from "../../api/query-key.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmDialog } from "../../ui/confirm-dialog.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { TransportDialog, type ProjectTransport } from "./transport-dialog.tsx";

interface ActionProps {
  projectId: string;
  transport: ProjectTransport;
}

export function TransportActions({ projectId, transport }: ActionProps) {
  const [opened, setOpened] = useState<"edit" | "delete" | null>(null);
  const close = () => setOpened(null);
  const params = { id: transport.id };
  const trying = useMutation({ mutationFn: () => call(api.projects.testTransport, { projectId, params }) });
  return (
    <>
      <div className="mt-3 flex flex-wrap items-center gap-2">
        <Button busy={trying.isPending} onClick={() => trying.mutate()}>
          {t("Test connection")}
        </Button>
        <Button onClick={() => setOpened("edit")}>{t("Edit")}</Button>
        <PauseButton projectId={projectId} transport={transport} />
        <Button look="quiet" onClick={() => setOpened("delete")}>
          {t("Delete")}
        </Button>
      </div>
      <p role="status" className="mt-2 text-sm wrap-anywhere empty:hidden">
        {trying.isError && <span className="text-bad">{trying.error.message}</span>}
        {trying.data !== undefined && <Tested result={trying.data} />}
      </p>
      {opened === "edit" && <TransportDialog projectId={projectId} transport={transport} onClose={close} />}
      {opened === "delete" && <DeleteDialog projectId={projectId} transport={transport} onClose={close} />}
    </>
  );
}

function Tested({ result }: { result: ApiResponse<typeof api.projects.testTransport> }) {
  const { error, serverName, tls, login } = result;
  if (error !== null) return <span className="text-bad">{error}</span>;
  const logins = {
    accepted: t("login accepted"),
    none: t("no login"),
    untried: t("the access key is tested with the first email"),
  };
  const facts = [serverName, tls ?? t("not encrypted"), login === null ? null : logins[login]];
  return (
    <span className="text-good">
      {t("Connected: {facts}", { facts: facts.filter((fact) => fact !== null).join(", ") })}
    </span>
  );
}

function PauseButton({ projectId, transport: { id, enabled, name } }: ActionProps) {
  const queries = useQueryClient();
  const toast = useToast();
  const [isAsking, setAsking] = useState(false);
  const switching = useMutation({
    mutationFn: () =>
      call(api.projects.updateTransport, { projectId, params: { id }, body: { enabled: !enabled } }),
    onSuccess: async (saved) => {
      await queries.invalidateQueries({ queryKey: resourceKey(api.projects.listTransports, { projectId }) });
      toast(saved.enabled ? t("Transport enabled") : t("Transport paused"), name);
      setAsking(false);
    },
    onError: (error) => toast(t("Couldn't save the change"), error.message),
  });
  return (
    <>
      <Button busy={switching.isPending} onClick={() => (enabled ? setAsking(true) : switching.mutate())}>
        {enabled ? t("Pause") : t("Enable")}
      </Button>
      {isAsking && (
        <ConfirmDialog
          title={t("Pause transport?")}
          description={t(
            "Email of {name} that waits leaves through another transport of this project or through the installation.",
            { name },
          )}
          action={t("Pause transport")}
          doing={switching}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  );
}

function DeleteDialog({
  projectId,
  transport: { id, name },
  onClose,
}: ActionProps & { onClose: () => void }) {
  const queries = useQueryClient();
  const toast = useToast();
  const deleting = useMutation({
    mutationFn: () => call(api.projects.deleteTransport, { projectId, params: { id } }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: resourceKey(api.projects.listTransports, { projectId }) });
      toast(t("Transport deleted"), name);
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={t("Delete transport?")}
      description={t(
        "Email of {name} that waits leaves through another transport of this project or through the installation. This can't be undone.",
        { name },
      )}
      action={t("Delete transport")}
      doing={deleting}
      onClose={onClose}
    />
  );
}
