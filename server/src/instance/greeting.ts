// Prints the greeting after a start: addresses, where email goes, and the next step of the setup.
import type { Config } from "../platform/settings/config.ts";
import type { Database } from "../platform/database/database.ts";
import type { BootstrapResult } from "./bootstrap.ts";
import { nextStep, readProgress } from "./next-step.ts";
import type { InstanceFacts } from "./facts.ts";

/** Only root may listen on ports below this one. */
const FIRST_FREE_PORT = 1024;

interface Greeting {
  database: Database;
  facts: InstanceFacts;
  accounts: BootstrapResult;
  config: Config;
}

/** Prints the greeting line by line. */
export async function greet(
  { database, facts, accounts, config }: Greeting,
  say: (line: string) => void,
): Promise<void> {
  const url = facts.baseUrl();
  say(`Postloft is ready: ${url}`);
  say(`  Dashboard           ${url}/app`);
  say(`  API documentation   ${url}/docs`);
  if (facts.transportName === "mailbox")
    say(
      `  Email               stays in the local mailbox (MAIL_TRANSPORT=mailbox): read it at ${url}/mailbox`,
    );
  if (facts.operatorToken !== null)
    say(
      `  Platform email      (accounts, warnings) is there too: read it with the token ${facts.operatorToken}, valid until the next start`,
    );
  if (accounts === "made")
    say(`  First account       ${config.BOOTSTRAP_EMAIL}, created from the settings BOOTSTRAP_*`);
  const step = nextStep(await readProgress(database), facts);
  if (step === null) return;
  say("");
  say(`${step.title}. ${step.text}`);
  if (step.link !== null) say(`${step.link.text}: ${url}${step.link.path}`);
  if (step.api === null) return;
  say("");
  say([step.api.text, step.api.note].filter((text) => text !== undefined).join(" "));
  for (const command of step.api.commands) say(`  ${command}`);
}

/** Warns about running as root, which only ports below 1024 need. */
export function warnAboutRoot(
  { PORT, SMTP_PORT }: Pick<Config, "PORT" | "SMTP_PORT">,
  say: (line: string) => void,
): void {
  const needsRoot = [PORT, SMTP_PORT].some((port) => port > 0 && port < FIRST_FREE_PORT);
  if (process.getuid?.() === 0 && !needsRoot)
    say("Warning: running as root. Use a dedicated user that owns DATA_DIR.");
}
