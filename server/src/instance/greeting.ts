// What whoever started the program reads when it is ready: where it is, where mail goes, what to do first.
import type { Config } from "../platform/settings/config.ts";
import type { Database } from "../platform/database/database.ts";
import type { BootstrapResult } from "./bootstrap.ts";
import { nextStep, readProgress } from "./next-step.ts";
import type { InstanceFacts } from "./facts.ts";

/** Below it a system lets only root listen. */
const FIRST_FREE_PORT = 1024;

interface Greeting {
  database: Database;
  facts: InstanceFacts;
  accounts: BootstrapResult;
  config: Config;
}

/** Says it line by line. */
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
      `  Mail                stays in the local mailbox (MAIL_TRANSPORT=mailbox): read it at ${url}/mailbox`,
    );
  if (facts.operatorToken !== null)
    say(
      `  Its own mail        (accounts, warnings) is read there with the token ${facts.operatorToken}, until the next start`,
    );
  if (accounts === "made")
    say(`  First account       ${config.BOOTSTRAP_EMAIL}, made from the settings BOOTSTRAP_*`);
  const step = nextStep(await readProgress(database), facts);
  if (step === null) return;
  say(`${step.title}. ${step.text}`);
  for (const command of step.commands) say(`  ${command}`);
  if (step.link !== null) say(`${step.link.text}: ${url}${step.link.path}`);
}

/** For whoever runs it as root: it needs that for ports below 1024 alone. */
export function warnOfRoot(
  { PORT, SMTP_PORT }: Pick<Config, "PORT" | "SMTP_PORT">,
  say: (line: string) => void,
): void {
  const needsRoot = [PORT, SMTP_PORT].some((port) => port > 0 && port < FIRST_FREE_PORT);
  if (process.getuid?.() === 0 && !needsRoot)
    say("Postloft runs as root and needs nothing of it: start it as a user of its own, who owns DATA_DIR.");
}
