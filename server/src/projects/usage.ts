// Who has a part in a project: asked before accounts are deleted that are nobody's.
// Before it: worker.ts hands this to users/. After it: queries.ts.
import type { Tx } from "../platform/database.ts";
import { listMembersAmong } from "./queries.ts";

/** Those of the people who own a project or belong to one. */
export async function membersAmong(tx: Tx, userIds: readonly string[]): Promise<string[]> {
  return listMembersAmong(tx, userIds);
}
