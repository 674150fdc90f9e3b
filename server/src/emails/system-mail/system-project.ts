// The project under which mail of the installation itself goes through the outbox. Its row is made by a migration; it has no key and no
// member, so no endpoint reaches it, and nothing of it is counted (docs/decisions/0070-system-mail.md).

/** Sorts before the id of every other project. */
export const SYSTEM_PROJECT_ID = "00000000-0000-7000-8000-000000000000";

/** The one content of all its mails: what each says stands in its variables. */
export const SYSTEM_CONTENT_ID = "00000000-0000-7000-8000-000000000001";
