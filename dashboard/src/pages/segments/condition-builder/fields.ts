// Lists the fields a condition can use, with names: contact properties, custom fields, events, emails and other segments.
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { MAIL_ACTIVITIES } from "@postloft/contract/filter-fields.ts";
import { api } from "../../../api/endpoints.ts";
import { query } from "../../../api/query.ts";
import { plural, t } from "../../../text/t.ts";
import type { ComboboxGroup, ComboboxItem } from "../../../ui/combobox.tsx";
import { formatShare } from "../../../ui/format.ts";
import { coverageQuery, fieldsQuery } from "../../contacts/field-queries.ts";
import { segmentsQuery } from "../segment-queries.ts";
import type { FieldType } from "./condition-tree.ts";

export interface Fields {
  groups: ComboboxGroup[];
  /** Returns the type of a custom field; undefined if no contact has it. */
  typeOf: (field: string) => FieldType | undefined;
  nameOf: (field: string) => string;
  /** Requests the fill rates, once a user opens the list of fields. */
  askCoverage: () => void;
}

export const TYPE_NAMES: Record<FieldType, string> = {
  string: t("Text"),
  number: t("Number"),
  boolean: t("Yes or no"),
  date: t("Date"),
};
const MAIL_NAMES: Record<string, string> = {
  "email.sent": t("Email sent"),
  "email.delivered": t("Email delivered"),
  "email.opened": t("Email opened"),
  "email.clicked": t("Link clicked"),
  "email.bounced": t("Email bounced"),
  "email.complained": t("Reported as spam"),
};
const CONTACT_NAMES: Record<string, string> = {
  email: t("Email address"),
  subscribed: t("Subscription"),
  createdAt: t("Added"),
  updatedAt: t("Last updated"),
};

/** @param ownId the segment being edited, which cannot refer to itself */
export function useFields(projectId: string, ownId: string | undefined): Fields {
  const [isCoverageAsked, setCoverageAsked] = useState(false);
  const fields = useQuery(fieldsQuery(projectId));
  const coverage = useQuery({ ...coverageQuery(projectId), enabled: isCoverageAsked });
  const events = useQuery(query(api.events.names, { projectId }));
  const segments = useQuery(segmentsQuery(projectId));
  return useMemo(() => {
    const own = fields.data ?? [];
    const types = new Map(own.map(({ field, type }) => [field, type]));
    const names = new Map(segments.data?.map(({ id, name }) => [`segment.${id}`, name]));
    const nameOf = (field: string) =>
      CONTACT_NAMES[field] ?? MAIL_NAMES[field] ?? names.get(field) ?? withoutPrefix(field);
    const named = (value: string): ComboboxItem => ({ value, label: nameOf(value) });
    return {
      nameOf,
      askCoverage: () => setCoverageAsked(true),
      typeOf: (field) => types.get(field),
      groups: [
        { label: t("Contact"), items: Object.keys(CONTACT_NAMES).map(named) },
        {
          label: t("Custom fields"),
          items: own.map(({ field, type }) => ({
            ...named(field),
            note: recordOf(type, coverage.data?.get(field)),
          })),
        },
        {
          label: t("Events"),
          items: (events.data?.names ?? [])
            // Email events have their own entries below.
            .filter(({ name }) => !name.startsWith("email."))
            .map(({ name, count }) => ({
              ...named(`event.${name}`),
              note: plural(count, "{n} time", "{n} times"),
            })),
        },
        { label: t("Email activity"), items: MAIL_ACTIVITIES.map((activity) => named(`email.${activity}`)) },
        {
          label: t("Segments"),
          items: (segments.data ?? [])
            .filter(({ id }) => id !== ownId)
            .map(({ id }) => named(`segment.${id}`)),
        },
      ],
    };
  }, [fields.data, coverage.data, events.data, segments.data, ownId]);
}

/** @param share undefined while loading */
function recordOf(type: FieldType, share: number | undefined): string {
  if (share === undefined) return TYPE_NAMES[type];
  return t("{type}, {share} of contacts", { type: TYPE_NAMES[type], share: formatShare(share) });
}

/** Offers fields and events that do not exist yet. */
export function creatableItems(typed: string): ComboboxItem[] {
  return [
    { value: `data.${typed}`, label: t("Custom field {name}", { name: typed }) },
    { value: `event.${typed}`, label: t("Event {name}", { name: typed }) },
  ];
}

function withoutPrefix(field: string): string {
  return field.slice(field.indexOf(".") + 1);
}
