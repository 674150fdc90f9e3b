// Explains condition by condition why a contact matches a filter or not.
import type { Filter } from "@postloft/contract/filters.ts";
import { readClock } from "../platform/clock.ts";
import type { Database } from "../platform/database/database.ts";
import { AppError } from "../platform/app-error.ts";
import {
  conditionsOf,
  type ConditionExplanation,
  type FilterExplanation,
} from "./filters/evaluate-filter.ts";
import type { Explainer } from "./filters/explain-apart.ts";
import { loadStoredContacts } from "./filters/load-contacts.ts";
import { loadSegmentsFor } from "./filters/load-segments.ts";

/** Maximum number of events per name counted for an explanation. */
const EVENTS_SHOWN = 100;

/**
 * Returns the explanation in the shape of the filter, and its conditions as a flat list.
 * @throws AppError CONTACT_NOT_FOUND, and the errors of `explain`.
 */
export async function explainForContact(
  { database, explainer }: { database: Database; explainer: Explainer },
  projectId: string,
  { filters, contactId }: { filters: Filter; contactId: string },
): Promise<{ matches: boolean; explanation: FilterExplanation; conditions: ConditionExplanation[] }> {
  const explanation = await explainer.explain(projectId, async () => {
    const segments = await loadSegmentsFor(database, projectId, [filters]);
    const contacts = await loadStoredContacts(database, {
      projectId,
      segments,
      contactIds: [contactId],
      filters: [filters],
      leastEvents: EVENTS_SHOWN,
    });
    const contact = contacts.get(contactId);
    if (contact === undefined) throw new AppError("CONTACT_NOT_FOUND");
    return { filter: filters, contact, segments, now: await readClock(database) };
  });
  return { matches: explanation.matches, explanation, conditions: conditionsOf(explanation) };
}
