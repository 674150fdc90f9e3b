// What one is told by mail of a project: each choice holds at once. Before it: settings-page.tsx. After it: nothing.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { NotificationKind } from "@postloft/contract/notifications.ts";
import { call, type Answer } from "../../api/call.ts";
import { listNotifications, updateNotifications } from "../../api/endpoints.ts";
import type { Project } from "../../session/queries.ts";
import { t } from "../../text/t.ts";
import { Checkbox } from "../../ui/field.tsx";
import { Card } from "../../ui/page.tsx";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { useToast } from "../../ui/toasts.tsx";

type Choices = Answer<NonNullable<typeof listNotifications.endpoint>>;

const LABELS: Record<NotificationKind, string> = {
  "domain-lost": t("A sender domain lost its DNS proof"),
  "campaign-paused": t("A campaign, or mail to one provider, paused by itself"),
  "reputation-warning": t("Bounces or complaints come near to what disables the project"),
  "cap-near": t("A cap on the mails of a month is reached to 80 %"),
  "weekly-summary": t("A summary of the last week, on Mondays"),
};

export function NotificationSettings({ project }: { project: Project }) {
  const queries = useQueryClient();
  const toast = useToast();
  const queryKey = ["project", project.id, "notifications"];
  const params = { projectId: project.id };
  const choices = useQuery({
    queryKey,
    queryFn: ({ signal }) => call(listNotifications, { params, signal }),
  });
  const choosing = useMutation({
    mutationFn: ({ kind, byMail }: { kind: NotificationKind; byMail: boolean }) =>
      call(updateNotifications, { params, body: { [kind]: byMail } }),
    // Seen at once; put back where the server refuses.
    onMutate: async ({ kind, byMail }) => {
      await queries.cancelQueries({ queryKey });
      const before = queries.getQueryData<Choices>(queryKey);
      queries.setQueryData<Choices>(queryKey, (old) =>
        old?.map((one) => (one.kind === kind ? { ...one, byMail } : one)),
      );
      return { before };
    },
    onError: (error, _given, context) => {
      queries.setQueryData(queryKey, context?.before);
      toast(t("Nothing was changed"), error.message);
    },
    onSettled: () => queries.invalidateQueries({ queryKey }),
  });
  if (choices.isError) return <Failure error={choices.error} onRetry={() => void choices.refetch()} />;
  if (choices.data === undefined) return <Skeleton className="h-60" />;
  return (
    <Card className="max-w-3xl">
      <header className="border-b border-line px-5 py-3">
        <h2 className="font-semibold">{t("What you are told by mail")}</h2>
        <p className="text-sm text-soft">
          {t("Your own choice. That the project was disabled is told to all members.")}
        </p>
      </header>
      <ul className="divide-y divide-line">
        {choices.data.map(({ kind, byMail }) => (
          <li key={kind} className="px-5 py-3">
            <Checkbox
              label={LABELS[kind]}
              checked={byMail}
              onChange={(event) => choosing.mutate({ kind, byMail: event.target.checked })}
            />
          </li>
        ))}
      </ul>
    </Card>
  );
}
