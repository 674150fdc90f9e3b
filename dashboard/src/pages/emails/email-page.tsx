// Shows one email: its status and reason, every attempt with the server's reply, and its content.
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { ArrowLeft } from "lucide-react";
import { useState } from "react";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import { reasonText } from "../../text/reason-text.ts";
import { t } from "../../text/t.ts";
import { Choices } from "../../ui/choices.tsx";
import { formatInstant } from "../../ui/format.ts";
import { MailFrame } from "../../ui/mail-frame.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { useProject } from "../project-shell.tsx";
import { Doubt } from "./doubt.tsx";
import { Facts } from "./email-facts.tsx";
import { emailQuery, previewQuery, type WholeEmail } from "./email-query.ts";
import { MailHeaders } from "./mail-headers.tsx";
import { EmailBadge, isScheduled } from "./statuses.tsx";
import { Waiting } from "./waiting.tsx";

const route = getRouteApi("/signed-in/$projectId/emails/$emailId");

export function EmailPage() {
  const project = useProject();
  const { emailId } = route.useParams();
  const email = useQuery(emailQuery(project.id, emailId));
  const { data } = email;
  return (
    <Page title={data?.subject || t("Email")} {...(data === undefined ? {} : { about: data.to })}>
      <Link
        to="/$projectId/emails"
        params={{ projectId: project.id }}
        search={{}}
        className="-mt-3 mb-5 inline-flex items-center gap-1.5 text-sm text-soft hover:text-ink"
      >
        <ArrowLeft size={14} aria-hidden /> {t("All emails")}
      </Link>
      {email.isPending && <Skeleton className="h-60" />}
      {email.isError && <Failure error={email.error} onRetry={() => void email.refetch()} />}
      {data !== undefined && (
        <div className="grid items-start gap-5 lg:grid-cols-[20rem_minmax(0,1fr)]">
          <div className="flex flex-col gap-5">
            <Waiting projectId={project.id} email={data} />
            {data.status === "UNCONFIRMED" && <Doubt projectId={project.id} email={data} />}
            <Timeline email={data} />
            <Facts projectId={project.id} email={data} />
          </div>
          {data.forgottenAt === null ? (
            <Content projectId={project.id} email={data} />
          ) : (
            <p className="text-sm text-soft">
              {t("Content and recipients were deleted on {when}, as set in the project settings.", {
                when: formatInstant(data.forgottenAt),
              })}
            </p>
          )}
        </div>
      )}
    </Page>
  );
}

const STEPS: Record<string, string> = {
  queued: t("Accepted"),
  attempt: t("Attempt"),
  resolved: t("Resolved manually"),
  "email.sent": t("Sent"),
  "email.delivery": t("Delivered"),
  "email.open": t("Opened"),
  "email.click": t("Clicked"),
  "email.machine-open": t("Automated open"),
  "email.machine-click": t("Automated click"),
  "email.bounce": t("Bounced"),
  "email.complaint": t("Reported as spam"),
};

function Timeline({ email }: { email: WholeEmail }) {
  const { reason, timeline } = email;
  // The reply to the last attempt is in the timeline already.
  const isAttempt = timeline.some(({ detail }) => detail?.includes(reason ?? ""));
  return (
    <Card className="p-5">
      <header className="mb-4 flex items-center justify-between gap-3">
        <h2 className="font-medium">{t("Timeline")}</h2>
        <EmailBadge email={email} />
      </header>
      {reason !== null && !isAttempt && <p className="mb-4 text-sm wrap-anywhere">{reasonText(reason)}</p>}
      <ol className="flex flex-col gap-4 border-l border-line pl-4">
        {timeline.map(({ type, at, detail, refusedBy, advice }, index) => (
          <li key={index} className="relative text-sm">
            <span
              className="absolute top-1.5 -left-[1.32rem] size-2 rounded-full bg-line-strong"
              aria-hidden
            />
            <div className="flex flex-wrap justify-between gap-x-3">
              <span className="font-medium">{STEPS[type] ?? type}</span>
              <time dateTime={at} className="text-faint tabular-nums">
                {formatInstant(at)}
              </time>
            </div>
            {refusedBy !== undefined && (
              <p className="text-soft">{t("Rejected by {who}", { who: refusedBy })}</p>
            )}
            {detail !== null && <p className="font-mono text-xs wrap-anywhere text-soft">{detail}</p>}
            {advice !== undefined && <p className="mt-0.5 text-soft">{advice}</p>}
          </li>
        ))}
      </ol>
      {email.nextAttemptAt !== null && !isScheduled(email) && (
        <p className="mt-4 text-sm text-soft">
          {t("Next attempt: {when}", { when: formatInstant(email.nextAttemptAt) })}
        </p>
      )}
    </Card>
  );
}

function Content({ projectId, email }: { projectId: string; email: WholeEmail }) {
  const [view, setView] = useState<"look" | "text" | "source" | "headers" | "returned">("look");
  return (
    <section className="min-w-0">
      <Choices
        look="tabs"
        label={t("Preview mode")}
        options={[
          { value: "look", label: t("Content") },
          { value: "text", label: t("Text") },
          { value: "source", label: t("HTML source") },
          { value: "headers", label: t("Headers") },
          ...(email.returnedMessages > 0 ? [{ value: "returned", label: t("Bounce message") } as const] : []),
        ]}
        value={view}
        onChoose={setView}
      />
      {(view === "look" || view === "text") && <AsRead projectId={projectId} id={email.id} view={view} />}
      {view === "source" && (
        <>
          <p className="mb-2 text-sm text-faint">{t("Source before variables are filled in.")}</p>
          <Plain>{email.body}</Plain>
        </>
      )}
      {view === "headers" && <MailHeaders projectId={projectId} id={email.id} />}
      {view === "returned" && <Returned projectId={projectId} id={email.id} />}
    </section>
  );
}

/** Shows the email as its recipient sees it. */
function AsRead({ projectId, id, view }: { projectId: string; id: string; view: "look" | "text" }) {
  const preview = useQuery(previewQuery(projectId, id));
  if (preview.isPending) return <Skeleton className="h-152" />;
  if (preview.isError) return <Failure error={preview.error} onRetry={() => void preview.refetch()} />;
  const { html, text, mailboxMessageId } = preview.data;
  return (
    <>
      <div className="mb-2 flex flex-wrap justify-between gap-x-4 gap-y-1 text-sm">
        <p className="text-faint">
          {t("Rendered with the contact's current data. Unsubscribe links are disabled here.")}
        </p>
        {mailboxMessageId !== null && (
          <a href={`/mailbox#${mailboxMessageId}`} className="text-accent hover:underline">
            {t("Open in the mailbox")}
          </a>
        )}
      </div>
      {view === "look" ? (
        <MailFrame title={t("Email content")} html={html} className="h-152 w-full" />
      ) : (
        <Plain>{text}</Plain>
      )}
    </>
  );
}

function Plain({ children }: { children: string }) {
  return (
    <pre
      tabIndex={0}
      className="max-h-152 overflow-auto rounded-md border border-line bg-side p-4 font-mono text-xs leading-5 whitespace-pre-wrap wrap-anywhere"
    >
      {children}
    </pre>
  );
}

function Returned({ projectId, id }: { projectId: string; id: string }) {
  const returned = useQuery(query(api.emails.returned, { projectId, params: { id } }));
  if (returned.isPending) return <Skeleton className="h-40" />;
  if (returned.isError) return <Failure error={returned.error} onRetry={() => void returned.refetch()} />;
  return (
    <div className="flex flex-col gap-4">
      {returned.data.data.map((message, index) => (
        <Card key={index} className="p-5">
          <h3 className="font-medium">
            <bdi>{message.subject ?? t("No subject")}</bdi>
          </h3>
          <p className="text-sm text-soft">
            <bdi>{message.from}</bdi> · {formatInstant(message.receivedAt)}
          </p>
          <pre className="mt-3 font-mono text-xs leading-5 whitespace-pre-wrap wrap-anywhere">
            {message.text}
          </pre>
        </Card>
      ))}
    </div>
  );
}
