// Limits the emails that workflows send because of calls with a public key, which anyone can make (docs/decisions/0116).
import { recordedReason } from "@postloft/contract/recorded-reasons.ts";
import type { NewEmail } from "../../emails/outbox/emails.ts";
import { readHourlyAverage } from "../../emails/results/sending-hours.ts";
import type { Config } from "../../platform/settings/config.ts";
import type { Tx } from "../../platform/database/database.ts";
import type { PUBLIC_KEY_SETTINGS } from "../../platform/settings/public-key.ts";
import { lockContacts } from "../../contacts/contacts.ts";
import { stepOf, type Execution } from "./execution.ts";
import { countFirstEmails, countPublicKeyEmails, lockFirstEmails } from "./public-key-queries.ts";

/** 0 turns a limit off. */
export type PublicKeyLimits = Pick<Config, keyof typeof PUBLIC_KEY_SETTINGS>;

/** Why an email was skipped, in plain words, by the code in the trace and in the event. */
export const PUBLIC_KEY_REASONS = {
  PUBLIC_KEY_LIMIT: recordedReason("publicKeyLimit"),
  FIRST_EMAIL_LIMIT: recordedReason("firstEmailLimit"),
  PUBLIC_KEY_RECIPIENT: recordedReason("publicKeyRecipient"),
} as const;
export type PublicKeyCode = keyof typeof PUBLIC_KEY_REASONS;

type Granted = { fromPublicKey: NonNullable<NewEmail["fromPublicKey"]> };

export interface PublicKeyAllowance {
  /** Takes one email to a contact. Returns the mark of the email, or the code of the limit that is reached. */
  take(contactId: string): Granted | { code: PublicKeyCode };
}

/** How many times its hourly average a project may send as first emails: daily peaks reach about that. */
const PEAK_FACTOR = 3;

interface Left {
  emails: number;
  /** Whether its next email is the first one to a contact that never asked. */
  isFirst: boolean;
}

/**
 * Reads how many emails public keys may still cause to the contacts whose executions are about to send one. Undefined if no execution has
 * the mark of a public key. The emails themselves are counted, so nothing is counted twice. The contacts stay locked until the transaction
 * ends, because executions in another transaction count the same emails.
 */
export async function readAllowance(
  tx: Tx,
  projectId: string,
  executions: readonly Execution[],
  limits: PublicKeyLimits,
): Promise<PublicKeyAllowance | undefined> {
  const contactIds = [...new Set(executions.flatMap(recipientOf))];
  if (contactIds.length === 0) return undefined;
  await lockContacts(tx, projectId, contactIds, "changing");
  const rows = await countPublicKeyEmails(tx, projectId, contactIds);
  const left = new Map(
    rows.map(({ contactId, lastHour, lastDay, isFirst }): [string, Left] => [
      contactId,
      {
        emails: Math.min(
          leftOf(limits.PUBLIC_KEY_EMAILS_PER_HOUR, lastHour),
          leftOf(limits.PUBLIC_KEY_EMAILS_PER_DAY, lastDay),
        ),
        isFirst,
      },
    ]),
  );
  let firstEmails = rows.some(({ isFirst }) => isFirst)
    ? await readFirstEmailsLeft(tx, projectId, limits.PUBLIC_KEY_FIRST_EMAILS_PER_HOUR)
    : 0;
  return {
    take(contactId) {
      const of = left.get(contactId) ?? { emails: 0, isFirst: false };
      if (of.emails <= 0) return { code: "PUBLIC_KEY_LIMIT" };
      if (of.isFirst && firstEmails <= 0) return { code: "FIRST_EMAIL_LIMIT" };
      const fromPublicKey = of.isFirst ? "FIRST" : "LATER";
      if (of.isFirst) firstEmails--;
      left.set(contactId, { emails: of.emails - 1, isFirst: false });
      return { fromPublicKey };
    },
  };
}

const leftOf = (limit: number, used: number) => (limit === 0 ? Infinity : limit - used);

/** The contact to whom an execution with the mark sends an email now. A custom recipient is an address of the project's choice. */
function recipientOf(execution: Execution): string[] {
  const step = stepOf(execution);
  const { fromPublicKey, contactId } = execution;
  if (!fromPublicKey || contactId === null || step?.type !== "SEND_EMAIL") return [];
  return step.config.recipient?.type === "CUSTOM" ? [] : [contactId];
}

async function readFirstEmailsLeft(tx: Tx, projectId: string, minimum: number): Promise<number> {
  if (minimum === 0) return Infinity;
  await lockFirstEmails(tx, projectId);
  const most = Math.max(minimum, Math.floor((await readHourlyAverage(tx, projectId)) * PEAK_FACTOR));
  return most - (await countFirstEmails(tx, projectId));
}
