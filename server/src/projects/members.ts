// Who belongs to a project, for whatever the installation has to tell them.
// Before it: a verb of a later folder, in its own transaction. After it: emails/system-mail.ts takes the addresses.
import type { Tx } from "../platform/database.ts";
import { listMemberAddresses } from "./suspension-queries.ts";

/** The addresses of all members of a project. */
export async function readMemberAddresses(tx: Tx, projectId: string): Promise<string[]> {
  const rows = await listMemberAddresses(tx, [projectId]);
  return rows.map(({ email }) => email);
}
