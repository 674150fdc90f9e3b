// Shows how many contacts match a filter, with samples, and explains the result for one contact condition by condition.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Check, X } from "lucide-react";
import { useState } from "react";
import type { Filter, FilterCondition } from "@postloft/contract/filters.ts";
import { problemOf } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import { plural, t } from "../../text/t.ts";
import { formatInstant } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { useDebounced } from "../../ui/use-debounced.ts";
import { ContactCount } from "../contacts/contact-count.tsx";
import { useContacts, type ContactsList } from "../contacts/contact-list.ts";
import { ContactChoice, type ChosenContact } from "../mail-editor/contact-choice.tsx";
import { formatValue, phraseOf } from "./condition-builder/condition-sentence.ts";
import { kindOf } from "./condition-builder/condition-tree.ts";
import type { Fields } from "./condition-builder/fields.ts";

const TYPING_PAUSE_MS = 400;
const SAMPLES = 5;

/** Fetches the matches once typing pauses. @param filters null fetches nothing */
export function useMatches(projectId: string, filters: Filter | null): ContactsList {
  const asked = useDebounced(filters === null ? "" : JSON.stringify(filters), TYPING_PAUSE_MS);
  return useContacts(projectId, asked === "" ? null : { filter: JSON.parse(asked) as Filter });
}

interface MatchingContactsProps {
  projectId: string;
  /** Null while incomplete. */
  filters: Filter | null;
  matches: ContactsList;
  fields: Fields;
}

export function MatchingContacts({ projectId, filters, matches, fields }: MatchingContactsProps) {
  const { rows, error, isPlaceholderData } = matches;
  return (
    <div className="flex min-w-0 flex-col gap-5">
      <Card className="p-5">
        <h2 className="text-sm text-soft">{t("Matching contacts")}</h2>
        {filters === null ? (
          <p className="mt-1">{t("Complete the conditions to see matching contacts.")}</p>
        ) : error !== null ? (
          <p className="mt-1 text-sm text-bad">{problemOf(error) ?? error.message}</p>
        ) : rows === undefined ? (
          <Skeleton className="mt-2 h-20" />
        ) : (
          <div className={isPlaceholderData ? "opacity-60" : ""} aria-busy={isPlaceholderData}>
            <div className="mt-0.5 min-h-7 text-xl font-semibold tabular-nums" role="status">
              <ContactCount list={matches} />
            </div>
            <ul className="mt-2 text-sm text-soft">
              {rows.slice(0, SAMPLES).map(({ id, email }) => (
                <li key={id} className="truncate">
                  <Link
                    to="/$projectId/contacts/$contactId"
                    params={{ projectId, contactId: id }}
                    className="inline-block min-h-6 leading-6 hover:underline"
                  >
                    <bdi>{email}</bdi>
                  </Link>
                </li>
              ))}
            </ul>
          </div>
        )}
      </Card>
      {filters !== null && <Explanation projectId={projectId} filters={filters} fields={fields} />}
    </div>
  );
}

interface ExplanationProps {
  projectId: string;
  filters: Filter;
  fields: Fields;
}
type Explained = FilterCondition & { matches: boolean; seen?: unknown };

function Explanation({ projectId, filters, fields }: ExplanationProps) {
  const [contact, setContact] = useState<ChosenContact | null>(null);
  const asked = useDebounced(JSON.stringify(filters), TYPING_PAUSE_MS);
  const explained = useQuery({
    ...query(api.segments.explain, {
      projectId,
      body: { filters: JSON.parse(asked) as Filter, contactId: contact?.id ?? "" },
    }),
    enabled: contact !== null,
  });
  return (
    <Card className="p-5">
      <h2 className="font-medium">{t("Test a contact")}</h2>
      <p className="text-sm text-soft">{t("See why a contact is or isn't in this segment.")}</p>
      <div className="mt-2 -ml-3">
        <ContactChoice
          projectId={projectId}
          prompt={t("Choose a contact…")}
          chosen={contact}
          onChoose={setContact}
        />
      </div>
      {explained.isError && <Failure error={explained.error} />}
      {contact !== null && explained.data !== undefined && (
        <div role="status">
          <p className={`mt-2 font-medium ${explained.data.matches ? "text-good" : "text-bad"}`}>
            {explained.data.matches ? t("Matches") : t("Doesn't match")}
          </p>
          <Conditions conditions={explained.data.conditions as Explained[]} fields={fields} />
        </div>
      )}
    </Card>
  );
}

function Conditions({ conditions, fields }: { conditions: Explained[]; fields: Fields }) {
  return (
    <ul className="mt-1.5 flex flex-col gap-2 text-sm">
      {conditions.map((condition, at) => (
        <li key={at} className="flex gap-2">
          {condition.matches ? (
            <Check size={15} className="mt-0.5 shrink-0 text-good" aria-label={t("matches")} />
          ) : (
            <X size={15} className="mt-0.5 shrink-0 text-bad" aria-label={t("doesn't match")} />
          )}
          <span className="min-w-0 wrap-anywhere">
            <bdi className="block">{phraseOf(condition, fields)}</bdi>
            <bdi className="block text-faint">{seenText(condition)}</bdi>
          </span>
        </li>
      ))}
    </ul>
  );
}

/** Describes the actual value: for an event how often and when last, for a segment whether the contact is a member. */
function seenText({ field, seen }: Explained): string {
  const kind = kindOf(field);
  if (kind === "segment") return seen === true ? t("In the segment") : t("Not in the segment");
  if (kind === "event") {
    const { count = 0, lastAt = null } = (seen ?? {}) as { count?: number; lastAt?: string | null };
    if (lastAt === null) return t("Never");
    return plural(count, "Once, {when}", "{n} times, last {when}", { when: formatInstant(lastAt) });
  }
  return seen === null || seen === undefined
    ? t("No value")
    : t("Value: {value}", { value: typeof seen === "string" ? seen : formatValue(seen) });
}
