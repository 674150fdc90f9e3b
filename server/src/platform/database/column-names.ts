// Converts between snake_case columns in SQL and camelCase keys in TypeScript (docs/decisions/0093). Names are converted once per execution
// of a statement instead of per row, and JSON values keep their keys.
import { Client, type ClientConfig } from "pg";
import { PostgresDialect, PostgresQueryCompiler, type QueryCompiler } from "kysely";

/** Bounded by the number of column names in the source. */
const camelCased = new Map<string, string>();

/** `project_id` → `projectId`; names without underscores are unchanged. */
export function toCamelCase(name: string): string {
  const known = camelCased.get(name);
  if (known !== undefined) return known;
  const made = name.replaceAll(/_([a-z0-9])/g, (_all, next: string) => next.toUpperCase());
  camelCased.set(name, made);
  return made;
}

/** `projectId` → `project_id`; names in snake_case are unchanged. */
export function toSnakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** A connection that always returns rows with camelCase keys. */
export class CamelCaseClient extends Client {
  constructor(config?: string | ClientConfig) {
    super(config);
    // The row description arrives before the rows. This listener runs before the driver's own, which is added on connect.
    this.connection.on("rowDescription", ({ fields }: { fields: Array<{ name: string }> }) => {
      for (const field of fields) field.name = toCamelCase(field.name);
    });
  }
}

class SnakeCaseCompiler extends PostgresQueryCompiler {
  protected override sanitizeIdentifier(identifier: string): string {
    return super.sanitizeIdentifier(toSnakeCase(identifier));
  }
}

/** PostgreSQL for Kysely with camelCase column names in the query builder, `sql.id` and `sql.ref`. */
export class CamelCaseDialect extends PostgresDialect {
  override createQueryCompiler(): QueryCompiler {
    return new SnakeCaseCompiler();
  }
}
