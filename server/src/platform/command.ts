// Runs an operator command and reports its result: the exit code, and the reason of a failure as text or, with `--json`, as JSON.
import { ConfigError } from "./settings/config.ts";
import { EmbeddedPostgresError } from "./embedded-postgres/embedded-postgres.ts";
import { Refusal } from "./refusal.ts";
import { StartError } from "./start-error.ts";

/** The command line is not one of the usage. */
export class UsageError extends Error {}

interface Command {
  /** Printed for `--help`, and after the message when the command line is not understood. */
  usage: string;
  /** Errors of the command's own whose message says it all. */
  expected?: ReadonlyArray<new (...args: never[]) => Error>;
}

const EXPECTED = [ConfigError, EmbeddedPostgresError, Refusal, StartError, UsageError];

/**
 * Runs a command with the arguments of this process and sets its exit code: what `run` returns, 0 after `--help`, 1 when it failed, 2 when
 * the command line is not understood. Why goes to standard error; with `--json` it is one object on standard output,
 * `{error: {message, fields?}}`, and standard error has the place in the code where it is a bug.
 */
export async function runCommand(
  run: (args: readonly string[]) => Promise<number>,
  { usage, expected = [] }: Command,
): Promise<void> {
  const args = process.argv.slice(2);
  if (args.includes("--help") || args.includes("-h")) return void process.stdout.write(usage);
  try {
    process.exitCode = await run(args);
  } catch (error) {
    const { message, stack = "" } = error instanceof Error ? error : new Error(String(error));
    const isUsage = error instanceof UsageError || isOfParseArgs(error);
    const isBug = !isUsage && ![...EXPECTED, ...expected].some((kind) => error instanceof kind);
    const fields = error instanceof Refusal ? error.fields : undefined;
    if (isBug) process.stderr.write(`${stack}\n`);
    if (args.includes("--json"))
      process.stdout.write(`${JSON.stringify({ error: { message, ...(fields && { fields }) } })}\n`);
    else if (!isBug)
      process.stderr.write(
        [message, ...(fields ?? []).map((fault) => `${fault.field}: ${fault.message}`)]
          .concat(isUsage ? ["", usage] : [])
          .map((line) => `${line}\n`)
          .join(""),
      );
    process.exitCode = isUsage ? 2 : 1;
  }
}

/** What `parseArgs` of node:util throws for an option that it does not know. */
function isOfParseArgs(error: unknown): boolean {
  return error instanceof TypeError && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");
}
