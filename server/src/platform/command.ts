// Runs a command of the instance admin and reports its exit code and errors as text or, with `--json`, as JSON.
import { ConfigError } from "./settings/config.ts";
import { EmbeddedPostgresError } from "./embedded-postgres/embedded-postgres.ts";
import { AppError } from "./app-error.ts";
import { StartError } from "./start-error.ts";

/** Thrown if the command line does not match the usage. */
export class UsageError extends Error {}

interface Command {
  /** Printed if the command line is not understood. */
  usage: string;
  /** The command's own errors that need no stack trace. */
  expected?: ReadonlyArray<new (...args: never[]) => Error>;
}

const EXPECTED = [ConfigError, EmbeddedPostgresError, AppError, StartError, UsageError];

/**
 * Runs a command with the arguments of this process and sets its exit code. The code is the result of `run`, 1 after a failure and 2 if the
 * command line is not understood. Prints the error to standard error. With `--json` the error is one object on standard output, `{error:
 * {message, fields?}}`, and standard error only gets the stack trace of a bug.
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
    const fields = error instanceof AppError ? error.fields : undefined;
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

/** Returns whether the error is from `parseArgs` of node:util, for an unknown option. */
function isOfParseArgs(error: unknown): boolean {
  return error instanceof TypeError && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");
}
