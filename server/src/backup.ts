// Implements `npm run backup -- <file>` and `npm run restore -- <file>`, which write an installation to one file and restore it into an
// empty database.
import { parseArgs } from "node:util";
import { runCommand, UsageError } from "./platform/command.ts";
import { readConfig } from "./platform/settings/config.ts";
import { BackupFileError } from "./backup/archive.ts";
import { backUp, restore } from "./backup/back-up.ts";

type Say = (line: string) => void;

const USAGE = `npm run backup -- <file>     writes everything to a new file while the installation is running
npm run restore -- <file>    restores it into an empty database, in a new DATA_DIR or at DATABASE_URL

With --json the result is one JSON object, or {error} after a failure. The file contains addresses in clear text, passwords as hashes, and keys and credentials
encrypted with APP_SECRET. A secret generated in DATA_DIR is written to <file>.app-secret. Store it somewhere else, and put it next to the file to restore.
`;

async function run(args: readonly string[], say: Say): Promise<number> {
  const { positionals, values } = parseArgs({
    args: [...args],
    options: { json: { type: "boolean", default: false } },
    allowPositionals: true,
  });
  const [verb, file, ...rest] = positionals;
  if ((verb !== "backup" && verb !== "restore") || file === undefined || rest.length > 0)
    throw new UsageError("Exactly one file name is required.");
  const quiet: Say = values.json ? () => undefined : say;
  const result = await (verb === "backup" ? backUp : restore)(readConfig(), file, quiet);
  if (values.json) say(JSON.stringify(result));
  else if (verb === "backup") {
    say(`Backup written to ${result.file}: ${result.rows} rows in ${result.tables} tables.`);
    if (result.secretFile !== undefined)
      say(
        `The secret for its keys is in ${result.secretFile}. Store it in another place. You need both files to restore.`,
      );
  } else {
    say(`Restored ${result.rows} rows in ${result.tables} tables.`);
    say("Unsent email is held at the next start. Review it with: npm run admin -- held");
  }
  return 0;
}

if (import.meta.main)
  void runCommand((args) => run(args, (line) => void process.stdout.write(`${line}\n`)), {
    usage: USAGE,
    expected: [BackupFileError],
  });
