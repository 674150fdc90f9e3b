// Filters of the audit log: action, actor and days.
import { useQuery } from "@tanstack/react-query";
import type { ActorKind, AuditAction } from "@postloft/contract/audit.ts";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import { t } from "../../text/t.ts";
import { Field, Select } from "../../ui/field.tsx";

export interface AuditFilter {
  action?: AuditAction;
  /** The id of a user, or a kind of actor. */
  actor?: string;
  /** Days such as 2027-01-31, both included. */
  from?: string;
  to?: string;
}

export const HANDS: Record<ActorKind, string> = {
  person: t("User"),
  key: t("Secret key"),
  service: t("Postloft"),
};
/** Browsers accept years with six digits. */
const LAST_DAY = "9999-12-31";
const isKind = (actor: string): actor is ActorKind => actor in HANDS;

/** Returns the start of a day in the user's time zone, or of the day after. */
function startOf(day: string, daysLater = 0): string {
  const [year = 0, month = 1, date = 1] = day.split("-").map(Number);
  return new Date(year, month - 1, date + daysLater).toISOString();
}

export function queryOf({ action, actor, from, to }: AuditFilter) {
  return {
    ...(action === undefined ? {} : { action }),
    ...(actor === undefined ? {} : isKind(actor) ? { actorKind: actor } : { userId: actor }),
    ...(from === undefined ? {} : { since: startOf(from) }),
    ...(to === undefined ? {} : { until: startOf(to, 1) }),
  };
}

interface AuditFiltersProps {
  projectId: string;
  filter: AuditFilter;
  /** Names of the actions that the filter offers. */
  actions: Readonly<Partial<Record<AuditAction, string>>>;
  onChange: (filter: AuditFilter) => void;
}

export function AuditFilters({ projectId, filter, actions, onChange }: AuditFiltersProps) {
  const members = useQuery(query(api.members.list, { projectId }));
  const change = (name: keyof AuditFilter, value: string) => {
    const { [name]: _old, ...others } = filter;
    const isTooLate = (name === "from" || name === "to") && value.length > LAST_DAY.length;
    onChange(value === "" || isTooLate ? others : { ...others, [name]: value });
  };
  return (
    <div className="mb-4 grid gap-3 sm:grid-cols-2 lg:grid-cols-4">
      <Select
        label={t("Action")}
        value={filter.action ?? ""}
        onChange={({ target }) => change("action", target.value)}
        options={[
          { value: "", label: t("All actions") },
          ...Object.entries(actions).map(([value, label]) => ({ value, label })),
        ]}
      />
      <Select
        label={t("Actor")}
        value={filter.actor ?? ""}
        onChange={({ target }) => change("actor", target.value)}
        options={[
          { value: "", label: t("Everyone") },
          ...(members.data ?? []).map(({ userId, email }) => ({ value: userId, label: email })),
          { value: "key", label: HANDS.key },
          { value: "service", label: HANDS.service },
        ]}
      />
      <Field
        label={t("First day")}
        type="date"
        value={filter.from ?? ""}
        max={filter.to ?? LAST_DAY}
        onChange={({ target }) => change("from", target.value)}
      />
      <Field
        label={t("Last day")}
        type="date"
        value={filter.to ?? ""}
        min={filter.from}
        max={LAST_DAY}
        onChange={({ target }) => change("to", target.value)}
      />
    </div>
  );
}
