// What came back about a mail: its state moves forward, its event is recorded, a hard bounce or complaint unsubscribes; all in one transaction.
// Before it: emails/outcomes.ts (what the transport told at once). After it: contacts/ and events/.
import type { Tx } from "../platform/database.ts";
import { recordEvents } from "../events/events.ts";
import { advanceEmails } from "../emails/emails.ts";
import type { Feedbacks } from "../emails/outcomes.ts";
import { flipAndRecord } from "../contacts/upsert-contacts.ts";
import { INTERPRETATIONS } from "./rules.ts";

export const applyFeedback: Feedbacks = async (tx: Tx, items) => {
  const notices = items.flatMap((item) =>
    INTERPRETATIONS[item.feedback].map((meaning) => ({ item, meaning })),
  );
  await advanceEmails(
    tx,
    notices.flatMap(({ item, meaning }) =>
      meaning.status === null
        ? []
        : [{ projectId: item.projectId, id: item.emailId, status: meaning.status }],
    ),
  );
  const known = notices.flatMap(({ item, meaning }) =>
    item.contactId === null ? [] : [{ item, meaning, contactId: item.contactId }],
  );
  await recordEvents(
    tx,
    known.map(({ item, meaning, contactId }) => ({
      projectId: item.projectId,
      contactId,
      name: meaning.event,
      data: { ...item.facts, ...meaning.data },
      emailId: item.emailId,
    })),
  );
  await flipAndRecord(
    tx,
    known.flatMap(({ item, meaning, contactId }) =>
      meaning.unsubscribe === null
        ? []
        : [{ projectId: item.projectId, id: contactId, subscribed: false, reason: meaning.unsubscribe }],
    ),
  );
};
