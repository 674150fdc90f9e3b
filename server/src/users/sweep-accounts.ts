// What accounts leave behind: links that hold no more, and accounts of which nobody ever proved that they are theirs.
// Before it: worker.ts runs it, and hands in who is in a project. After it: account-queries.ts.
import { LIMITS } from "@postloft/contract/limits.ts";
import { nowMs } from "../platform/clock.ts";
import { transaction, type Database, type Tx } from "../platform/database.ts";
import { firstIdAt, NO_ID } from "../platform/ids.ts";
import { deleteUnproven, listUnproven, lockUsers } from "./account-queries.ts";
import { sweepTokens } from "./account.ts";

const DAY_MS = 86_400_000;
const BATCH = 500;

/** Which of these people have a part in a project. */
type ListMembers = (tx: Tx, userIds: readonly string[]) => Promise<string[]>;

/**
 * Anybody can make accounts of other people's addresses (docs/decisions/0095). One that is not proved goes after so many days, when it has
 * no session, no other way in and no project. The first account of an installation stays.
 */
export async function sweepAccounts(database: Database, listMembers: ListMembers): Promise<void> {
  await sweepTokens(database);
  const before = firstIdAt(nowMs() - LIMITS.unprovenDays.value * DAY_MS);
  for (let after: string | undefined = NO_ID; after !== undefined;) {
    const ids = await listUnproven(database, { after, before, limit: BATCH });
    if (ids.length > 0) await transaction(database, (tx) => deleteThose(tx, ids, listMembers));
    after = ids.length === BATCH ? ids.at(-1) : undefined;
  }
}

/** Looks again once they are locked: whoever logs in or is added to a project waits, or has been before. */
async function deleteThose(tx: Tx, ids: readonly string[], listMembers: ListMembers): Promise<void> {
  const locked = await lockUsers(tx, ids);
  const members = new Set(await listMembers(tx, locked));
  await deleteUnproven(
    tx,
    locked.filter((id) => !members.has(id)),
  );
}
