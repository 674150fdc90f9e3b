// Checks that only SQL uses snake_case: rows have camelCase keys in TypeScript (docs/decisions/0093).
import { lineAt, visit, type SourceFile } from "./source.ts";
import { tablesOf } from "./sql.ts";
import type { Finding, Rule } from "./tree.ts";

const SNAKE_CASE = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)+$/;
const HELD = "server/src/";

/** Names defined by others, and the files that use them. */
export interface ForeignNames {
  why: string;
  files: readonly string[];
  names: readonly string[];
}

const FOREIGN_NAMES: readonly ForeignNames[] = [
  {
    why: "field names used by clients of other services",
    files: ["server/src/platform/http/unknown-fields.test.ts", "server/src/v1/send-spellings.test.ts"],
    names: ["content_type", "file_name", "reply_to", "scheduled_for"],
  },
  {
    why: "Stripe objects and parameters",
    files: [
      "server/src/billing/billing.test.ts",
      "server/src/billing/billing.ts",
      "server/src/billing/stripe.ts",
      "server/src/billing/usage.test.ts",
      "server/src/testing/stripe-fake.ts",
    ],
    names:
      `amount_due amount_paid api_version cancel_url client_reference_id event_name has_more hosted_invoice_url invoice_pdf
      line_items period_end period_start return_url stripe_customer_id subscription_data success_url`.split(
        /\s+/,
      ),
  },
  {
    why: "OAuth and OpenID Connect parameters and claims",
    files: [
      "server/src/testing/identity-fake.ts",
      "server/src/users/oauth/oauth.test.ts",
      "server/src/users/oauth/providers.ts",
    ],
    names: `access_token authorization_endpoint code_challenge code_challenge_method email_verified id_token
      id_token_signing_alg_values_supported jwks_uri redirect_uri response_types_supported token_endpoint token_type
      userinfo_endpoint`.split(/\s+/),
  },
  {
    why: "pg options",
    files: [
      "server/src/platform/database/database.ts",
      "server/src/platform/database/test-database.ts",
      "server/src/platform/background/hints.ts",
      "server/src/platform/stamp/stamp-queries.ts",
    ],
    names:
      `application_name idle_in_transaction_session_timeout lock_timeout query_timeout statement_timeout`.split(
        " ",
      ),
  },
  {
    why: "PostgreSQL settings",
    files: ["server/src/platform/embedded-postgres/postmaster.ts"],
    names:
      `gin_pending_list_limit listen_addresses log_directory log_error_verbosity log_filename log_line_prefix
      log_min_error_statement log_min_messages log_rotation_age log_rotation_size log_timezone log_truncate_on_rotation
      logging_collector max_connections max_wal_size shared_buffers synchronous_commit unix_socket_directories wal_compression
      wal_init_zero`.split(/\s+/),
  },
  {
    why: "positions in Handlebars errors",
    files: ["server/src/rendering/template-syntax.ts"],
    names: ["first_column", "first_line"],
  },
  {
    why: "keys of contact data",
    files: ["server/src/contacts/contacts.test.ts"],
    names: ["svc_email", "svc_id"],
  },
  {
    why: "metric names",
    files: ["server/src/emails/sending/queue-measure.test.ts"],
    names: ["emails_unconfirmed"],
  },
];

export const propertyNames = propertyNamesBut(FOREIGN_NAMES);

/** Returns the rule with a list of allowed foreign names. Tables keep the names of their migrations. */
export function propertyNamesBut(foreign: readonly ForeignNames[]): Rule {
  return {
    name: "only SQL uses snake_case, and properties are camelCase",
    check: (tree) => {
      const tables = new Set(tablesOf(tree).map(({ name }) => name));
      const held = tree.sources
        .filter(({ path }) => path.startsWith(HELD))
        .map((file) => ({
          file,
          spoken: snakeCasedOf(file).filter(({ name }) => !tables.has(name)),
        }));
      const isForeign = (path: string, name: string) =>
        foreign.some(({ files, names }) => files.includes(path) && names.includes(name));
      return [
        ...held.flatMap(({ file, spoken }) =>
          spoken
            .filter(({ name }) => !isForeign(file.path, name))
            .map(({ name, start }) => ({
              path: file.path,
              line: lineAt(file.text, start),
              message: `has the property ${name}. Rows have camelCase keys. Add names defined by others to FOREIGN_NAMES (tools/tidy/property-names.ts).`,
            })),
        ),
        ...foreign.flatMap((entry) => unusedNames(entry, held)),
      ];
    },
  };
}

/** Returns allowed names that no file uses. */
function unusedNames(
  { files, names }: ForeignNames,
  held: ReadonlyArray<{ file: SourceFile; spoken: ReadonlyArray<{ name: string }> }>,
): Finding[] {
  const ofFiles = held.filter(({ file }) => files.includes(file.path));
  if (ofFiles.length === 0) return [];
  const said = new Set(ofFiles.flatMap(({ spoken }) => spoken.map(({ name }) => name)));
  return names
    .filter((name) => !said.has(name))
    .map((name) => ({
      path: "tools/tidy/property-names.ts",
      message: `allows ${name}, which nothing uses. Remove it from FOREIGN_NAMES.`,
    }));
}

/** Returns the snake_case properties that a file declares, reads or writes. */
function snakeCasedOf(file: SourceFile): Array<{ name: string; start: number }> {
  const found: Array<{ name: string; start: number }> = [];
  const add = (key: { type: string; start: number; name?: unknown }): void => {
    if (key.type === "Identifier" && typeof key.name === "string" && SNAKE_CASE.test(key.name))
      found.push({ name: key.name, start: key.start });
  };
  const addKey = (node: { computed: boolean; key: Parameters<typeof add>[0] }): void => {
    if (!node.computed) add(node.key);
  };
  visit(file, {
    MemberExpression: (node) => void (node.computed || add(node.property)),
    Property: addKey,
    PropertyDefinition: addKey,
    TSPropertySignature: addKey,
  });
  return found;
}
