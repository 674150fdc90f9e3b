// What whoever started the program reads when it is ready: where it is, where mail goes, what to do first.
// Before it: main.ts listens. After it: the terminal.
import type { Config } from "../platform/config.ts";
import type { BootstrapResult } from "./bootstrap.ts";

/** Below it a system lets only root listen. */
const FIRST_FREE_PORT = 1024;

interface Greeting {
  url: string;
  accounts: BootstrapResult;
  config: Config;
  operatorToken: string | null;
}

/** Says it line by line. */
export function greet({ url, accounts, config, operatorToken }: Greeting, say: (line: string) => void): void {
  say(`Postloft is ready: ${url}`);
  say(`  API documentation   ${url}/docs`);
  if (config.MAIL_TRANSPORT === "mailbox")
    say(
      "  Mail                stays in the local mailbox (MAIL_TRANSPORT=mailbox): read it at /mailbox/messages",
    );
  if (operatorToken !== null)
    say(
      `  Its own mail        (accounts, warnings) at ${url}/mailbox with the token ${operatorToken}, until the next start`,
    );
  if (accounts === "made")
    say(`  First account       ${config.BOOTSTRAP_EMAIL}, made from the settings BOOTSTRAP_*`);
  if (accounts !== "nothing set") return;
  say("There is no account yet. Create the first one, then a project with its API keys:");
  say(
    `  curl -c cookies -H 'Content-Type: application/json' -d '{"email":"you@example.com","password":"at least 8 characters"}' ${url}/auth/signup`,
  );
  say(
    `  curl -b cookies -H 'Content-Type: application/json' -d '{"name":"My project"}' ${url}/users/@me/projects`,
  );
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
