// Unsubscribes the address an email was sent to after a hard bounce or complaint, whichever contact has it now.
import { parseAddress } from "@postloft/contract/address.ts";
import { hashAddress } from "../platform/address-hash.ts";
import type { Tx } from "../platform/database/database.ts";
import type { ReturnedMail } from "../emails/returned/returned-emails.ts";
import { SYSTEM_PROJECT_ID } from "../emails/rows/system-project.ts";
import type { ConsentSource } from "../contacts/consent.ts";
import { optOut, optOutErased } from "../contacts/opt-outs.ts";
import { flipAndRecord } from "../contacts/upsert-contacts.ts";

export interface UnwantedMail {
  mail: ReturnedMail;
  /** The recipients named in the report; null if there are none. */
  recipients: readonly string[] | null;
  source: ConsentSource;
}

/**
 * Unsubscribes the contacts that have the addresses of these emails. The address of a deleted contact is erased. If the report names the
 * address, its current contact is unsubscribed; otherwise an opt-out is kept for future contacts. An email redacted by age still applies to
 * its contact.
 */
export async function optOutOfMail(tx: Tx, unwanted: readonly UnwantedMail[]): Promise<void> {
  const own = unwanted
    .filter(({ mail }) => mail.projectId !== SYSTEM_PROJECT_ID)
    .map(({ mail, recipients, source }) => ({
      ...mail,
      recipients,
      via: { source, actor: null, ip: null, emailId: mail.id },
      address: mail.isForgotten ? null : addressOf(mail, recipients),
    }));
  await optOut(
    tx,
    own.flatMap(({ projectId, address, via }) =>
      address === null ? [] : [{ projectId, email: address, via }],
    ),
  );
  await optOutErased(
    tx,
    own.flatMap(({ projectId, address, recipients, erasedTo }) =>
      address === null && recipients === null && erasedTo !== null
        ? [{ projectId, addressHash: erasedTo }]
        : [],
    ),
  );
  await flipAndRecord(
    tx,
    own.flatMap(({ projectId, contactId, address, via }) =>
      address !== null || contactId === null ? [] : [{ projectId, id: contactId, subscribed: false, via }],
    ),
  );
}

/** Returns the address of an email, even if it was erased and the report names it. Null if nothing proves the address. */
function addressOf(
  { projectId, toAddress, erasedTo }: ReturnedMail,
  recipients: readonly string[] | null,
): string | null {
  if (toAddress !== "") return toAddress;
  for (const recipient of recipients ?? []) {
    const parsed = parseAddress(recipient);
    if (parsed.ok && hashAddress(projectId, parsed.address) === erasedTo) return parsed.address;
  }
  return null;
}
