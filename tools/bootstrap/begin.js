// First step of every npm command: rejects an old Node.js with one sentence and prints the help. Must parse on old versions of Node.js.

/** The oldest version that can run the installation. */
const OLDEST_NODE = 20;

/**
 * Ends the process if Node.js is too old, or after printing the help for `--help`.
 * @param {string} [usage] the help; without it, the program started later prints its own
 */
export function begin(usage) {
  if (Number.parseInt(process.versions.node, 10) < OLDEST_NODE) {
    process.stderr.write(
      `Postloft needs Node.js ${OLDEST_NODE} or newer, and this is ${process.version}. Install it from https://nodejs.org.\n`,
    );
    process.exit(1);
  }
  const asksForHelp = process.argv.slice(2).some((word) => word === "--help" || word === "-h");
  if (usage === undefined || !asksForHelp) return;
  process.stdout.write(usage);
  process.exit(0);
}
