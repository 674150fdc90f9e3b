// Compares the records of a domain with the previous check. Pure.
import { presentDomain } from "./present-domain.ts";
import type { DomainRow, FoundRecords } from "./queries.ts";
import type { RecordStatus } from "./record-status.ts";

export interface RecordChange {
  purpose: string;
  name: string;
  status: RecordStatus;
  found: string | null;
}

const keyOf = ({ purpose, name }: { purpose: string; name: string }) => `${purpose} ${name}`;

/** DNS returns several records of a name in any order. */
const inOrder = (found: string | null) => found?.split("\n").toSorted().join("\n") ?? null;

/** Returns the records with a changed value or status. Ignores records without an answer. */
export function recordChanges(row: DomainRow, now: FoundRecords, returnPath: string | null): RecordChange[] {
  const viewsOf = (found: FoundRecords) =>
    presentDomain({ ...row, dnsFound: found }, false, returnPath).records;
  const before = new Map(viewsOf(row.dnsFound).map((view) => [keyOf(view), view]));
  return viewsOf(now).flatMap((view) => {
    const { purpose, name, status, found } = view;
    const former = before.get(keyOf(view));
    const isSame = former?.status === status && inOrder(former.found) === inOrder(found);
    return isSame || status === "UNCHECKED" ? [] : [{ purpose, name, status, found }];
  });
}
