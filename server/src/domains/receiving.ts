// Domains of projects that receive email: which project an address belongs to, and the MX record that brings it here.
import type { receivingRecord, updateDomain } from "@postloft/contract/domains.ts";
import type { z } from "zod";
import type { Database } from "../platform/database/database.ts";
import { AppError } from "../platform/app-error.ts";
import { isVerified, type DomainView } from "./present-domain.ts";
import { findReceivingRows, type DomainRow, type FoundRecords } from "./queries.ts";
import { isLost, mxKey } from "./rules.ts";

type ReceivingRecord = z.output<typeof receivingRecord>;

/** Fields of a domain to change; those that are missing stay. */
export type DomainChanges = Readonly<z.output<(typeof updateDomain)["body"]>>;

/** Receivers of email prefer a lower number, but there is only one host. */
const PREFERENCE = 10;

/** A project that receives email at a domain. If the domain lost its proof a short time ago, senders should try again later. */
export interface DomainReceiver {
  projectId: string;
  isLost: boolean;
}

/** Returns the receiver of each domain that is or was recently verified. Other domains are missing. */
export async function findReceivers(
  database: Database,
  names: readonly string[],
  staysHere: boolean,
): Promise<Map<string, DomainReceiver>> {
  if (names.length === 0) return new Map();
  const found = new Map<string, DomainReceiver>();
  for (const row of await findReceivingRows(database, names)) {
    const { domain, projectId } = row;
    if (isVerified(row, staysHere)) found.set(domain, { projectId, isLost: false });
    // A project that has verified the domain since has it now.
    else if (isLost(row) && row.isRecent && !found.has(domain))
      found.set(domain, { projectId, isLost: true });
  }
  return found;
}

/** Returns the MX record to publish with the result of the last check. `found` has the hosts, one per line. */
function receivingRecordOf({ domain, receives }: DomainRow, found: FoundRecords, host: string) {
  const hosts = receives ? found[mxKey(domain)] : undefined;
  return {
    type: "MX",
    name: domain,
    value: `${PREFERENCE} ${host}`,
    found: hosts === undefined || hosts.length === 0 ? null : hosts.join("\n"),
    status: statusOf(hosts, host),
  } satisfies ReceivingRecord;
}

function statusOf(hosts: readonly string[] | undefined, host: string): ReceivingRecord["status"] {
  if (hosts === undefined) return "UNCHECKED";
  if (hosts.length === 0) return "MISSING";
  return hosts.some((one) => one.toLowerCase() === host.toLowerCase()) ? "FOUND" : "MISMATCH";
}

/** Returns the receiving of a domain for the API, or null if the installation receives no email. */
export function presentReceiving(row: DomainRow, host: string | null): DomainView["receiving"] {
  if (host === null) return null;
  return { enabled: row.receives, record: receivingRecordOf(row, row.dnsFound, host) };
}

/** @throws AppError CONFLICT if the installation receives no email */
export function checkReceives(host: string | null): void {
  if (host !== null) return;
  throw new AppError("CONFLICT", {
    message: "This installation receives no email. Ask your administrator to set INBOUND_DOMAIN.",
  });
}
