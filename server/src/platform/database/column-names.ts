// Case changes once, here: columns are snake_case in SQL and camelCase in TypeScript (docs/decisions/0093). Names change once for each
// execution of a statement, never for each row, and what json columns hold stays as it is.
import { Client, type ClientConfig } from "pg";
import { PostgresDialect, PostgresQueryCompiler, type QueryCompiler } from "kysely";

/** As many as the statements in the source name. */
const camelCased = new Map<string, string>();

/** `project_id` → `projectId`; names without underscores stay. */
export function toCamelCase(name: string): string {
  const known = camelCased.get(name);
  if (known !== undefined) return known;
  const made = name.replaceAll(/_([a-z0-9])/g, (_all, next: string) => next.toUpperCase());
  camelCased.set(name, made);
  return made;
}

/** `projectId` → `project_id`; what is in snake_case already stays. */
export function toSnakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** A connection whose rows have camelCase keys, whoever runs the statement. */
export class CamelCaseClient extends Client {
  constructor(config?: string | ClientConfig) {
    super(config);
    // The description of the rows comes before them; this listener comes before the driver's own, which is added on connect.
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

/** PostgreSQL for Kysely, whose names of columns (in a query builder, in `sql.id` and `sql.ref`) are camelCase. */
export class CamelCaseDialect extends PostgresDialect {
  override createQueryCompiler(): QueryCompiler {
    return new SnakeCaseCompiler();
  }
}
