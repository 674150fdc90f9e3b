// Lists the transports of a project, which take its email instead of the installation's.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { useQuery } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useState } from "react";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import type { Project } from "../../session/queries.ts";
import { whyNot } from "../../session/rights.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { formatAgo } from "../../ui/format.ts";
import { Badge, Card } from "../../ui/page.tsx";
import { Empty, Failure, Skeleton } from "../../ui/states.tsx";
import { KINDS } from "../reports/names.ts";
import { TransportActions } from "./transport-actions.tsx";
import { TransportDialog, type ProjectTransport } from "./transport-dialog.tsx";

/** So that outages appear while the page is open. */
const POLL_EVERY_MS = 10_000;

export function TransportSettings({ project }: { project: Project }) {
  const appError = whyNot(project, "ADMIN");
  if (appError !== undefined)
    return (
      <Card>
        <Empty title={t("Transports")}>{appError}</Empty>
      </Card>
    );
  return <TransportList projectId={project.id} />;
}

function TransportList({ projectId }: { projectId: string }) {
  const [isAdding, setAdding] = useState(false);
  const transports = useQuery({
    ...query(api.projects.listTransports, { projectId }),
    refetchInterval: POLL_EVERY_MS,
  });
  const { data } = transports;
  if (data === undefined)
    return transports.isError ? (
      <Failure error={transports.error} onRetry={() => void transports.refetch()} />
    ) : (
      <Skeleton className="h-24" />
    );
  const isFull = data.data.length >= LIMITS.projectTransports.value;
  return (
    <Card>
      <header className="flex flex-wrap items-center justify-between gap-3 border-b border-line px-5 py-3">
        <div>
          <h2 className="font-semibold">{t("Transports")}</h2>
          <p className="text-sm text-soft">{t("Send email of this project through your own server.")}</p>
        </div>
        <Button
          look="primary"
          disabled={isFull}
          title={
            isFull
              ? t("A project can have up to {most} transports. Delete one first.", {
                  most: LIMITS.projectTransports.value,
                })
              : undefined
          }
          onClick={() => setAdding(true)}
        >
          <Plus size={15} aria-hidden /> {t("Add transport")}
        </Button>
      </header>
      {!data.areUsed && (
        <p className="border-b border-line px-5 py-3 text-sm text-warn">
          {t("This installation keeps all email in its local mailbox. These transports aren't used.")}
        </p>
      )}
      {data.data.length === 0 && (
        <Empty title={t("No transports yet")}>
          {t(
            "Email leaves through the transport of this installation. Add your SMTP server or Amazon SES account to send through it instead.",
          )}
        </Empty>
      )}
      <ul className="divide-y divide-line">
        {data.data.map((transport) => (
          <li key={transport.id} className="px-5 py-4">
            <Facts transport={transport} />
            <TransportActions projectId={projectId} transport={transport} />
          </li>
        ))}
      </ul>
      {isAdding && <TransportDialog projectId={projectId} onClose={() => setAdding(false)} />}
    </Card>
  );
}

function Facts({ transport }: { transport: ProjectTransport }) {
  const { name, url, kinds, domain, enabled, failingSince, lastError } = transport;
  return (
    <>
      <h3 className="font-medium wrap-anywhere">
        <bdi>{name}</bdi> <StateBadge transport={transport} />
      </h3>
      <p className="font-mono text-xs text-soft wrap-anywhere">
        <bdi>{url}</bdi>
      </p>
      <p className="text-sm text-soft wrap-anywhere">
        {[
          kinds === null ? t("All kinds of email") : kinds.map((kind) => KINDS[kind] ?? kind).join(", "),
          domain ?? t("All domains"),
        ].join(" · ")}
      </p>
      {enabled && failingSince !== null && (
        <p className="text-sm text-warn wrap-anywhere">
          {t("First failure: {when}", { when: formatAgo(failingSince) })}.{" "}
          {t("Email waits until the server works again.")} <bdi>{lastError}</bdi>
        </p>
      )}
    </>
  );
}

function StateBadge({ transport: { enabled, failingSince } }: { transport: ProjectTransport }) {
  if (!enabled) return <Badge tone="neutral">{t("Paused")}</Badge>;
  return failingSince === null ? (
    <Badge tone="good">{t("Enabled")}</Badge>
  ) : (
    <Badge tone="warn">{t("Failing")}</Badge>
  );
}
