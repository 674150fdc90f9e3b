// Shows the audit log of a project with filters, newest first.
import { useState } from "react";
import type { AuditAction } from "@postloft/contract/audit.ts";
import type { ApiResponse } from "../../api/address.ts";
import { api } from "../../api/endpoints.ts";
import { useList } from "../../api/use-list.ts";
import type { Project } from "../../session/queries.ts";
import { whyNot } from "../../session/rights.ts";
import { plural, t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { formatInstant } from "../../ui/format.ts";
import { More } from "../../ui/more.tsx";
import { Card } from "../../ui/page.tsx";
import { Empty, Failure } from "../../ui/states.tsx";
import { Table, type Column } from "../../ui/table.tsx";
import { AuditFilters, HANDS, queryOf, type AuditFilter } from "./audit-filters.tsx";

type Entry = ApiResponse<typeof api.audit.list>["data"][number];

const ACTIONS: Partial<Record<AuditAction, string>> = {
  "project.created": t("Project created"),
  "project.updated": t("Settings changed"),
  "project.suspended": t("Project suspended"),
  "project.enabled": t("Project enabled"),
  "project.resetRequested": t("Reset requested"),
  "project.reset": t("Project reset"),
  "project.deletionRequested": t("Deletion requested"),
  "project.deleted": t("Project deleted"),
  "billing.checkoutOpened": t("Checkout opened"),
  "billing.subscriptionChanged": t("Subscription changed"),
  "billing.limitsChanged": t("Caps changed"),
  "keys.regenerated": t("API keys replaced"),
  "key.created": t("Scoped key created"),
  "key.revoked": t("Scoped key revoked"),
  "inboundAddress.regenerated": t("Inbound address replaced"),
  "member.added": t("Member added"),
  "member.roleChanged": t("Role changed"),
  "member.removed": t("Member removed"),
  "member.left": t("Member left"),
  "ownership.transferred": t("Ownership transferred"),
  "invitation.sent": t("Invitation sent"),
  "invitation.accepted": t("Invitation accepted"),
  "invitation.revoked": t("Invitation revoked"),
  "domain.added": t("Domain added"),
  "linkDomain.set": t("Link domain set"),
  "linkDomain.removed": t("Link domain removed"),
  "domain.updated": t("Domain settings changed"),
  "domain.keyRotated": t("DKIM key replaced"),
  "domain.removed": t("Domain removed"),
  "transport.added": t("Transport added"),
  "transport.updated": t("Transport changed"),
  "transport.removed": t("Transport deleted"),
  "webhookSecret.rotated": t("Webhook secret replaced"),
  "webhookEndpoint.added": t("Webhook endpoint added"),
  "webhookEndpoint.updated": t("Webhook endpoint changed"),
  "webhookEndpoint.secretRotated": t("Secret of a webhook endpoint replaced"),
  "webhookEndpoint.disabled": t("Failing webhook endpoint disabled"),
  "webhookEndpoint.removed": t("Webhook endpoint removed"),
  "suppressions.added": t("Addresses added to the suppression list"),
  "suppressions.imported": t("Suppression list imported"),
  "suppressions.exported": t("Suppression list exported"),
  "suppression.removed": t("Address removed from the suppression list"),
  "contacts.exported": t("Contacts exported"),
  "campaign.exported": t("Recipients of a campaign exported"),
  "campaign.sent": t("Campaign sent"),
  "campaign.scheduled": t("Campaign scheduled"),
  "campaign.cancelled": t("Campaign canceled"),
};
export function AuditLog({ project }: { project: Project }) {
  const appError = whyNot(project, "ADMIN");
  return appError === undefined ? (
    <Entries projectId={project.id} />
  ) : (
    <Card>
      <Empty title={t("You don't have access")}>{appError}</Empty>
    </Card>
  );
}

function Entries({ projectId }: { projectId: string }) {
  const [filter, setFilter] = useState<AuditFilter>({});
  const list = useList(api.audit.list, { projectId, query: queryOf(filter) });
  const filters = (
    <AuditFilters projectId={projectId} filter={filter} actions={ACTIONS} onChange={setFilter} />
  );
  if (list.isError)
    return (
      <>
        {filters}
        <Failure error={list.error} onRetry={() => void list.refetch()} />
      </>
    );
  return (
    <>
      {filters}
      <Card className="overflow-hidden">
        {list.rows?.length === 0 ? (
          <Empty
            title={t("No matching entries")}
            action={<Button onClick={() => setFilter({})}>{t("Clear filters")}</Button>}
          >
            {t("Try a different filter.")}
          </Empty>
        ) : (
          <Table
            label={t("Audit log")}
            columns={COLUMNS}
            rows={list.rows}
            rowKey={({ id }) => id}
            isStale={list.isPlaceholderData}
          />
        )}
      </Card>
      <More
        count={list.total === undefined ? "" : plural(list.total, "{n} entry", "{n} entries")}
        list={list}
      />
    </>
  );
}

const COLUMNS: Array<Column<Entry>> = [
  {
    key: "at",
    head: t("Time"),
    width: "w-44",
    cell: ({ at }) => <span className="text-soft tabular-nums">{formatInstant(at)}</span>,
  },
  {
    key: "actor",
    head: t("Actor"),
    cell: ({ actor }) => (
      <span title={actor.ip ?? undefined}>
        <bdi>{actor.email ?? HANDS[actor.kind]}</bdi>
      </span>
    ),
  },
  {
    key: "action",
    head: t("Action"),
    cell: ({ action }) => <span className="font-medium">{ACTIONS[action] ?? action}</span>,
  },
  {
    key: "target",
    head: t("Details"),
    cell: ({ target, details }) => {
      const text = [target?.name, ...describe(details)]
        .filter((part) => part != null && part !== "")
        .join(" · ");
      return (
        <span className="text-soft" title={text}>
          <bdi>{text}</bdi>
        </span>
      );
    },
  },
];

/** Returns each `{from, to}` pair as "name: from → to". */
function describe(details: Entry["details"]): string[] {
  return Object.entries(details).map(([name, value]) => {
    const { from, to } = (typeof value === "object" && value !== null ? value : {}) as Record<
      string,
      unknown
    >;
    return to === undefined ? `${name}: ${shown(value)}` : `${name}: ${shown(from)} → ${shown(to)}`;
  });
}

function shown(value: unknown): string {
  return typeof value === "string" ? value : value == null ? "–" : JSON.stringify(value);
}
