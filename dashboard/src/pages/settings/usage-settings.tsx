// Shows the emails sent this month and edits the monthly caps.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import type { CapCategory } from "@postloft/contract/limits/billing.ts";
import type { ApiResponse } from "../../api/address.ts";
import { call, problemWith } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import type { Project } from "../../session/queries.ts";
import { whyNot } from "../../session/rights.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { formatDay, formatNumber, formatPercent } from "../../ui/format.ts";
import { Badge, Card } from "../../ui/page.tsx";
import { Bar } from "../../ui/progress.tsx";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { withoutSaved } from "../../ui/typed.ts";
import { useLeaveWarning } from "../../ui/use-leave-warning.ts";
import { BillingSettings } from "./billing-settings.tsx";
import { projectUsage } from "./projected-usage.ts";
import { capsQuery } from "./reached-caps.ts";

type Caps = ApiResponse<typeof api.billing.limits>;
type Cap = Caps[CapCategory];

const LABELS: Record<CapCategory, string> = {
  transactional: t("Transactional emails"),
  campaigns: t("Campaign emails"),
  workflows: t("Workflow emails"),
};

const CATEGORIES = Object.keys(LABELS) as CapCategory[];

export function UsageSettings({ project }: { project: Project }) {
  const caps = useQuery(capsQuery(project.id));
  return (
    <div className="flex flex-col gap-5">
      {caps.isPending && <Skeleton className="h-60" />}
      {caps.isError && <Failure error={caps.error} onRetry={() => void caps.refetch()} />}
      {caps.data !== undefined && (
        <>
          <Card>
            <h2 className="border-b border-line px-5 py-3 font-semibold">{t("This month")}</h2>
            <ul className="divide-y divide-line">
              {CATEGORIES.map((category) => (
                <Usage key={category} label={LABELS[category]} cap={caps.data[category]} />
              ))}
            </ul>
          </Card>
          <CapsForm key={project.id} project={project} caps={caps.data} />
          <BillingSettings project={project} />
        </>
      )}
    </div>
  );
}

function Usage({ label, cap }: { label: string; cap: Cap }) {
  const { limit, usage, percentage, isWarning, isBlocked } = cap;
  const projection = projectUsage(usage, limit, new Date());
  return (
    <li className="px-5 py-3">
      <div className="flex flex-wrap items-baseline justify-between gap-x-4">
        <span className="font-medium">
          {label} {isBlocked && <Badge tone="bad">{t("Cap reached")}</Badge>}
          {!isBlocked && isWarning && <Badge tone="warn">{t("Almost full")}</Badge>}
        </span>
        <span className="text-sm text-soft tabular-nums">
          {limit === null
            ? formatNumber(usage)
            : t("{usage} of {limit}", { usage: formatNumber(usage), limit: formatNumber(limit) })}
          {percentage !== null && ` (${formatPercent(percentage)})`}
        </span>
      </div>
      {percentage !== null && (
        <div className="mt-2">
          <Bar label={label} share={percentage / 100} />
        </div>
      )}
      {projection !== null && (
        <p className={`mt-1 text-sm ${projection.reachedAt === null ? "text-faint" : "text-warn"}`}>
          {t("At this pace {total} by the end of the month.", { total: formatNumber(projection.total) })}{" "}
          {projection.reachedAt !== null &&
            t("The cap is reached on {day}.", { day: formatDay(projection.reachedAt.toISOString()) })}
        </p>
      )}
    </li>
  );
}

/** A positive integer or an empty text. */
const CAP = /^([1-9]\d*)?$/;
const valueOf = (text: string) => (text.trim() === "" ? null : Number(text));
/** Unsaved input. */
type Typed = Partial<Record<CapCategory, string>>;
const asText = ({ limit }: Cap) => (limit === null ? "" : String(limit));

/** Returns only the edited caps, because others may have been changed elsewhere. */
function changeOf(caps: Caps, typed: Typed): { [Category in CapCategory]?: number | null } {
  const changed = CATEGORIES.flatMap((category) => {
    const text = typed[category];
    return text === undefined || text.trim() === asText(caps[category]) ? [] : [[category, valueOf(text)]];
  });
  return Object.fromEntries(changed);
}

function CapsForm({ project, caps }: { project: Project; caps: Caps }) {
  const queries = useQueryClient();
  const toast = useToast();
  const appError = whyNot(project, "ADMIN");
  const [typed, setTyped] = useState<Typed>({});
  const textOf = (category: CapCategory) => typed[category] ?? asText(caps[category]);
  const isChanged = Object.keys(changeOf(caps, typed)).length > 0;
  useLeaveWarning(isChanged);
  const saving = useMutation({
    mutationFn: (sent: Typed) =>
      call(api.billing.updateLimits, { projectId: project.id, body: changeOf(caps, sent) }),
    onSuccess: (saved, sent) => {
      queries.setQueryData(capsQuery(project.id).queryKey, saved);
      setTyped((now) => withoutSaved(now, sent));
      toast(t("Caps changed"));
    },
  });
  const isFaulty = (category: CapCategory) => !CAP.test(textOf(category).trim());
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!CATEGORIES.some(isFaulty)) saving.mutate(typed);
  };
  return (
    <Card>
      <header className="border-b border-line px-5 py-3">
        <h2 className="font-semibold">{t("Monthly caps")}</h2>
        <p className="text-sm text-soft">
          {t(
            "Above a cap, we reject API calls and campaigns, and workflows skip their emails. Leave empty for no cap.",
          )}
        </p>
      </header>
      <form onSubmit={submit} noValidate className="grid max-w-200 gap-4 p-5 sm:grid-cols-3">
        {saving.isError && (
          <div className="empty:hidden sm:col-span-3">
            <Failure error={saving.error} atInputs={CATEGORIES} />
          </div>
        )}
        {CATEGORIES.map((category) => (
          <Field
            key={category}
            label={LABELS[category]}
            inputMode="numeric"
            disabled={appError !== undefined}
            value={textOf(category)}
            onChange={({ target }) => setTyped((before) => ({ ...before, [category]: target.value }))}
            error={
              isFaulty(category) ? t("Enter a whole number above 0.") : problemWith(saving.error, category)
            }
          />
        ))}
        <div className="flex justify-end sm:col-span-3">
          <Button
            type="submit"
            busy={saving.isPending}
            disabled={appError !== undefined || !isChanged}
            title={appError}
          >
            {t("Save caps")}
          </Button>
        </div>
      </form>
    </Card>
  );
}
