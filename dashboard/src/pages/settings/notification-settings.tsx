// Chooses the notifications about a project, by email and webhook. Changes are saved immediately.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { NotificationKind } from "@postloft/contract/notifications.ts";
import type { ApiResponse } from "../../api/address.ts";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import type { Project } from "../../session/queries.ts";
import { t } from "../../text/t.ts";
import { Checkbox } from "../../ui/field.tsx";
import { Card } from "../../ui/page.tsx";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { NOTIFICATION_LABELS } from "./notification-labels.ts";
import { NotificationWebhook, useNotificationWebhook } from "./notification-webhook.tsx";

type Choices = ApiResponse<typeof api.notifications.list>;
interface Choice {
  kind: NotificationKind;
  way: "byMail" | "byWebhook";
  isOn: boolean;
}

const bodyOf = ({ kind, way, isOn }: Choice) =>
  way === "byMail" ? { [kind]: isOn } : { webhook: { [kind]: isOn } };

export function NotificationSettings({ project }: { project: Project }) {
  const queries = useQueryClient();
  const toast = useToast();
  const projectId = project.id;
  const choicesQuery = query(api.notifications.list, { projectId });
  const { queryKey } = choicesQuery;
  const choices = useQuery(choicesQuery);
  const webhook = useNotificationWebhook(project);
  const choosing = useMutation({
    mutationFn: (choice: Choice) => call(api.notifications.update, { projectId, body: bodyOf(choice) }),
    // Update optimistically, and revert if the server rejects the change.
    onMutate: async ({ kind, way, isOn }) => {
      await queries.cancelQueries({ queryKey });
      const before = queries.getQueryData(queryKey);
      queries.setQueryData(queryKey, (old) =>
        old?.map((one) => (one.kind === kind ? { ...one, [way]: isOn } : one)),
      );
      return { before };
    },
    onError: (error, _input, context) => {
      queries.setQueryData(queryKey, context?.before);
      toast(t("Couldn't save the change"), error.message);
    },
    onSettled: () => queries.invalidateQueries({ queryKey }),
  });
  const failed = choices.error ?? webhook.error;
  const retry = () => void Promise.all([choices.refetch(), webhook.refetch()]);
  const isThere = choices.data !== undefined && webhook.data !== undefined;
  return (
    <div className="flex flex-col gap-5">
      {failed !== null && <Failure error={failed} onRetry={retry} />}
      {failed === null && !isThere && <Skeleton className="h-60" />}
      {isThere && (
        <>
          <ChoicesCard
            choices={choices.data}
            hasUrl={webhook.data.url !== null}
            onChoose={(choice) => choosing.mutate(choice)}
          />
          <NotificationWebhook key={project.id} project={project} webhook={webhook.data} />
        </>
      )}
    </div>
  );
}

interface ChoicesProps {
  choices: Choices;
  /** Whether a webhook URL is configured. */
  hasUrl: boolean;
  onChoose: (choice: Choice) => void;
}

function ChoicesCard({ choices, hasUrl, onChoose }: ChoicesProps) {
  return (
    <Card>
      <header className="border-b border-line px-5 py-3">
        <h2 className="font-semibold">{t("Notifications")}</h2>
        <p className="text-sm text-soft">
          {t("These apply only to you. Every member is emailed if the project is disabled.")}
        </p>
      </header>
      <ul className="divide-y divide-line">
        {choices.map(({ kind, byMail, byWebhook }) => (
          <li key={kind} className="flex flex-wrap items-center gap-x-6 gap-y-2 px-5 py-3">
            <span id={`told-${kind}`} className="min-w-64 flex-1 text-sm">
              {NOTIFICATION_LABELS[kind]}
            </span>
            <div role="group" aria-labelledby={`told-${kind}`} className="flex gap-6">
              <Checkbox
                label={t("Email")}
                checked={byMail}
                onChange={({ target }) => onChoose({ kind, way: "byMail", isOn: target.checked })}
              />
              <Checkbox
                label={t("Webhook")}
                checked={byWebhook && hasUrl}
                disabled={!hasUrl}
                onChange={({ target }) => onChoose({ kind, way: "byWebhook", isOn: target.checked })}
              />
            </div>
          </li>
        ))}
      </ul>
    </Card>
  );
}
