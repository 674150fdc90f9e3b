// Implements `npm run admin -- <command>`, the tasks of the instance admin. It works directly in the database, whether or not the server is
// running.
import { resolve } from "node:path";
import { text } from "node:stream/consumers";
import { findSecret } from "./platform/settings/application-secret.ts";
import { runCommand } from "./platform/command.ts";
import { readConfig, type Config } from "./platform/settings/config.ts";
import { createSealer } from "./platform/crypto.ts";
import { createDatabase, createPool } from "./platform/database/database.ts";
import { findDatabase } from "./platform/embedded-postgres/open-database.ts";
import { createLog } from "./platform/log.ts";
import { migrate } from "./platform/database/migrations.ts";
import { explainStartError } from "./platform/start-error.ts";
import { readArguments, USAGE } from "./instance/admin-commands.ts";
import { OperatorError } from "./instance/operator.ts";

type Say = (line: string) => void;

/**
 * Runs one command and prints its result as sentences, or as one JSON object with `--json`.
 * @param readInput returns the standard input, for commands that read it
 * @returns the exit code, 0 for success and 1 if the command did not succeed
 * @throws UsageError, OperatorError and AppError for invalid requests, and any error that prevents access to the database
 */
export async function runAdmin(
  args: readonly string[],
  config: () => Config,
  say: Say,
  readInput: () => Promise<string> = () => text(process.stdin),
): Promise<number> {
  const asked = readArguments(args);
  const settings = config();
  const dataDir = resolve(settings.DATA_DIR);
  const found = await findDatabase({
    databaseUrl: settings.DATABASE_URL,
    dataDir,
    log: asked.isJson ? () => undefined : say,
  });
  const log = createLog({ level: "error" });
  const pool = createPool({ connection: found.connection, maxConnections: 2, log });
  // One for all statements, because each names prepared statements of the same connections.
  const database = createDatabase(pool);
  try {
    await asked.check(database);
    await migrate(pool);
    const openSealer = async () => createSealer(settings.APP_SECRET ?? (await findSecret(dataDir)));
    const reported = await asked.run({
      database,
      openSealer,
      readInput,
      progress: asked.isJson ? () => undefined : say,
    });
    if (asked.isJson) say(JSON.stringify(reported.json));
    else reported.lines.forEach(say);
    return reported.code ?? 0;
  } catch (error) {
    throw explainStartError(error, settings) ?? error;
  } finally {
    await pool.end();
    await found.close();
  }
}

function printLine(line: string): void {
  process.stdout.write(`${line}\n`);
}

if (import.meta.main)
  void runCommand((args) => runAdmin(args, () => readConfig(), printLine), {
    usage: USAGE,
    expected: [OperatorError],
  });
