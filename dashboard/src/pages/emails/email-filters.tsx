// The search field and the filters of the emails page.
import { useQuery } from "@tanstack/react-query";
import { ListFilter } from "lucide-react";
import { useState, type ReactNode } from "react";
import type { EmailKind, EmailStatus } from "@postloft/contract/emails.ts";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { INPUT_CLASS } from "../../ui/field.tsx";
import { SearchBox } from "../../ui/search-box.tsx";
import { KINDS, PROVIDERS } from "../reports/names.ts";
import { SOUGHT, type EmailsChange, type EmailsSearch, type Sought } from "./search.ts";
import { FILTERED_STATUSES, STATUSES } from "./statuses.tsx";

const FILTERED_KINDS: readonly EmailKind[] = ["TRANSACTIONAL", "CAMPAIGN", "WORKFLOW"];
/** Campaigns and workflows offered in the filters, newest first. */
const OFFERED = "100";

const SOUGHT_NAMES: Record<Sought, string> = {
  to: t("Recipient"),
  subject: t("Subject"),
  messageId: t("Message-ID"),
};
const SEARCH_LABELS: Record<Sought, string> = {
  to: t("Search by recipient"),
  subject: t("Search by subject"),
  messageId: t("Search by Message-ID"),
};

interface FiltersProps {
  projectId: string;
  search: EmailsSearch;
  onChange: (change: EmailsChange, replace?: boolean) => void;
}

export function EmailFilters({ projectId, search, onChange }: FiltersProps) {
  const { campaign, workflow, provider, tag, from, until } = search;
  const hasMore = [campaign, workflow, provider, tag, from, until].some((one) => one !== undefined);
  const [isOpen, setOpen] = useState(hasMore);
  const sought = search.in ?? "to";
  return (
    <div className="mb-3 flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-2">
        <Options
          label={t("Search in")}
          value={sought}
          options={SOUGHT.map((value) => [value, SOUGHT_NAMES[value]])}
          onChoose={(chosen) =>
            onChange({ in: chosen === "to" ? undefined : (chosen as EmailsSearch["in"]) })
          }
        />
        <SearchBox
          label={SEARCH_LABELS[sought]}
          value={search.search ?? ""}
          onSearch={(text) => onChange({ search: text }, true)}
        />
        <Options
          label={t("Status")}
          all={t("All statuses")}
          value={search.status ?? ""}
          options={FILTERED_STATUSES.map((value) => [value, STATUSES[value].label])}
          onChoose={(chosen) => onChange({ status: (chosen || undefined) as EmailStatus | undefined })}
        />
        <Options
          label={t("Type")}
          all={t("All types")}
          value={search.kind ?? ""}
          options={FILTERED_KINDS.map((value) => [value, KINDS[value] ?? value])}
          onChoose={(chosen) => onChange({ kind: (chosen || undefined) as EmailKind | undefined })}
        />
        <Button look="quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          <ListFilter size={14} aria-hidden /> {t("More filters")}
        </Button>
      </div>
      {isOpen && <MoreFilters projectId={projectId} search={search} onChange={onChange} />}
    </div>
  );
}

function MoreFilters({ projectId, search, onChange }: FiltersProps) {
  const campaigns = useQuery(query(api.campaigns.list, { projectId, query: { limit: OFFERED } }));
  const workflows = useQuery(query(api.workflows.list, { projectId, query: { pageSize: OFFERED } }));
  // The contract declares the rows of pages with numbers as unknown.
  const offered = (workflows.data?.data ?? []) as ReadonlyArray<{ id: string; name: string }>;
  return (
    <div className="flex flex-wrap items-center gap-2">
      <Options
        label={t("Campaign")}
        all={t("All campaigns")}
        value={search.campaign ?? ""}
        options={(campaigns.data?.data ?? []).map(({ id, name }) => [id, name])}
        onChoose={(chosen) => onChange({ campaign: chosen || undefined })}
      />
      <Options
        label={t("Workflow")}
        all={t("All workflows")}
        value={search.workflow ?? ""}
        options={offered.map(({ id, name }) => [id, name])}
        onChoose={(chosen) => onChange({ workflow: chosen || undefined })}
      />
      <Options
        label={t("Provider")}
        all={t("All providers")}
        value={search.provider ?? ""}
        options={Object.entries(PROVIDERS)}
        onChoose={(chosen) => onChange({ provider: (chosen || undefined) as EmailsSearch["provider"] })}
      />
      <SearchBox label={t("Tag")} value={search.tag ?? ""} onSearch={(tag) => onChange({ tag }, true)} />
      <Day label={t("Since")} value={search.from} onChoose={(from) => onChange({ from })} />
      <Day label={t("Until")} value={search.until} onChoose={(until) => onChange({ until })} />
    </div>
  );
}

interface OptionsProps {
  label: string;
  /** The option for no filter. */
  all?: string;
  value: string;
  options: ReadonlyArray<readonly [value: string, name: string]>;
  onChoose: (value: string) => void;
}

function Options({ label, all, value, options, onChoose }: OptionsProps) {
  const isOffered = value === "" || options.some(([one]) => one === value);
  return (
    <select
      aria-label={label}
      value={value}
      onChange={({ target }) => onChoose(target.value)}
      className={`${INPUT_CLASS} max-w-40`}
    >
      {all !== undefined && <option value="">{all}</option>}
      {/* A link can name an old campaign or one that was deleted. */}
      {!isOffered && <option value={value}>{t("Not listed")}</option>}
      {options.map(([one, name]) => (
        <option key={one} value={one}>
          {name}
        </option>
      ))}
    </select>
  );
}

interface DayProps {
  label: ReactNode;
  value: string | undefined;
  onChoose: (day: string | undefined) => void;
}

function Day({ label, value, onChoose }: DayProps) {
  return (
    <label className="flex items-center gap-2 text-sm whitespace-nowrap text-soft">
      {label}
      <input
        type="date"
        value={value ?? ""}
        onChange={({ target }) => onChoose(target.value || undefined)}
        className={`${INPUT_CLASS} max-w-40`}
      />
    </label>
  );
}
