// Shows a contact's marketing consent and its history with sources.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import { t } from "../../text/t.ts";
import { formatInstant } from "../../ui/format.ts";
import { Badge, Card } from "../../ui/page.tsx";
import { CopyButton } from "../../ui/snippet.tsx";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { isArrival } from "./consent-events.ts";
import { arrivalText, SOURCES, type Change } from "./consent-words.ts";
import { SubscriptionBadge } from "./subscription-badge.tsx";

interface ConsentProps {
  projectId: string;
  id: string;
  isSubscribed: boolean;
}

export function Consent({ projectId, id, isSubscribed }: ConsentProps) {
  const consent = useQuery(query(api.contacts.consent, { projectId, params: { id } }, isSubscribed));
  return (
    <Card>
      <header className="flex items-center justify-between gap-3 border-b border-line px-5 py-4">
        <h2 className="font-medium">{t("Marketing email")}</h2>
        <SubscriptionBadge isSubscribed={isSubscribed} />
      </header>
      {consent.isPending && <Skeleton className="m-5 h-20" />}
      {consent.isError && <Failure error={consent.error} onRetry={() => void consent.refetch()} />}
      <ol className="divide-y divide-line">
        {consent.data?.data.map((change) => (
          <ChangeLine key={change.id} projectId={projectId} contactId={id} change={change} />
        ))}
      </ol>
      <PublicPages projectId={projectId} id={id} />
    </Card>
  );
}

interface ChangeLineProps {
  projectId: string;
  contactId: string;
  change: Change;
}

/** A contact that was added without a subscription never unsubscribed. */
function ChangeLine({ projectId, contactId, change }: ChangeLineProps) {
  const { subscribed, source, ip, email, at } = change;
  const isFirst = isArrival(change, contactId);
  const ended = isFirst ? t("Not subscribed") : t("Unsubscribed");
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 px-5 py-3 text-sm">
      <Badge tone={subscribed ? "good" : "neutral"}>{subscribed ? t("Subscribed") : ended}</Badge>
      <span className="flex-1">
        {isFirst ? arrivalText(change) : SOURCES[source]}
        {isFirst && source === "opt-out" && ` · ${SOURCES[source]}`}
        {ip !== null && <span className="text-faint"> {ip}</span>}
        {email !== null && <LeftThrough projectId={projectId} email={email} />}
      </span>
      <time dateTime={at} className="text-faint tabular-nums">
        {formatInstant(at)}
      </time>
    </li>
  );
}

/** Shows the email through which the contact unsubscribed or resubscribed, with its campaign. */
function LeftThrough({ projectId, email }: { projectId: string; email: NonNullable<Change["email"]> }) {
  const { id, subject, campaign } = email;
  const shown = subject === null || subject === "" ? t("No subject") : subject;
  return (
    <span className="block text-soft">
      {t("Email:")}{" "}
      <Link
        to="/$projectId/emails/$emailId"
        params={{ projectId, emailId: id }}
        className="text-accent hover:underline"
      >
        {shown}
      </Link>
      {campaign !== null && (
        <>
          {" · "}
          {t("Campaign:")}{" "}
          <Link
            to="/$projectId/campaigns/$campaignId"
            params={{ projectId, campaignId: campaign.id }}
            className="text-accent hover:underline"
          >
            {campaign.name}
          </Link>
        </>
      )}
    </span>
  );
}

/** Shows the contact's personal links, for people who ask how to unsubscribe or resubscribe. */
function PublicPages({ projectId, id }: { projectId: string; id: string }) {
  const links = useQuery(query(api.contacts.links, { projectId, params: { id } }));
  const pages = links.data && [
    { name: t("Manage"), copy: t("Copy manage link"), url: links.data.manageUrl },
    { name: t("Unsubscribe"), copy: t("Copy unsubscribe link"), url: links.data.unsubscribeUrl },
    { name: t("Subscribe"), copy: t("Copy subscribe link"), url: links.data.subscribeUrl },
  ];
  return (
    <section className="border-t border-line px-5 py-4 text-sm">
      <h3 className="font-medium">{t("Subscription links")}</h3>
      <p className="text-soft">
        {t(
          "Anyone with these links can change this contact's subscription. Share them only with the contact.",
        )}
      </p>
      {links.isPending && <Skeleton className="mt-2 h-21" />}
      {links.isError && <Failure error={links.error} onRetry={() => void links.refetch()} />}
      <ul className="mt-2">
        {pages?.map(({ name, copy, url }) => (
          <li key={name} className="flex items-center gap-3">
            <span className="w-28 shrink-0">{name}</span>
            <code className="min-w-0 flex-1 truncate font-mono text-xs text-soft">{url}</code>
            <CopyButton text={url} label={copy} />
          </li>
        ))}
      </ul>
    </section>
  );
}
