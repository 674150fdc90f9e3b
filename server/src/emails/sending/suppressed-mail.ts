// Checks the recipients and copies of emails against the suppression list before rendering.
import type { SuppressionReason } from "@postloft/contract/suppressions.ts";
import type { ListKind } from "../../message/message-headers.ts";
import type { Copies, Mailbox } from "../outbox/emails.ts";
import { NOT_SUBSCRIBED, SUPPRESSED } from "../rows/rules.ts";
import type { ClaimedRow } from "../rows/claimed-queries.ts";

/** Returns the listed addresses with the reason. Keys are project and address, separated by a space. */
export type FindSuppressed = (
  addresses: ReadonlyArray<{ projectId: string; email: string }>,
) => Promise<ReadonlyMap<string, SuppressionReason>>;

export interface SuppressedAddresses {
  /** Returns why the recipient is suppressed, or undefined if it is not. */
  reasonOf(row: ClaimedRow): SuppressionReason | undefined;
  /** Returns the copies without suppressed addresses. */
  copiesOf(row: ClaimedRow): Copies;
}

const copiesIn = ({ copies }: ClaimedRow) => (copies ?? { cc: [], bcc: [] }) as Copies;

/** Looks up all addresses of a batch in one call, but only for projects that use their suppression list. */
export async function readSuppressed(
  rows: readonly ClaimedRow[],
  find: FindSuppressed | undefined,
): Promise<SuppressedAddresses> {
  const watched = rows.filter((row) => row.suppressionList);
  const addresses = watched.flatMap((row) => {
    const { cc, bcc } = copiesIn(row);
    const emails = [row.toAddress, ...[...cc, ...bcc].map(({ address }) => address)];
    return emails.map((email) => ({ projectId: row.projectId, email }));
  });
  const found = addresses.length === 0 || find === undefined ? null : await find(addresses);
  return {
    reasonOf: (row) => (row.suppressionList ? found?.get(`${row.projectId} ${row.toAddress}`) : undefined),
    copiesOf(row) {
      const { cc, bcc } = copiesIn(row);
      if (found === null || !row.suppressionList) return { cc, bcc };
      const isWanted = ({ address }: Mailbox) => !found.has(`${row.projectId} ${address}`);
      return { cc: cc.filter(isWanted), bcc: bcc.filter(isWanted) };
    },
  };
}

/** Returns why an email is skipped, or null if it is wanted. `contact` is undefined if it was deleted. */
export function whyUnwanted(
  row: ClaimedRow,
  { listKind }: { listKind: ListKind | null },
  contact: { subscribed: boolean } | undefined,
  suppressed: SuppressedAddresses,
): string | null {
  const listed = suppressed.reasonOf(row);
  if (listed !== undefined) return SUPPRESSED[listed];
  return listKind !== null && contact?.subscribed !== true ? NOT_SUBSCRIBED : null;
}
