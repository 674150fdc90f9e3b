// Explains when a contact enters by a trigger DATE.
import type { TriggerConfig } from "@postloft/contract/workflows/graph.ts";
import { readClock } from "../../platform/clock.ts";
import type { Database } from "../../platform/database/database.ts";
import { findValues, listDatesOf } from "./date-queries.ts";
import { dateKeysOf, nextDateEntry, zoneFor } from "./times-at-dates.ts";

/** Returns whether the contact has a time at which it enters, and that time or the reason. */
export async function explainDate(
  database: Database,
  projectId: string,
  { workflowId, contactId, config }: { workflowId: string; contactId: string; config: TriggerConfig<"DATE"> },
): Promise<{ holds: boolean; message: string }> {
  const rows = await listDatesOf(database, projectId, [contactId]);
  const row = rows.find((one) => one.workflowId === workflowId);
  const now = await readClock(database);
  if (row !== undefined && row.dueAt <= now)
    return {
      holds: true,
      message: `The contact was to enter at ${row.dueAt.toISOString()} and enters soon.`,
    };
  const values = await findValues(database, projectId, dateKeysOf([config]), contactId);
  const entry = nextDateEntry(config, values, now);
  if (typeof entry === "string") return { holds: false, message: entry };
  const { problem } = zoneFor(config.timezone, values["timezone"]);
  const message = `The contact enters at ${entry.dueAt.toISOString()}.`;
  return { holds: true, message: problem === undefined ? message : `${message} ${problem}` };
}
