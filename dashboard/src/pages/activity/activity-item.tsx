// Renders one activity item per line: the action, the contact, the time and a link.
import { Link } from "@tanstack/react-router";
import {
  AlertTriangle,
  Bot,
  CalendarClock,
  CheckCheck,
  Eye,
  Flag,
  MailPlus,
  MailX,
  Megaphone,
  MousePointerClick,
  Play,
  Send,
  Undo2,
  UserMinus,
  UserPlus,
  Zap,
  type LucideIcon,
} from "lucide-react";
import type { ReactNode } from "react";
import type { z } from "zod";
import type { activity, ActivityType } from "@postloft/contract/activity.ts";
import { plural, t } from "../../text/t.ts";
import { formatAgo, formatInstant } from "../../ui/format.ts";
import { Skeleton } from "../../ui/states.tsx";
import { skipReasonText } from "../emails/skip-reason-text.ts";

export type Activity = Omit<z.output<typeof activity>, "type"> & { type: ActivityType | "workflow.waiting" };

const LOOKS: Record<Activity["type"], { icon: LucideIcon; says: string; isBad?: boolean }> = {
  "email.sent": { icon: Send, says: t("Email sent") },
  "email.delivered": { icon: CheckCheck, says: t("Email delivered") },
  "email.opened": { icon: Eye, says: t("Email opened") },
  "email.clicked": { icon: MousePointerClick, says: t("Link clicked") },
  "email.machine-opened": { icon: Bot, says: t("Automated open") },
  "email.machine-clicked": { icon: Bot, says: t("Automated click") },
  "email.bounced": { icon: Undo2, says: t("Email bounced"), isBad: true },
  "email.complaint": { icon: Flag, says: t("Reported as spam"), isBad: true },
  "email.skipped": { icon: MailX, says: t("Email skipped"), isBad: true },
  "email.received": { icon: MailPlus, says: t("Email received") },
  "contact.subscribed": { icon: UserPlus, says: t("Subscribed") },
  "contact.unsubscribed": { icon: UserMinus, says: t("Unsubscribed") },
  "event.triggered": { icon: Zap, says: t("Event") },
  "campaign.sent": { icon: Megaphone, says: t("Campaign sent") },
  "campaign.scheduled": { icon: CalendarClock, says: t("Campaign scheduled") },
  "workflow.started": { icon: Play, says: t("Workflow started") },
  "workflow.completed": { icon: CheckCheck, says: t("Workflow completed") },
  "workflow.failed": { icon: AlertTriangle, says: t("Workflow failed"), isBad: true },
  "workflow.waiting": { icon: CalendarClock, says: t("Workflow continues") },
};
const SKELETON_LINES = 8;
const UNKNOWN = { icon: AlertTriangle, says: t("Other activity"), isBad: false };

function lookOf({ type, metadata }: Activity) {
  const isExit = type === "workflow.completed" && metadata["status"] === "EXITED";
  return isExit ? { ...LOOKS[type], says: t("Workflow exited") } : (LOOKS[type] ?? UNKNOWN);
}

function textOf(metadata: Activity["metadata"], ...names: string[]): string | null {
  const found = names.map((name) => metadata[name]).find((value) => typeof value === "string");
  return typeof found === "string" && found !== "" ? found : null;
}

/** Returns the item's detail, such as a subject, a name or a clicked URL. */
function detailOf({ type, metadata }: Activity): string | null {
  if (type === "event.triggered") return textOf(metadata, "eventName");
  if (type === "email.skipped") return skipDetailOf(metadata);
  // The subject of a campaign still has its variables in it.
  if (type.startsWith("campaign.")) return textOf(metadata, "name", "subject");
  // A redacted email has an empty subject.
  return textOf(metadata, "url", "link", "subject", "name", "workflowName", "reason") || null;
}

function skipDetailOf(metadata: Activity["metadata"]): string | null {
  const reason = textOf(metadata, "reason");
  const parts = [textOf(metadata, "workflowName"), reason === null ? null : skipReasonText(reason)];
  return parts.filter((part) => part !== null).join(": ") || null;
}

interface LinesProps {
  projectId: string;
  items: readonly Activity[] | undefined;
  /** All items belong to the contact shown above, so lines omit the contact. */
  isOfOne?: boolean;
  /** Details by the ids of items, instead of the usual ones. */
  notes?: ReadonlyMap<string, ReactNode>;
}

/** Shows the items, or placeholders while loading. */
export function ActivityLines({ projectId, items, isOfOne = false, notes }: LinesProps) {
  return (
    <ol className="divide-y divide-line" aria-busy={items === undefined}>
      {items === undefined
        ? Array.from({ length: SKELETON_LINES }, (_unused, at) => (
            <li key={at} className="flex items-center gap-3 px-4 py-2.5">
              <Skeleton className="size-6 rounded-full" />
              <Skeleton className="h-3.5 w-80" />
            </li>
          ))
        : items.map((item) => (
            <ActivityItem
              key={item.id}
              projectId={projectId}
              item={item}
              isOfOne={isOfOne}
              note={notes?.get(item.id)}
            />
          ))}
    </ol>
  );
}

interface ItemProps extends Pick<LinesProps, "projectId" | "isOfOne"> {
  item: Activity;
  note: ReactNode;
}

function ActivityItem({ projectId, item, isOfOne = false, note }: ItemProps) {
  const { icon: Icon, says, isBad = false } = lookOf(item);
  const detail = detailOf(item);
  const emailId = textOf(item.metadata, "emailId");
  return (
    <li className="flex items-start gap-3 px-4 py-2 text-sm">
      <span
        className={`grid size-6 shrink-0 place-items-center rounded-full ${isBad ? "bg-bad-wash text-bad" : "bg-hover text-soft"}`}
      >
        <Icon size={13} aria-hidden />
      </span>
      <div className="flex min-w-0 flex-1 flex-wrap gap-x-2 leading-6">
        <span className={`font-medium ${isBad ? "text-bad" : ""}`}>{says}</span>
        {!isOfOne && item.contactEmail !== null && item.contactId !== null && (
          <Link
            to="/$projectId/contacts/$contactId"
            params={{ projectId, contactId: item.contactId }}
            className="min-h-6 truncate leading-6 hover:underline"
          >
            <bdi>{item.contactEmail}</bdi>
          </Link>
        )}
        {note}
        {note === undefined && detail !== null && (
          <Detail projectId={projectId} text={detail} emailId={emailId} />
        )}
        <SkippedEmails projectId={projectId} metadata={item.metadata} />
      </div>
      <time
        dateTime={item.timestamp}
        title={formatInstant(item.timestamp)}
        className="shrink-0 leading-6 text-faint tabular-nums"
      >
        {formatAgo(item.timestamp)}
      </time>
    </li>
  );
}

/** Says that a completed workflow skipped emails, and leads to its execution. */
function SkippedEmails({ projectId, metadata }: { projectId: string; metadata: Activity["metadata"] }) {
  const { skippedEmails: count } = metadata;
  const workflowId = textOf(metadata, "workflowId");
  const executionId = textOf(metadata, "executionId");
  if (typeof count !== "number" || workflowId === null || executionId === null) return null;
  const reason = textOf(metadata, "skipReason");
  return (
    <Link
      to="/$projectId/workflows/$workflowId/executions/$executionId"
      params={{ projectId, workflowId, executionId }}
      className="min-h-6 min-w-0 leading-6 wrap-anywhere text-warn hover:underline"
    >
      {plural(count, "{n} email skipped", "{n} emails skipped")}
      {reason !== null && `: ${skipReasonText(reason)}`}
    </Link>
  );
}

/** One line if there is room; wraps on phones. */
const DETAIL = "min-w-0 truncate max-sm:wrap-anywhere max-sm:whitespace-normal";

function Detail({ projectId, text, emailId }: { projectId: string; text: string; emailId: string | null }) {
  const shown = <bdi>{text}</bdi>;
  return emailId === null ? (
    <span className={`${DETAIL} text-soft`}>{shown}</span>
  ) : (
    <Link
      to="/$projectId/emails/$emailId"
      params={{ projectId, emailId }}
      className={`${DETAIL} min-h-6 leading-6 text-soft hover:underline`}
    >
      {shown}
    </Link>
  );
}
