// Shows an email's header fields, from the local mailbox if it was kept there, otherwise as they will be sent.
import { useQuery } from "@tanstack/react-query";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import { t } from "../../text/t.ts";
import { CopyButton } from "../../ui/snippet.tsx";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { previewQuery } from "./email-query.ts";

export function MailHeaders({ projectId, id }: { projectId: string; id: string }) {
  const preview = useQuery(previewQuery(projectId, id));
  const messageId = preview.data?.mailboxMessageId ?? null;
  const kept = useQuery({
    ...query(api.mailbox.get, { projectId, params: { id: messageId ?? "" } }),
    select: ({ headers }) => headers,
    enabled: messageId !== null,
  });
  const asked = preview.isError || messageId === null ? preview : kept;
  if (asked.isError) return <Failure error={asked.error} onRetry={() => void asked.refetch()} />;
  const headers = messageId === null ? preview.data?.headers : kept.data;
  if (headers === undefined) return <Skeleton className="h-60" />;
  return (
    <>
      <p className="mb-2 text-sm text-faint">
        {messageId === null
          ? t("Without the signature and the headers that other servers add.")
          : t("All headers, as received by the local mailbox.")}
      </p>
      <div className="relative rounded-md border border-line bg-side">
        <dl
          tabIndex={0}
          className="grid max-h-152 grid-cols-1 gap-y-1.5 overflow-auto py-4 pr-12 pl-4 font-mono text-xs leading-5 sm:grid-cols-[11rem_minmax(0,1fr)] sm:gap-x-4"
        >
          {headers.map(({ name, value }, index) => (
            <div key={index} className="contents">
              <dt className="wrap-anywhere text-faint max-sm:mt-1.5">{name}</dt>
              <dd className="wrap-anywhere whitespace-pre-wrap">
                <bdi>{value}</bdi>
              </dd>
            </div>
          ))}
        </dl>
        <div className="absolute top-1.5 right-1.5 rounded-sm bg-side">
          <CopyButton
            text={headers.map(({ name, value }) => `${name}: ${value}`).join("\n")}
            label={t("Copy headers")}
          />
        </div>
      </div>
    </>
  );
}
