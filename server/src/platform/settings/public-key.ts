// The settings that limit the emails public keys can cause (docs/decisions/0116-limits-of-public-keys.md).
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { count } from "./forms.ts";

const { publicKeyEmailsPerHour, publicKeyEmailsPerDay, publicKeyFirstEmailsPerHour } = LIMITS;

export const PUBLIC_KEY_SETTINGS = {
  PUBLIC_KEY_EMAILS_PER_HOUR: {
    schema: count.default(publicKeyEmailsPerHour.value),
    default: String(publicKeyEmailsPerHour.value),
    meaning:
      "Emails that workflows send one contact within an hour because of events tracked with a public key; 0 turns the limit off.",
  },
  PUBLIC_KEY_EMAILS_PER_DAY: {
    schema: count.default(publicKeyEmailsPerDay.value),
    default: String(publicKeyEmailsPerDay.value),
    meaning: "The same within 24 hours; 0 turns the limit off.",
  },
  PUBLIC_KEY_FIRST_EMAILS_PER_HOUR: {
    schema: count.default(publicKeyFirstEmailsPerHour.value),
    default: String(publicKeyFirstEmailsPerHour.value),
    meaning:
      "First emails that workflows of one project send within an hour because of such events, to contacts that never asked for email; three times the project's hourly average of the last 30 days if that is more. 0 turns the limit off.",
  },
};
