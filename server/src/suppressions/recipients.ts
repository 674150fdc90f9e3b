// Provides all checks of recipients to the outbox: contacts and the suppression list.
import type { RecipientChecks } from "../emails/rows/recipients.ts";
import { CONTACT_CHECKS } from "../contacts/recipients.ts";
import { reasonOf } from "./queries.ts";

export const RECIPIENT_CHECKS: RecipientChecks = { ...CONTACT_CHECKS, suppressionOf: reasonOf };
