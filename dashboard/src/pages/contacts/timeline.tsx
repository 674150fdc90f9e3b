// All activity of one contact, newest first, down to how the contact was added.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { UserPlus } from "lucide-react";
import type { ReactNode } from "react";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import { useList } from "../../api/use-list.ts";
import { t } from "../../text/t.ts";
import { formatAgo, formatInstant } from "../../ui/format.ts";
import { More } from "../../ui/more.tsx";
import { Card } from "../../ui/page.tsx";
import { Failure } from "../../ui/states.tsx";
import { ActivityLines } from "../activity/activity-item.tsx";
import { changesOfEvents, isArrival } from "./consent-events.ts";
import { arrivalText, SOURCES, type Change } from "./consent-words.ts";

interface TimelineProps {
  projectId: string;
  contact: { id: string; subscribed: boolean; createdAt: string };
}

export function Timeline({ projectId, contact }: TimelineProps) {
  const list = useList(api.activity.list, { projectId, query: { contactId: contact.id } });
  const consent = useQuery(
    query(api.contacts.consent, { projectId, params: { id: contact.id } }, contact.subscribed),
  );
  if (list.isError) return <Failure error={list.error} onRetry={() => void list.refetch()} />;
  const log = consent.data?.data ?? [];
  const changes = changesOfEvents(list.rows ?? [], log, contact.id);
  const notes = new Map(
    [...changes].map(([id, change]) => [id, <Way key={id} projectId={projectId} change={change} />]),
  );
  return (
    <>
      <Card>
        <ActivityLines projectId={projectId} items={list.rows} isOfOne notes={notes} />
        {list.rows !== undefined && !list.hasNextPage && (
          <Arrival
            arrival={log.find((change) => isArrival(change, contact.id))}
            createdAt={contact.createdAt}
          />
        )}
      </Card>
      <More count="" list={list} />
    </>
  );
}

function Arrival({ arrival, createdAt }: { arrival: Change | undefined; createdAt: string }) {
  return (
    <div className="flex items-start gap-3 border-t border-line px-4 py-2 text-sm first:border-0">
      <span className="grid size-6 shrink-0 place-items-center rounded-full bg-hover text-soft">
        <UserPlus size={13} aria-hidden />
      </span>
      <p className="flex min-w-0 flex-1 flex-wrap gap-x-2 leading-6">
        <span className="font-medium">{arrival === undefined ? t("Added") : arrivalText(arrival)}</span>
        {arrival !== undefined && (
          <span className="text-soft">{arrival.subscribed ? t("Subscribed") : t("Not subscribed")}</span>
        )}
      </p>
      <time
        dateTime={createdAt}
        title={formatInstant(createdAt)}
        className="shrink-0 leading-6 text-faint tabular-nums"
      >
        {formatAgo(createdAt)}
      </time>
    </div>
  );
}

/** The place of a link in a translated text. */
const PLACE = "\u{fdd0}";

/** Says through which campaign or email a subscription changed, otherwise by which source. */
function Way({ projectId, change: { source, email } }: { projectId: string; change: Change }) {
  if (email === null) return <span className="text-soft">{SOURCES[source]}</span>;
  const { id, subject, campaign } = email;
  const className = "text-accent hover:underline";
  const link: ReactNode =
    campaign === null ? (
      <Link to="/$projectId/emails/$emailId" params={{ projectId, emailId: id }} className={className}>
        <bdi>{subject === null || subject === "" ? t("No subject") : subject}</bdi>
      </Link>
    ) : (
      <Link
        to="/$projectId/campaigns/$campaignId"
        params={{ projectId, campaignId: campaign.id }}
        className={className}
      >
        <bdi>{campaign.name}</bdi>
      </Link>
    );
  const [before, after] = t("through {name}", { name: PLACE }).split(PLACE);
  return (
    <span className="min-w-0 text-soft wrap-anywhere">
      {before}
      {link}
      {after} · {SOURCES[source]}
    </span>
  );
}
