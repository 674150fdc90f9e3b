// Filters for the contacts list, and the choice of custom field columns.
import { useQuery } from "@tanstack/react-query";
import { Check, Columns3, ListFilter } from "lucide-react";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Choices } from "../../ui/choices.tsx";
import { INPUT_CLASS } from "../../ui/field.tsx";
import { Menu, MenuItem } from "../../ui/menu.tsx";
import { SearchBox } from "../../ui/search-box.tsx";
import { segmentsQuery } from "../segments/segment-queries.ts";
import { fieldsQuery } from "./field-queries.ts";
import { fieldsOf, MAX_FIELD_COLUMNS, type ContactsChange, type ContactsSearch } from "./search.ts";

interface FiltersProps {
  projectId: string;
  search: ContactsSearch;
  onChange: (change: ContactsChange, replace?: boolean) => void;
}

interface ContactFiltersProps extends FiltersProps {
  /** Whether the filter builder is open. */
  isBuilding: boolean;
  onBuild: (isBuilding: boolean) => void;
}

export function ContactFilters({ isBuilding, onBuild, ...props }: ContactFiltersProps) {
  const { projectId, search, onChange } = props;
  return (
    <div className="mb-3 flex flex-wrap items-center gap-2">
      <SearchBox
        label={t("Search by email")}
        value={search.search ?? ""}
        onSearch={(text) => onChange({ search: text }, true)}
      />
      <Choices
        label={t("Subscription")}
        options={[
          { value: "all", label: t("All") },
          { value: "subscribed", label: t("Subscribed") },
          { value: "unsubscribed", label: t("Not subscribed") },
        ]}
        value={search.status ?? "all"}
        onChoose={(chosen) => onChange({ status: chosen === "all" ? undefined : chosen })}
      />
      <SegmentFilter projectId={projectId} search={search} onChange={onChange} />
      <Button look="quiet" aria-expanded={isBuilding} onClick={() => onBuild(!isBuilding)}>
        <ListFilter size={14} aria-hidden /> {t("Conditions")}
      </Button>
      <FieldMenu projectId={projectId} search={search} onChange={onChange} />
    </div>
  );
}

function SegmentFilter({ projectId, search, onChange }: FiltersProps) {
  const segments = useQuery(segmentsQuery(projectId));
  return (
    <select
      aria-label={t("Segment")}
      value={search.segment ?? ""}
      onChange={({ target }) => onChange({ segment: target.value === "" ? undefined : target.value })}
      className={`${INPUT_CLASS} max-w-40`}
    >
      <option value="">{t("All segments")}</option>
      {segments.data?.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  );
}

function FieldMenu({ projectId, search, onChange }: FiltersProps) {
  const own = useQuery(fieldsQuery(projectId)).data ?? [];
  const shown = fieldsOf(search);
  const toggle = (name: string) => {
    const others = shown.filter((one) => one !== name);
    const next = others.length < shown.length ? others : [...shown, name].slice(-MAX_FIELD_COLUMNS);
    onChange({ fields: next.length === 0 ? undefined : next.join(",") }, true);
  };
  return (
    <Menu
      label={t("Columns")}
      // Reserve the space before the fields load, so that the layout does not shift.
      className={`ml-auto ${own.length === 0 ? "invisible" : ""} inline-flex h-8 items-center gap-1.5 rounded-md px-2.5 text-sm text-soft hover:bg-hover hover:text-ink`}
      button={
        <>
          <Columns3 size={14} aria-hidden /> {t("Columns")}
        </>
      }
    >
      {own.map(({ field }) => {
        const name = field.slice("data.".length);
        return (
          <MenuItem key={field} onSelect={() => toggle(name)}>
            <bdi className="min-w-0 max-w-64 flex-1 truncate">{name}</bdi>
            {shown.includes(name) && <Check size={14} className="text-accent" aria-label={t("shown")} />}
          </MenuItem>
        );
      })}
    </Menu>
  );
}
