// A database with one row of each kind (sample-rows.ts) for the tests of a file, which call statements and roll back what they change.
import { afterAll, beforeAll } from "vitest";
import { createDatabase, type Database, type Tx } from "../platform/database/database.ts";
import { createTestDatabase, type TestDatabase } from "../platform/database/test-database.ts";
import { addSampleRows, undone } from "./sample-rows.ts";

export interface SampleDatabase {
  /** Exists from `beforeAll` on. */
  readonly database: Database;
  /** Runs work in a transaction that is rolled back, and returns its result. */
  undone<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
}

/** Creates the database before the tests of a file and drops it after them. */
export function useSampleDatabase(): SampleDatabase {
  let testDatabase: TestDatabase | undefined;
  let database: Database | undefined;
  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    database = createDatabase(testDatabase.pool);
    await addSampleRows(database);
  });
  afterAll(async () => testDatabase?.drop());
  const existing = () => {
    if (database === undefined) throw new Error("The database exists from beforeAll on.");
    return database;
  };
  return {
    get database() {
      return existing();
    },
    undone: (work) => undone(existing(), work),
  };
}
