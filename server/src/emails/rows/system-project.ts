// Ids of the project that platform email uses in the outbox. A migration creates it without keys or members, so no endpoint reaches it, and
// its emails are not counted (docs/decisions/0070-platform-email.md).

/** Sorts before all other project ids. */
export const SYSTEM_PROJECT_ID = "00000000-0000-7000-8000-000000000000";

/** The single content of platform email. The text of each email is in its variables. */
export const SYSTEM_CONTENT_ID = "00000000-0000-7000-8000-000000000001";
