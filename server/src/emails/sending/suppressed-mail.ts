// Mail to addresses on the suppression list, before it is rendered: whose addresses they are, and what is left of the copies.
import type { SuppressionReason } from "@postloft/contract/suppressions.ts";
import type { ListKind } from "../../message/message-headers.ts";
import type { Copies, Mailbox } from "../outbox/emails.ts";
import { NOT_SUBSCRIBED, SUPPRESSED } from "../outbox/rules.ts";
import type { ClaimedRow } from "./sender-queries.ts";

/** Finds which addresses are listed, and why; keys are project and address with a space between. */
export type FindSuppressed = (
  addresses: ReadonlyArray<{ projectId: string; email: string }>,
) => Promise<ReadonlyMap<string, SuppressionReason>>;

export interface SuppressedAddresses {
  /** Why the recipient of a mail gets nothing; undefined: nothing bars it. */
  reasonOf(row: ClaimedRow): SuppressionReason | undefined;
  /** The copies of a mail without those to addresses that are listed. */
  copiesOf(row: ClaimedRow): Copies;
}

const copiesIn = ({ copies }: ClaimedRow) => (copies ?? { cc: [], bcc: [] }) as Copies;

/** Asks for all addresses of a batch at once, and only for projects that look at their lists. */
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

/** Why a mail is skipped; null: it is wanted. `contact`: its own, where it still is. */
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
