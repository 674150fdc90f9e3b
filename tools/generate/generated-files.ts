// Every generated file that is checked in: its path and its text, made anew; and which of them are out of date.
import { readFile } from "node:fs/promises";
import path from "node:path";
import { Client, type ClientConfig } from "pg";
import { openApiDocument } from "@postloft/contract/openapi/openapi.ts";
import { answersPage } from "./answers-page.ts";
import { apiPage } from "./api-page.ts";
import { errorsPage } from "./errors-page.ts";
import { schemaSql } from "./schema-sql.ts";
import { environmentExample, settingsPage } from "./settings-page.ts";
import { tableRows } from "./table-rows.ts";

/** The root of the repository. */
export const ROOT = path.resolve(import.meta.dirname, "../..");

export const COMMAND = "node tools/generate/generate.ts";

const CONNECT_TIMEOUT_MS = 10_000;
const STATEMENT_TIMEOUT_MS = 30_000;

/**
 * The text of every generated file by its path below the root.
 * @param connection a database that all migrations were applied to, and nothing else
 */
export async function generatedFiles(connection: ClientConfig): Promise<ReadonlyMap<string, string>> {
  const { version } = JSON.parse(await readFile(path.join(ROOT, "package.json"), "utf8")) as {
    version: string;
  };
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
      ["contract/openapi.json", `${JSON.stringify(openApiDocument("/", version), null, 2)}\n`],
      ["docs/answers.md", answersPage()],
      ["docs/api.md", apiPage()],
      ["docs/errors.md", errorsPage()],
      ["docs/settings.md", settingsPage()],
      [".env.example", environmentExample()],
    ]);
  } finally {
    await client.end();
  }
}

/** The paths whose file under `root` is missing or has another text. */
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
