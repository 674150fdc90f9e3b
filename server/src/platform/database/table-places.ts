// Where each table belongs in a database that is distributed over several nodes (docs/decisions/0165-distributed-by-project.md).

/** The table of the projects, which decides where the rows of each project are. */
export const ROOT_TABLE = { name: "projects", key: "id" } as const;

// The tables that are not distributed by project. All others have a `project_id` and are distributed by it. A house rule requires that each
// table is one or the other.

/** Copied to every node, because they are read before the project is known, or joined with the tables of projects. */
export const EVERYWHERE: readonly string[] = ["api_keys", "consent_sealed", "users"];

/** Joined with no table of a project. */
export const ON_COORDINATOR: readonly string[] = [
  "account_tokens",
  "identities",
  "installation",
  "notices",
  "passkey_challenges",
  "passkeys",
  "processes",
  "rate_windows",
  "recovery_codes",
  "schema_migrations",
  "second_factors",
  "senders",
  "sessions",
  "storage_days",
  "stripe_events",
];
