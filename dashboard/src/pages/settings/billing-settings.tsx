// Shows the project's subscription, its next invoice and past invoices.
import { useMutation, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { ApiResponse } from "../../api/address.ts";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import type { Project } from "../../session/queries.ts";
import { whyNot } from "../../session/rights.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { formatDay, formatMoney } from "../../ui/format.ts";
import { Badge, Card, type Tone } from "../../ui/page.tsx";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { Table, type Column } from "../../ui/table.tsx";

type Consumption = ApiResponse<typeof api.billing.consumption>;
type Invoice = ApiResponse<typeof api.billing.invoices>["invoices"][number];

const STATUSES: Readonly<Record<string, { tone: Tone; label: string }>> = {
  draft: { tone: "neutral", label: t("Draft") },
  open: { tone: "warn", label: t("Open") },
  paid: { tone: "good", label: t("Paid") },
  uncollectible: { tone: "bad", label: t("Not collected") },
  void: { tone: "neutral", label: t("Void") },
};

/** Renders nothing if the installation does not bill. */
export function BillingSettings({ project }: { project: Project }) {
  const consumption = useQuery(query(api.billing.consumption, { projectId: project.id }));
  if (consumption.isPending) return <Skeleton className="h-24" />;
  if (consumption.isError)
    return <Failure error={consumption.error} onRetry={() => void consumption.refetch()} />;
  const { billingState } = consumption.data;
  if (billingState === "off") return null;
  return (
    <Card>
      <h2 className="border-b border-line px-5 py-3 font-semibold">{t("Billing")}</h2>
      <Subscription project={project} consumption={consumption.data} />
      {whyNot(project, "ADMIN") === undefined && <Invoices projectId={project.id} />}
    </Card>
  );
}

function Subscription({ project, consumption }: { project: Project; consumption: Consumption }) {
  const appError = whyNot(project, "ADMIN");
  const isNew = consumption.billingState === "no-subscription";
  const leaving = useMutation({
    mutationFn: () => call(isNew ? api.billing.checkout : api.billing.portal, { projectId: project.id }),
    onSuccess: ({ url }) => window.location.assign(url),
  });
  return (
    <div className="flex flex-col gap-3 px-5 py-4">
      {leaving.isError && <Failure error={leaving.error} />}
      <div className="flex flex-wrap items-center justify-between gap-3">
        <p>{whatIsDue(consumption)}</p>
        <Button
          look={isNew ? "primary" : "plain"}
          // Stay busy while Stripe's page loads.
          busy={leaving.isPending || leaving.isSuccess}
          disabled={appError !== undefined}
          title={appError}
          onClick={() => leaving.mutate()}
        >
          {isNew ? t("Subscribe") : t("Manage billing")}
        </Button>
      </div>
    </div>
  );
}

function whatIsDue({ billingState, upcomingInvoice: next }: Consumption): ReactNode {
  if (billingState === "no-subscription") return t("This project has no subscription.");
  if (billingState === "unknown") return t("Stripe didn't respond in time. Try again in a moment.");
  if (next === null) return t("Your subscription is active. No invoice is due.");
  return t("Next invoice (estimate): {amount} on {day}", {
    amount: formatMoney(next.amountDue, next.currency),
    day: formatDay(next.periodEnd),
  });
}

function Invoices({ projectId }: { projectId: string }) {
  const invoices = useQuery(query(api.billing.invoices, { projectId }));
  if (invoices.isError) return <Failure error={invoices.error} onRetry={() => void invoices.refetch()} />;
  if (invoices.data?.invoices.length === 0)
    return <p className="border-t border-line px-5 py-4 text-sm text-soft">{t("No invoices yet.")}</p>;
  return (
    <Table
      label={t("Invoices")}
      columns={INVOICE_COLUMNS}
      rows={invoices.data?.invoices}
      rowKey={({ id }) => id}
    />
  );
}

const INVOICE_COLUMNS: ReadonlyArray<Column<Invoice>> = [
  { key: "number", head: t("Invoice"), cell: (invoice) => <InvoiceLink invoice={invoice} /> },
  { key: "created", head: t("Date"), width: "w-36", cell: ({ created }) => formatDay(created) },
  {
    key: "status",
    head: t("Status"),
    width: "w-36",
    cell: ({ status }) => {
      const { tone, label } = STATUSES[status ?? ""] ?? { tone: "neutral", label: status ?? "–" };
      return <Badge tone={tone}>{label}</Badge>;
    },
  },
  {
    key: "total",
    head: t("Amount"),
    width: "w-32",
    align: "end",
    cell: ({ total, currency }) => formatMoney(total, currency),
  },
];

function InvoiceLink({ invoice: { number, hostedInvoiceUrl, invoicePdf } }: { invoice: Invoice }) {
  const url = hostedInvoiceUrl ?? invoicePdf;
  const name = number ?? t("Draft");
  if (url === null) return name;
  return (
    <a className="font-medium text-accent hover:underline" href={url} target="_blank" rel="noreferrer">
      {name}
    </a>
  );
}
