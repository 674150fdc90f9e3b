// Lists the recent deliveries of a webhook endpoint live, with a filter by state, and resends them.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { ApiResponse } from "../../api/address.ts";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { resourceKey } from "../../api/query-key.ts";
import { useList } from "../../api/use-list.ts";
import type { Project } from "../../session/queries.ts";
import { whyNot } from "../../session/rights.ts";
import { reasonText } from "../../text/reason-text.ts";
import { plural, t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Choices } from "../../ui/choices.tsx";
import { formatAgo, formatInstant, formatNumber } from "../../ui/format.ts";
import { More } from "../../ui/more.tsx";
import { Badge, Card } from "../../ui/page.tsx";
import { Empty, Failure } from "../../ui/states.tsx";
import { Table, type Column } from "../../ui/table.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { CALL_STATES } from "./notification-webhook.tsx";
import { DELIVERY_STATES, type DeliveryState } from "./search.ts";

type Delivery = ApiResponse<typeof api.webhooks.listDeliveries>["data"][number];

const POLL_EVERY_MS = 5_000;

interface DeliveryListProps {
  project: Project;
  endpointId: string;
  state: DeliveryState | undefined;
  onChoose: (state: DeliveryState | undefined) => void;
}

export function DeliveryList({ project, endpointId, state, onChoose }: DeliveryListProps) {
  const projectId = project.id;
  const isAdmin = whyNot(project, "ADMIN") === undefined;
  const list = useList(
    api.webhooks.listDeliveries,
    { projectId, params: { id: endpointId }, query: state === undefined ? {} : { state } },
    { pollEveryMs: POLL_EVERY_MS },
  );
  return (
    <section>
      <div className="mb-3 flex flex-wrap items-center justify-between gap-3">
        <h2 className="font-semibold">{t("Recent deliveries")}</h2>
        <Choices
          label={t("Status")}
          options={[
            { value: "all", label: t("All") },
            ...DELIVERY_STATES.map((value) => ({ value, label: CALL_STATES[value].label })),
          ]}
          value={state ?? "all"}
          onChoose={(chosen) => onChoose(chosen === "all" ? undefined : chosen)}
        />
        {isAdmin && <ResendFailed projectId={projectId} endpointId={endpointId} />}
      </div>
      {list.isError ? (
        <Failure error={list.error} onRetry={() => void list.refetch()} />
      ) : (
        <Card className="overflow-hidden">
          {list.rows?.length === 0 && !list.hasNextPage ? (
            <Empty title={state === undefined ? t("No deliveries yet") : t("No matching deliveries")}>
              {t("Deliveries appear here within seconds. We keep them for seven days.")}
            </Empty>
          ) : (
            <Table
              label={t("Recent deliveries")}
              columns={[...COLUMNS, ...(isAdmin ? [resendColumn(projectId, endpointId)] : [])]}
              rows={list.rows}
              rowKey={({ id }) => id}
              isStale={list.isPlaceholderData}
            />
          )}
        </Card>
      )}
      <More count="" list={list} />
    </section>
  );
}

const COLUMNS: Array<Column<Delivery>> = [
  {
    key: "number",
    head: t("Event"),
    width: "w-20",
    align: "end",
    cell: ({ number }) => formatNumber(number),
  },
  {
    key: "type",
    head: t("Type"),
    cell: ({ type, error }) => (
      <>
        <bdi className="font-mono text-xs">{type}</bdi>
        {error !== null && (
          <span className="block text-xs whitespace-normal text-bad wrap-anywhere">{reasonText(error)}</span>
        )}
      </>
    ),
  },
  {
    key: "state",
    head: t("Status"),
    width: "w-28",
    cell: ({ state }) => <Badge tone={CALL_STATES[state].tone}>{CALL_STATES[state].label}</Badge>,
  },
  {
    key: "response",
    head: t("Response"),
    width: "w-24",
    align: "end",
    cell: ({ status }) => status ?? "–",
  },
  {
    key: "ms",
    head: t("Duration"),
    width: "w-24",
    align: "end",
    cell: ({ durationMs }) => (durationMs === null ? "–" : `${durationMs} ms`),
  },
  {
    key: "at",
    head: t("Time"),
    width: "w-32",
    align: "end",
    cell: ({ createdAt }) => <span title={formatInstant(createdAt)}>{formatAgo(createdAt)}</span>,
  },
];

function resendColumn(projectId: string, endpointId: string): Column<Delivery> {
  return {
    key: "resend",
    head: "",
    width: "w-28",
    align: "end",
    cell: ({ id, number }) => (
      <ResendButton projectId={projectId} params={{ id: endpointId, deliveryId: id }} number={number} />
    ),
  };
}

interface ResendButtonProps {
  projectId: string;
  params: { id: string; deliveryId: string };
  number: number;
}

function ResendButton({ projectId, params, number }: ResendButtonProps) {
  const queries = useQueryClient();
  const toast = useToast();
  const resending = useMutation({
    mutationFn: () => call(api.webhooks.resendDelivery, { projectId, params }),
    onSuccess: async () => {
      const queryKey = resourceKey(api.webhooks.listDeliveries, { projectId, params });
      await queries.invalidateQueries({ queryKey });
    },
    onError: (error) => toast(t("Couldn't resend"), error.message),
  });
  return (
    <Button
      look="quiet"
      aria-label={t("Resend event {number}", { number })}
      busy={resending.isPending}
      onClick={() => resending.mutate()}
    >
      {t("Resend")}
    </Button>
  );
}

function ResendFailed({ projectId, endpointId }: { projectId: string; endpointId: string }) {
  const queries = useQueryClient();
  const toast = useToast();
  const params = { id: endpointId };
  const resending = useMutation({
    mutationFn: () => call(api.webhooks.resendFailed, { projectId, params }),
    onSuccess: async ({ resent, hasMore }) => {
      const queryKey = resourceKey(api.webhooks.listDeliveries, { projectId, params });
      await queries.invalidateQueries({ queryKey });
      toast(
        plural(resent, "{n} delivery resent", "{n} deliveries resent"),
        hasMore ? t("There are more. Resend again for the rest.") : {},
      );
    },
    onError: (error) => toast(t("Couldn't resend"), error.message),
  });
  return (
    <Button busy={resending.isPending} onClick={() => resending.mutate()}>
      {t("Resend all failed")}
    </Button>
  );
}
