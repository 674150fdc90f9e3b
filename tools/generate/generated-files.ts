// Generates the text of every generated file in the repository and finds the files that are out of date.
import { readFile } from "node:fs/promises";
import path from "node:path";
import { Client, type ClientConfig } from "pg";
import { openApiDocument } from "@postloft/contract/openapi/openapi.ts";
import { responsesPage } from "./replies-page.ts";
import { apiPage } from "./api-page.ts";
import { endpointAddresses } from "./endpoint-addresses.ts";
import { errorsPage } from "./errors-page.ts";
import { schemaSql } from "./schema-sql.ts";
import { environmentExample, settingsPage } from "./settings-page.ts";
import { tableRows } from "./table-rows.ts";

/** The root of the repository. */
export const ROOT = path.resolve(import.meta.dirname, "../..");

export const COMMAND = "npm run generate";

const CONNECT_TIMEOUT_MS = 10_000;
const STATEMENT_TIMEOUT_MS = 30_000;

/** Returns the text of each file generated from the contract and the settings, by its path below the root. */
export async function generatedPages(): Promise<ReadonlyMap<string, string>> {
  const { version } = JSON.parse(await readFile(path.join(ROOT, "package.json"), "utf8")) as {
    version: string;
  };
  return new Map([
    ["dashboard/src/api/endpoints.ts", await endpointAddresses("api")],
    ["dashboard/src/api/admin-endpoints.ts", await endpointAddresses("adminApi")],
    ["contract/openapi.json", `${JSON.stringify(openApiDocument("/", version), null, 2)}\n`],
    ["docs/answers.md", responsesPage()],
    ["docs/api.md", apiPage()],
    ["docs/errors.md", errorsPage()],
    ["docs/settings.md", settingsPage()],
    [".env.example", environmentExample()],
  ]);
}

/**
 * Returns the text of each file generated from the tables, by its path below the root.
 *
 * @param connection a database with all migrations applied and nothing else
 */
export async function generatedSchema(connection: ClientConfig): Promise<ReadonlyMap<string, string>> {
  const client = new Client({
    ...connection,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
  });
  await client.connect();
  try {
    return new Map([
      ["server/schema.sql", await schemaSql(client)],
      ["server/src/platform/database/rows.ts", await tableRows(client)],
    ]);
  } finally {
    await client.end();
  }
}

/** Returns the paths of missing or outdated files under `root`. */
export async function staleFiles(files: ReadonlyMap<string, string>, root: string): Promise<string[]> {
  const found = await Promise.all(
    [...files].map(async ([file, text]) => ({
      file,
      isCurrent: (await readIfThere(path.join(root, file))) === text,
    })),
  );
  return found.filter(({ isCurrent }) => !isCurrent).map(({ file }) => file);
}

async function readIfThere(file: string): Promise<string | null> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
