// What a condition may ask about in this project: fields of contacts, events, mails, other segments.
// Before it: condition-builder.tsx. After it: api/.
import { useQuery } from "@tanstack/react-query";
import { MAIL_ACTIVITIES } from "@postloft/contract/filter-fields.ts";
import { call } from "../../../api/call.ts";
import { listContactFields, listEventNames, listSegments } from "../../../api/endpoints.ts";
import { t } from "../../../text/t.ts";
import { formatShare } from "../../../ui/format.ts";

export interface FieldChoice {
  field: string;
  label: string;
}
export interface FieldGroup {
  label: string;
  choices: FieldChoice[];
}

const STANDARD: FieldChoice[] = [
  { field: "email", label: t("Address") },
  { field: "subscribed", label: t("Subscribed") },
  { field: "createdAt", label: t("Added") },
  { field: "updatedAt", label: t("Changed") },
];
const ACTIVITIES: Record<string, string> = {
  sent: t("A mail was sent"),
  delivered: t("A mail was delivered"),
  opened: t("A mail was opened"),
  clicked: t("A link was clicked"),
  bounced: t("A mail bounced"),
  complained: t("A mail was reported as spam"),
};

export interface SegmentName {
  id: string;
  name: string;
}

/** All segments of the project, by id and name. */
export function useSegmentNames(projectId: string): readonly SegmentName[] {
  const segments = useQuery({
    queryKey: ["project", projectId, "segments", "all"],
    queryFn: ({ signal }) => call(listSegments, { projectId, signal }),
  });
  const { data = [] } = segments;
  return Array.isArray(data) ? data : data.data;
}

/** `exceptSegment`: the one that is edited, which cannot stand on itself. */
export function useFieldGroups(projectId: string, exceptSegment: string | undefined): FieldGroup[] {
  const fields = useQuery({
    queryKey: ["project", projectId, "contact-fields"],
    queryFn: ({ signal }) => call(listContactFields, { projectId, signal }),
  });
  const events = useQuery({
    queryKey: ["project", projectId, "event-names"],
    queryFn: ({ signal }) => call(listEventNames, { projectId, signal }),
  });
  const segments = useSegmentNames(projectId);
  return [
    { label: t("Contact"), choices: STANDARD },
    {
      label: t("Your fields"),
      choices: (fields.data?.fields ?? [])
        .filter(({ isCustom }) => isCustom)
        .map(({ field, coverage }) => ({
          field,
          label: `${field.replace(/^data\./, "")} (${formatShare(coverage)})`,
        })),
    },
    {
      label: t("Mails"),
      choices: MAIL_ACTIVITIES.map((activity) => ({
        field: `email.${activity}`,
        label: ACTIVITIES[activity] ?? activity,
      })),
    },
    {
      label: t("Events"),
      choices: (events.data?.eventNames ?? [])
        .filter((name) => !/^(email|contact|segment)\./.test(name))
        .map((name) => ({ field: `event.${name}`, label: name })),
    },
    {
      label: t("Other segments"),
      choices: segments
        .filter(({ id }) => id !== exceptSegment)
        .map(({ id, name }) => ({ field: `segment.${id}`, label: name })),
    },
  ].filter(({ choices }) => choices.length > 0);
}

/** The name of a field as the groups have it; a field nobody has any more is called as it is written. */
export function nameIn(groups: readonly FieldGroup[]): (field: string) => string {
  const names = new Map(groups.flatMap(({ choices }) => choices.map(({ field, label }) => [field, label])));
  return (field) => names.get(field)?.replace(/ \([^)]*%\)$/, "") ?? field.replace(/^(data|event)\./, "");
}
