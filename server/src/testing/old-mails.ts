// Creates old emails in the outbox for tests, with ids and message templates of that time.
import { sql } from "kysely";
import { vi } from "vitest";
import type { Tx } from "../platform/database/database.ts";
import { newId } from "../platform/ids.ts";
import { enqueueEmails, makeContent, type NewEmail } from "../emails/outbox/emails.ts";

const DAY_MS = 86_400_000;

/** Returns the time this many days ago. */
export const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS);

/** Creates something at another time. Synchronous, so that loops that compare clocks do not run in between. */
function madeAt<Made>(at: Date, make: () => Made): Made {
  vi.useFakeTimers({ toFake: ["Date"], now: at });
  try {
    return make();
  } finally {
    vi.useRealTimers();
  }
}

export type OldEmail = Omit<NewEmail, "content"> & { content: Parameters<typeof makeContent>[0] };

/** Adds emails to the outbox as of a past time and returns their ids. */
export async function enqueueOldEmails(tx: Tx, at: Date, emails: readonly OldEmail[]): Promise<string[]> {
  const ids = await enqueueEmails(
    tx,
    emails.map((email) => ({ ...email, content: madeAt(at, () => makeContent(email.content)) })),
  );
  const oldIds = madeAt(at, () => ids.map(() => newId()));
  await sql`
    update emails e set id = i.old_id, created_at = ${at}
    from unnest(${ids}::uuid[], ${oldIds}::uuid[]) as i (id, old_id) where e.id = i.id`.execute(tx);
  return oldIds;
}
