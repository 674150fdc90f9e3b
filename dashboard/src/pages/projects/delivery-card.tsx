// Where mail goes and whether it gets there: the way out, what holds it up, and a mail to oneself that tries it.
// Before it: home-page.tsx. After it: the mail's page has the whole of what was answered.
import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { call } from "../../api/call.ts";
import { getReadiness, send } from "../../api/endpoints.ts";
import { accountQuery, configQuery, type Project } from "../../session/queries.ts";
import { t } from "../../text/t.ts";
import { Button, buttonClass } from "../../ui/button.tsx";
import { Card } from "../../ui/page.tsx";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { useSender } from "../domains/sender.tsx";
import { emailQuery } from "../emails/email-query.ts";
import { StatusBadge } from "../emails/statuses.tsx";

const LOOK_EVERY_MS = 30_000;

export function DeliveryCard({ project }: { project: Project }) {
  const config = useQuery(configQuery);
  const provider = config.data?.features.email.provider;
  return (
    <Card className="p-5">
      <h2 className="font-semibold">{t("Delivery")}</h2>
      {config.isPending && <Skeleton className="mt-2 h-10" />}
      {provider !== undefined && (
        <p className="mt-0.5 text-sm text-soft">
          {provider === "mailbox"
            ? t("Mail stays on this machine, in the local mailbox.")
            : t("Mail leaves by {provider}.", { provider: provider.toUpperCase() })}
        </p>
      )}
      <QueueHealth />
      <TestMail project={project} />
    </Card>
  );
}

function QueueHealth() {
  const readiness = useQuery({
    queryKey: ["readiness"],
    queryFn: ({ signal }) => call(getReadiness, { signal }),
    refetchInterval: LOOK_EVERY_MS,
  });
  if (readiness.isPending) return <Skeleton className="mt-3 h-5" />;
  const codes = readiness.data?.warnings.map(({ code }) => code) ?? [];
  const trouble = readiness.isError
    ? t("This installation is not ready: its start page says why.")
    : codes.includes("HELD")
      ? t("Mail is held until the operator decides: the start page of the installation says why.")
      : codes.includes("TRANSPORT_OUTAGE")
        ? t("The mail server cannot be reached. Mail waits and leaves as soon as it can.")
        : undefined;
  return (
    <p className={`mt-3 flex items-start gap-2 text-sm ${trouble === undefined ? "" : "text-warn"}`}>
      <span
        className={`mt-1.5 size-2 shrink-0 rounded-full ${trouble === undefined ? "bg-good" : "bg-warn"}`}
        aria-hidden
      />
      {trouble ?? t("Nothing waits longer than it should.")}
    </p>
  );
}

function TestMail({ project }: { project: Project }) {
  const account = useQuery(accountQuery);
  const { domains, sender } = useSender(project);
  const sending = useMutation({
    mutationFn: ({ from, to }: { from: string; to: string }) =>
      call(send, {
        projectId: project.id,
        body: {
          to,
          from,
          subject: t("A test mail"),
          body: `<p>${t("It works.")}</p>`,
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
        {t("Add a domain to send from")}
      </Link>
    );
  return (
    <div className="mt-4 flex flex-col items-start gap-3">
      <Button
        onClick={() => sending.mutate({ from: sender, to })}
        disabled={project.disabled}
        busy={sending.isPending}
      >
        {t("Send me a test mail")}
      </Button>
      <p className="text-xs text-faint">{t("From {sender} to {address}", { sender, address: to })}</p>
      {sending.isError && <Failure error={sending.error} />}
      {id !== undefined && <Outcome projectId={project.id} id={id} />}
    </div>
  );
}

/** What became of it, as far as that is known by now. */
function Outcome({ projectId, id }: { projectId: string; id: string }) {
  const email = useQuery(emailQuery(projectId, id));
  if (email.data === undefined) return <Skeleton className="h-5 w-40" />;
  const { status, reason, timeline } = email.data;
  const answer = reason ?? timeline.findLast(({ detail }) => detail !== null)?.detail;
  return (
    <div role="status" className="flex w-full flex-col gap-1 text-sm">
      <span className="flex flex-wrap items-center gap-2">
        <StatusBadge status={status} />
        <Link
          to="/$projectId/emails/$emailId"
          params={{ projectId, emailId: id }}
          className="text-accent hover:underline"
        >
          {t("What happened to it")}
        </Link>
      </span>
      {answer !== undefined && <span className="font-mono text-xs wrap-anywhere text-soft">{answer}</span>}
    </div>
  );
}
