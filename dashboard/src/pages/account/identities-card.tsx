// Lists the external services connected to the account.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { resourceKey } from "../../api/query-key.ts";
import { query } from "../../api/query.ts";
import { useOtherWays } from "../../session/oauth.ts";
import { t } from "../../text/t.ts";
import { Button, buttonClass } from "../../ui/button.tsx";
import { formatAgo } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import { Failure } from "../../ui/states.tsx";
import { useToast } from "../../ui/toasts.tsx";

export function useIdentities() {
  return useQuery(query(api.users.identities));
}

/** Renders nothing if no service is configured or connected. */
export function IdentitiesCard() {
  const queries = useQueryClient();
  const toast = useToast();
  const identities = useIdentities();
  const ways = useOtherWays();
  const removing = useMutation({
    mutationFn: ({ id }: { id: string; title: string }) =>
      call(api.users.removeIdentity, { params: { identityId: id } }),
    onSuccess: (_, { title }) => toast(t("{service} disconnected", { service: title })),
    onError: (error) => toast(t("Couldn't save the change"), error.message),
    onSettled: () => queries.invalidateQueries({ queryKey: resourceKey(api.users.identities) }),
  });
  const connected = identities.data?.identities ?? [];
  const others = ways.filter(({ name }) => connected.every(({ provider }) => provider !== name));
  if (identities.isError)
    return <Failure error={identities.error} onRetry={() => void identities.refetch()} />;
  if (identities.isPending || connected.length + others.length === 0) return null;
  return (
    <Card>
      <header className="border-b border-line px-5 py-3">
        <h2 className="font-semibold">{t("Connected accounts")}</h2>
        <p className="text-sm text-soft">{t("We still ask for your two-factor code.")}</p>
      </header>
      <ul className="divide-y divide-line">
        {connected.map(({ id, title, email, createdAt }) => (
          <li key={id} className="flex flex-wrap items-center gap-x-4 gap-y-2 px-5 py-3">
            <div className="min-w-48 flex-1">
              <p className="font-medium">
                <bdi>{title}</bdi>
              </p>
              <p className="truncate text-sm text-faint">
                <bdi>{email}</bdi> · {t("Connected {when}", { when: formatAgo(createdAt) })}
              </p>
            </div>
            <Button look="quiet" disabled={removing.isPending} onClick={() => removing.mutate({ id, title })}>
              {t("Disconnect")}
            </Button>
          </li>
        ))}
        {others.map(({ name, title, beginAt }) => (
          <li key={name} className="flex items-center gap-4 px-5 py-3">
            <p className="flex-1 font-medium">
              <bdi>{title}</bdi>
            </p>
            <a href={beginAt(location.pathname, { connect: true })} className={buttonClass("plain")}>
              {t("Connect")}
            </a>
          </li>
        ))}
      </ul>
    </Card>
  );
}
