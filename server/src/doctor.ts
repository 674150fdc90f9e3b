// Implements `npm run doctor`, which checks an installation from outside, running or not, and says what is wrong and how to fix it.
import { hostname } from "node:os";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { runCommand } from "./platform/command.ts";
import { ConfigError, readConfig, type Config } from "./platform/settings/config.ts";
import { createDatabase, createPool } from "./platform/database/database.ts";
import { EmbeddedPostgresError } from "./platform/embedded-postgres/embedded-postgres.ts";
import { findDatabase } from "./platform/embedded-postgres/open-database.ts";
import { createLog } from "./platform/log.ts";
import { explainStartError, StartError } from "./platform/start-error.ts";
import { createTransport } from "./transports/create-transport.ts";
import { smtpNameOf } from "./transports/smtp-name.ts";
import { examine } from "./instance/doctor.ts";
import type { Finding } from "./instance/finding.ts";
import { SETTING_CHECKS } from "./instance/setting-checks.ts";

const USAGE = `npm run doctor -- [--json]

Checks the settings, the database, clocks, the disk, the mail servers, the public address, sender domains, audit and consent logs and a sample of
the counts. Changes nothing. Exit code: 0 no problem, 1 a problem, 2 invalid arguments.
`;
const SIGNS = { ok: "ok      ", warning: "warning ", problem: "PROBLEM " } as const;
const CONNECTIONS = 4;

/** Returns all findings. Invalid settings are the only finding because nothing else can be checked without them. */
async function findAll(): Promise<Finding[]> {
  try {
    const config = readConfig(undefined, SETTING_CHECKS);
    return [{ check: "settings", state: "ok", message: "The settings are valid." }, ...(await look(config))];
  } catch (error) {
    const isExpected = [ConfigError, EmbeddedPostgresError, StartError].some((kind) => error instanceof kind);
    if (!isExpected) throw error;
    const check = error instanceof ConfigError ? "settings" : "database";
    return [{ check, state: "problem", message: (error as Error).message }];
  }
}

async function look(config: Config): Promise<Finding[]> {
  const dataDir = resolve(config.DATA_DIR);
  const databaseUrl = config.DATABASE_URL;
  const found = await findDatabase({ databaseUrl, dataDir, log: () => undefined });
  const log = createLog({ level: "silent" });
  const pool = createPool({ connection: found.connection, maxConnections: CONNECTIONS, log });
  try {
    const heloName = smtpNameOf(config.SMTP_NAME, config.BASE_URL, hostname());
    const database = createDatabase(pool);
    const { watches, transport } = await createTransport(config, { database, log, heloName });
    const findings = await examine({
      config,
      dataDir,
      isElsewhere: databaseUrl !== undefined,
      database,
      watches,
    });
    await transport.close?.();
    return findings;
  } catch (error) {
    throw explainStartError(error, config) ?? error;
  } finally {
    await pool.end();
    await found.close();
  }
}

async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: { json: { type: "boolean" } } });
  const findings = await findAll();
  const isWell = findings.every(({ state }) => state !== "problem");
  if (values.json === true) process.stdout.write(`${JSON.stringify({ ok: isWell, findings })}\n`);
  else
    for (const { state, check, message, advice } of findings)
      process.stdout.write(
        `${SIGNS[state]} ${check}: ${message}\n${advice === undefined ? "" : `         ${advice}\n`}`,
      );
  return isWell ? 0 : 1;
}

if (import.meta.main) void runCommand(main, { usage: USAGE });
