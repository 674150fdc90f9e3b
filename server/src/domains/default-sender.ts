// Gives a project a default sender when its first domain is verified, so that a first email needs no `from` (docs/decisions/0106-first-sender.md).
import type { Tx } from "../platform/database/database.ts";
import { setFirstSender } from "../projects/default-senders.ts";
import { isVerified } from "./present-domain.ts";
import { listDomainRows } from "./queries.ts";

/** A mailbox name that people can reply to, neither "no reply" nor a person's name. */
const LOCAL_PART = "hello";

/**
 * Sets the project's default sender to an address of this domain if it is the only verified one and no default is set. Call `lockProject`
 * first, because project locks come before domain locks.
 */
export async function setDefaultSender(
  tx: Tx,
  { projectId, domain }: { projectId: string; domain: string },
  staysHere: boolean,
): Promise<void> {
  const verified = (await listDomainRows(tx, projectId)).filter((row) => isVerified(row, staysHere));
  if (verified.length !== 1 || verified[0]?.domain !== domain) return;
  await setFirstSender(tx, projectId, `${LOCAL_PART}@${domain}`);
}
