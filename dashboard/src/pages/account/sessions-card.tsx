// Lists the account's sessions and ends them.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { resourceKey } from "../../api/query-key.ts";
import { query } from "../../api/query.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { formatAgo } from "../../ui/format.ts";
import { Badge, Card } from "../../ui/page.tsx";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { deviceOf } from "./device-of.ts";

export function SessionsCard() {
  const queries = useQueryClient();
  const toast = useToast();
  const sessions = useQuery(query(api.users.listSessions));
  const onSettled = () => queries.invalidateQueries({ queryKey: resourceKey(api.users.listSessions) });
  const onError = (error: Error) => toast(t("Couldn't save the change"), error.message);
  const ending = useMutation({
    mutationFn: (sessionId: string) => call(api.users.endSession, { params: { sessionId } }),
    onSuccess: () => toast(t("Session ended")),
    onError,
    onSettled,
  });
  const endingOthers = useMutation({
    mutationFn: () => call(api.users.endOtherSessions),
    onSuccess: () => toast(t("All other sessions ended.")),
    onError,
    onSettled,
  });
  return (
    <Card>
      <header className="flex flex-wrap items-center justify-between gap-3 border-b border-line px-5 py-3">
        <h2 className="font-semibold">{t("Sessions")}</h2>
        {(sessions.data?.length ?? 0) > 1 && (
          <Button busy={endingOthers.isPending} onClick={() => endingOthers.mutate()}>
            {t("End all other sessions")}
          </Button>
        )}
      </header>
      {sessions.isPending && <Skeleton className="m-5 h-10" />}
      {sessions.isError && <Failure error={sessions.error} onRetry={() => void sessions.refetch()} />}
      <ul className="divide-y divide-line">
        {sessions.data?.map(({ id, isCurrent, ip, userAgent, createdAt, lastUsedAt }) => (
          <li key={id} className="flex flex-wrap items-center gap-x-4 gap-y-2 px-5 py-3">
            <div className="min-w-48 flex-1">
              <p className="truncate font-medium">
                <bdi>{deviceOf(userAgent)}</bdi> {isCurrent && <Badge tone="good">{t("This device")}</Badge>}
              </p>
              <p className="text-sm text-faint">
                {[
                  ...(ip === null ? [] : [ip]),
                  t("Signed in {when}", { when: formatAgo(createdAt) }),
                  ...(lastUsedAt === null ? [] : [t("Last used {when}", { when: formatAgo(lastUsedAt) })]),
                ].join(" · ")}
              </p>
            </div>
            {!isCurrent && (
              <Button look="quiet" disabled={ending.isPending} onClick={() => ending.mutate(id)}>
                {t("End")}
              </Button>
            )}
          </li>
        ))}
      </ul>
    </Card>
  );
}
