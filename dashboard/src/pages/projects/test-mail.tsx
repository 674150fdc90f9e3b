// Sends a test email to the signed-in user and shows the result.
import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { accountQuery, configQuery, type Project } from "../../session/queries.ts";
import { t } from "../../text/t.ts";
import { Button, buttonClass } from "../../ui/button.tsx";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { useSender } from "../domains/sender.tsx";
import { emailQuery } from "../emails/email-query.ts";
import { StatusBadge } from "../emails/statuses.tsx";

export function TestMail({ project }: { project: Project }) {
  const account = useQuery(accountQuery);
  const { domains, sender } = useSender(project);
  const sending = useMutation({
    mutationFn: ({ from, to }: { from: string; to: string }) =>
      call(api.v1.send, {
        projectId: project.id,
        body: {
          to,
          from,
          subject: t("Test email"),
          body: `<p>${t("Your test email works.")}</p>`,
        },
      }),
  });
  const id = sending.data?.emails[0]?.email;
  const to = account.data?.email;
  if (domains.isError)
    return (
      <div className="mt-4">
        <Failure error={domains.error} onRetry={() => void domains.refetch()} />
      </div>
    );
  if (domains.isPending || to === undefined) return <Skeleton className="mt-4 h-8" />;
  if (sender === undefined)
    return (
      <Link
        to="/$projectId/domains"
        params={{ projectId: project.id }}
        className={`mt-4 ${buttonClass("plain")}`}
      >
        {t("Add domain")}
      </Link>
    );
  return (
    <div className="mt-4 flex flex-col items-start gap-3">
      <Button
        onClick={() => sending.mutate({ from: sender, to })}
        disabled={project.disabled}
        busy={sending.isPending}
      >
        {t("Send test email")}
      </Button>
      <p className="text-xs text-faint">{t("From {sender} to {address}", { sender, address: to })}</p>
      {sending.isError && <Failure error={sending.error} />}
      {id !== undefined && <Outcome projectId={project.id} id={id} />}
    </div>
  );
}

/** Shows the current result of the test email. */
function Outcome({ projectId, id }: { projectId: string; id: string }) {
  const email = useQuery(emailQuery(projectId, id));
  const provider = useQuery(configQuery).data?.features.email.provider;
  if (email.data === undefined) return <Skeleton className="h-5 w-40" />;
  const { status, reason, timeline } = email.data;
  const response = reason ?? timeline.findLast(({ detail }) => detail !== null)?.detail;
  return (
    <div role="status" className="flex w-full flex-col gap-1 text-sm">
      <span className="flex flex-wrap items-center gap-2">
        <StatusBadge status={status} />
        <Link
          to="/$projectId/emails/$emailId"
          params={{ projectId, emailId: id }}
          className="text-accent hover:underline"
        >
          {t("View details")}
        </Link>
        {provider === "mailbox" && (
          <a href="/mailbox" className="text-accent hover:underline">
            {t("Open the mailbox")}
          </a>
        )}
      </span>
      {response !== undefined && (
        <span className="font-mono text-xs wrap-anywhere text-soft">{response}</span>
      )}
    </div>
  );
}
