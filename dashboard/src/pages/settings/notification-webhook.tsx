// Configures the notification webhook, with a test button and the results of recent calls.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import type { ApiResponse } from "../../api/address.ts";
import { call, problemWith } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import type { Project } from "../../session/queries.ts";
import { reasonText } from "../../text/reason-text.ts";
import { plural, t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { formatAgo } from "../../ui/format.ts";
import { Badge, Card, READABLE_CLASS, type Tone } from "../../ui/page.tsx";
import { Failure } from "../../ui/states.tsx";
import { Table, type Column } from "../../ui/table.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { useLeaveWarning } from "../../ui/use-leave-warning.ts";
import { NOTIFICATION_LABELS } from "./notification-labels.ts";

type Webhook = ApiResponse<typeof api.notifications.webhook>;
type Call = Webhook["calls"][number];

const webhookQuery = (projectId: string) => query(api.notifications.webhook, { projectId });

export function useNotificationWebhook(project: Project) {
  return useQuery(webhookQuery(project.id));
}

export function NotificationWebhook({ project, webhook }: { project: Project; webhook: Webhook }) {
  const stored = webhook.url ?? "";
  const [typed, setTyped] = useState<string | null>(null);
  const url = typed ?? stored;
  const isChanged = url.trim() !== stored;
  useLeaveWarning(isChanged);
  const queries = useQueryClient();
  const toast = useToast();
  const projectId = project.id;
  const saving = useMutation({
    mutationFn: (sent: string) =>
      call(api.notifications.setWebhook, {
        projectId,
        body: { url: sent.trim() === "" ? null : sent.trim() },
      }),
    onSuccess: (saved, sent) => {
      queries.setQueryData(webhookQuery(projectId).queryKey, saved);
      setTyped((now) => (now === sent ? null : now));
      toast(saved.url === null ? t("Webhook removed") : t("Webhook saved"));
    },
  });
  const trying = useMutation({ mutationFn: () => call(api.notifications.testWebhook, { projectId }) });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    saving.mutate(url);
  };
  return (
    <Card>
      <header className={`border-b border-line px-5 py-3 ${READABLE_CLASS}`}>
        <h2 className="font-semibold">{t("Your webhook")}</h2>
        <p className="text-sm text-soft">
          {t(
            "We send the notifications you select above as JSON, signed with the project's secret (GET /webhooks/secret). Failed requests are retried for an hour.",
          )}
        </p>
      </header>
      <form onSubmit={submit} noValidate className={`flex flex-col gap-4 p-5 ${READABLE_CLASS}`}>
        {saving.isError && <Failure error={saving.error} atInputs={["url"]} />}
        <Field
          label={t("URL")}
          type="url"
          inputMode="url"
          placeholder="https://example.com/hook"
          value={url}
          error={problemWith(saving.error, "url")}
          onChange={({ target }) => setTyped(target.value)}
        />
        <div className="flex flex-wrap items-center gap-2">
          <Button look="primary" type="submit" busy={saving.isPending} disabled={!isChanged}>
            {t("Save")}
          </Button>
          <Button busy={trying.isPending} disabled={webhook.url === null} onClick={() => trying.mutate()}>
            {t("Send test request")}
          </Button>
          <p role="status" className="text-sm">
            {trying.isError && <span className="text-bad">{trying.error.message}</span>}
            {trying.data !== undefined && <Tried {...trying.data} />}
          </p>
        </div>
      </form>
      {webhook.calls.length > 0 && (
        <Table label={t("Recent requests")} columns={COLUMNS} rows={webhook.calls} rowKey={({ id }) => id} />
      )}
    </Card>
  );
}

/** Shows the result of a test request. */
export function Tried({ status, error }: { status: number | null; error: string | null }) {
  return error === null ? (
    <span className="text-good">{t("Response: {status}", { status: String(status) })}</span>
  ) : (
    <span className="text-bad">{reasonText(error)}</span>
  );
}

export const CALL_STATES: Record<Call["state"], { tone: Tone; label: string }> = {
  waiting: { tone: "warn", label: t("Pending") },
  done: { tone: "good", label: t("Delivered") },
  failed: { tone: "bad", label: t("Failed") },
};

const COLUMNS: Column<Call>[] = [
  {
    key: "kind",
    head: t("Notification"),
    cell: ({ kind, error }) => (
      <>
        {NOTIFICATION_LABELS[kind]}
        {error !== null && <span className="block text-xs text-bad wrap-anywhere">{reasonText(error)}</span>}
      </>
    ),
  },
  {
    key: "state",
    head: t("Status"),
    width: "w-28",
    cell: ({ state }) => <Badge tone={CALL_STATES[state].tone}>{CALL_STATES[state].label}</Badge>,
  },
  {
    key: "tries",
    head: t("Attempts"),
    width: "w-28",
    cell: ({ tries }) => plural(tries, "{n} attempt", "{n} attempts"),
  },
  { key: "when", head: t("Time"), width: "w-36", cell: ({ createdAt }) => formatAgo(createdAt) },
];
