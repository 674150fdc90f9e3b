// All that the outbox asks about who gets its mails, to be handed to it: contacts, and the suppression list.
// Before it: worker.ts starts the sender with it. After it: the handover check.
import type { RecipientChecks } from "../emails/outbox/recipients.ts";
import { CONTACT_CHECKS } from "../contacts/recipients.ts";
import { reasonOf } from "./queries.ts";

export const RECIPIENT_CHECKS: RecipientChecks = { ...CONTACT_CHECKS, suppressionOf: reasonOf };
