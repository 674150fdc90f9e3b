// Lists the webhook endpoints of a project, or shows one of them with its deliveries.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useState } from "react";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import type { Project } from "../../session/queries.ts";
import { whyNot } from "../../session/rights.ts";
import { reasonText } from "../../text/reason-text.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { formatAgo } from "../../ui/format.ts";
import { Badge, Card } from "../../ui/page.tsx";
import { Empty, Failure, Skeleton } from "../../ui/states.tsx";
import type { DeliveryState } from "./search.ts";
import { EndpointActions } from "./webhook-actions.tsx";
import { DeliveryList } from "./webhook-deliveries.tsx";
import { EndpointDialog, type WebhookEndpoint } from "./webhook-dialog.tsx";

/** So that failures appear while the page is open. */
const POLL_EVERY_MS = 5_000;

interface WebhookSettingsProps {
  project: Project;
  /** Undefined for the list. */
  endpointId: string | undefined;
  state: DeliveryState | undefined;
  onChoose: (state: DeliveryState | undefined) => void;
}

export function WebhookSettings({ project, endpointId, state, onChoose }: WebhookSettingsProps) {
  const endpoints = useQuery({
    ...query(api.webhooks.listEndpoints, { projectId: project.id }),
    refetchInterval: POLL_EVERY_MS,
  });
  const rows = endpoints.data?.data;
  if (rows === undefined)
    return endpoints.isError ? (
      <Failure error={endpoints.error} onRetry={() => void endpoints.refetch()} />
    ) : (
      <Skeleton className="h-24" />
    );
  if (endpointId === undefined) return <EndpointList project={project} endpoints={rows} />;
  const shown = rows.find(({ id }) => id === endpointId);
  return (
    <div className="flex flex-col gap-5">
      <p className="text-sm">
        <Link
          to="/$projectId/settings"
          params={{ projectId: project.id }}
          search={{ tab: "webhooks" }}
          className="text-accent hover:underline"
        >
          {t("All webhook endpoints")}
        </Link>
      </p>
      {shown === undefined ? (
        <Card>
          <Empty title={t("Webhook endpoint not found")}>{t("It may have been deleted.")}</Empty>
        </Card>
      ) : (
        <>
          <EndpointCard project={project} endpoint={shown} />
          <DeliveryList
            key={shown.id}
            project={project}
            endpointId={shown.id}
            state={state}
            onChoose={onChoose}
          />
        </>
      )}
    </div>
  );
}

function EndpointList({ project, endpoints }: { project: Project; endpoints: readonly WebhookEndpoint[] }) {
  const [isAdding, setAdding] = useState(false);
  const appError = whyNot(project, "ADMIN");
  return (
    <Card>
      <header className="flex flex-wrap items-center justify-between gap-3 border-b border-line px-5 py-3">
        <div>
          <h2 className="font-semibold">{t("Webhook endpoints")}</h2>
          <p className="text-sm text-soft">{t("We send the events of this project to these URLs.")}</p>
        </div>
        <Button
          look="primary"
          disabled={appError !== undefined}
          title={appError}
          onClick={() => setAdding(true)}
        >
          <Plus size={15} aria-hidden /> {t("New endpoint")}
        </Button>
      </header>
      {endpoints.length === 0 && (
        <Empty
          title={t("No webhook endpoints yet")}
          action={
            // Underlined, because color alone does not mark a link.
            <a href="/docs" className="text-accent underline">
              {t("API docs")}
            </a>
          }
        >
          {t(
            "Add the URL of your app to receive events, such as deliveries and bounces. We sign each request and retry failed ones for three days.",
          )}
        </Empty>
      )}
      <ul className="divide-y divide-line">
        {endpoints.map((endpoint) => (
          <li key={endpoint.id} className="px-5 py-3">
            <p className="font-medium wrap-anywhere">
              <Link
                to="/$projectId/settings"
                params={{ projectId: project.id }}
                search={{ tab: "webhooks", endpoint: endpoint.id }}
                className="hover:underline"
              >
                <bdi>{endpoint.url}</bdi>
              </Link>{" "}
              <Badges endpoint={endpoint} />
            </p>
            <Facts endpoint={endpoint} />
          </li>
        ))}
      </ul>
      {isAdding && <EndpointDialog projectId={project.id} onClose={() => setAdding(false)} />}
    </Card>
  );
}

function EndpointCard({ project, endpoint }: { project: Project; endpoint: WebhookEndpoint }) {
  return (
    <Card className="px-5 py-4">
      <h2 className="font-semibold wrap-anywhere">
        <bdi>{endpoint.url}</bdi> <Badges endpoint={endpoint} />
      </h2>
      <Facts endpoint={endpoint} />
      {whyNot(project, "ADMIN") === undefined && (
        <EndpointActions projectId={project.id} endpoint={endpoint} />
      )}
    </Card>
  );
}

function Badges({ endpoint }: { endpoint: WebhookEndpoint }) {
  return (
    <>
      <StateBadge endpoint={endpoint} /> {endpoint.ordered && <Badge tone="neutral">{t("In order")}</Badge>}
    </>
  );
}

function StateBadge({ endpoint: { enabled, disabledReason, failingSince } }: { endpoint: WebhookEndpoint }) {
  if (disabledReason !== null) return <Badge tone="bad">{t("Disabled")}</Badge>;
  if (!enabled) return <Badge tone="neutral">{t("Paused")}</Badge>;
  return failingSince === null ? (
    <Badge tone="good">{t("Enabled")}</Badge>
  ) : (
    <Badge tone="warn">{t("Failing")}</Badge>
  );
}

function Facts({ endpoint }: { endpoint: WebhookEndpoint }) {
  const { description, eventTypes, disabledReason, enabled, failingSince } = endpoint;
  const { tags, batchSize, callsPerSecond } = endpoint;
  const limits = [
    ...(tags === null ? [] : [t("Tags: {tags}", { tags: tags.join(", ") })]),
    ...(batchSize === 1 ? [] : [t("Up to {count} events per call", { count: batchSize })]),
    ...(callsPerSecond === null ? [] : [t("Up to {count} calls per second", { count: callsPerSecond })]),
  ];
  return (
    <>
      {description !== null && description !== "" && (
        <p className="text-sm text-soft wrap-anywhere">
          <bdi>{description}</bdi>
        </p>
      )}
      <p className="font-mono text-xs text-soft wrap-anywhere">{eventTypes.join(", ")}</p>
      {limits.length > 0 && <p className="text-xs text-soft wrap-anywhere">{limits.join(" · ")}</p>}
      {disabledReason !== null && <p className="text-sm text-bad">{reasonText(disabledReason)}</p>}
      {enabled && failingSince !== null && (
        <p className="text-sm text-warn">{t("First failure: {when}", { when: formatAgo(failingSince) })}</p>
      )}
    </>
  );
}
