// `npm run admin -- <command>`: what only whoever runs the installation may do, directly in its database, whether the server runs or not.
// Before it: tools/bootstrap/admin.js. After it: instance/held.ts.
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { ConfigError, readConfig, type Config } from "./platform/config.ts";
import { createDatabase, createPool, type Database } from "./platform/database.ts";
import { EmbeddedPostgresError } from "./platform/embedded-postgres/embedded-postgres.ts";
import { findDatabase } from "./platform/embedded-postgres/open-database.ts";
import { isId } from "./platform/ids.ts";
import { createLog } from "./platform/log.ts";
import { migrate } from "./platform/migrations.ts";
import { explainStartError, StartError } from "./platform/start-error.ts";
import {
  describeHeld,
  dropHeld,
  holdSoon,
  readHeld,
  releaseHeld,
  type Decided,
  type HeldScope,
} from "./instance/held.ts";

const USAGE = `npm run admin -- <command> [--project <id>] [--campaign <id>]

  held      what is held, since when and why
  release   lets it go on as it stands: what these books call unsent is sent
  drop      it will not be sent: mails are skipped, campaigns cancelled, schedules drafts again
  hold      for whoever restored the database: holds all that waits, at the next start or within seconds

release and drop are about everything that is held, or what belongs to one project or is one campaign.
`;

type Say = (line: string) => void;
type Command = (database: Database, scope: HeldScope, say: Say) => Promise<void>;

const COMMANDS: Readonly<Record<string, Command>> = {
  async held(database, _scope, say) {
    const held = await readHeld(database);
    if (held === null) return say("Nothing is held.");
    say(`Held since ${held.since.toISOString()}: ${describeHeld(held)}.`);
    say(held.reason);
    say("New mail leaves. For what is held decide: npm run admin -- release, or npm run admin -- drop.");
  },
  async release(database, scope, say) {
    say(`Released: ${countOf(await releaseHeld(database, scope))}.`);
    await sayRest(database, say);
  },
  async drop(database, scope, say) {
    say(`Dropped: ${countOf(await dropHeld(database, scope))}.`);
    await sayRest(database, say);
  },
  async hold(database, _scope, say) {
    await holdSoon(database);
    say("All that waits is held at the next start of the server, or within seconds where it runs.");
  },
};

const countOf = ({ mails, campaigns }: Decided) => `${mails} mails, ${campaigns} campaigns and schedules`;

async function sayRest(database: Database, say: Say): Promise<void> {
  const rest = await readHeld(database);
  say(rest === null ? "Nothing is held any more." : `Still held: ${describeHeld(rest)}.`);
}

/** Runs one command; answers the exit code. @throws what keeps it from the database */
export async function runAdmin(args: readonly string[], config: Config, say: Say): Promise<number> {
  const asked = readArguments(args);
  if (asked === null) {
    say(USAGE);
    return 2;
  }
  const found = await findDatabase({
    databaseUrl: config.DATABASE_URL,
    dataDir: resolve(config.DATA_DIR),
    log: say,
  });
  const log = createLog({ level: "error" });
  const pool = createPool({ connection: found.connection, maxConnections: 2, log });
  try {
    await migrate(pool);
    await asked.command(createDatabase(pool), asked.scope, say);
    return 0;
  } catch (error) {
    throw explainStartError(error, config) ?? error;
  } finally {
    await pool.end();
    await found.close();
  }
}

function readArguments(args: readonly string[]): { command: Command; scope: HeldScope } | null {
  const options = { project: { type: "string" }, campaign: { type: "string" } } as const;
  const parsed = parseArgs({ args: [...args], options, allowPositionals: true, strict: false });
  const command = parsed.positionals.length === 1 ? COMMANDS[parsed.positionals[0] ?? ""] : undefined;
  const { project, campaign } = parsed.values;
  const isFaulty = [project, campaign].some(
    (id) => id !== undefined && (typeof id !== "string" || !isId(id)),
  );
  const isKnown = Object.keys(parsed.values).every((name) => name === "project" || name === "campaign");
  if (command === undefined || isFaulty || !isKnown) return null;
  return {
    command,
    scope: {
      projectId: typeof project === "string" ? project : null,
      campaignId: typeof campaign === "string" ? campaign : null,
    },
  };
}

function sayLine(line: string): void {
  process.stdout.write(`${line}\n`);
}

if (import.meta.main) {
  Promise.try(() => runAdmin(process.argv.slice(2), readConfig(), sayLine)).then(
    (code) => (process.exitCode = code),
    (error: unknown) => {
      const isExpected = [ConfigError, EmbeddedPostgresError, StartError].some(
        (kind) => error instanceof kind,
      );
      const { message, stack } = error instanceof Error ? error : new Error(String(error));
      process.stderr.write(`${isExpected ? message : stack}\n`);
      process.exitCode = 1;
    },
  );
}
