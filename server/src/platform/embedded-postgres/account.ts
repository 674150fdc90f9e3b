// Third step of embedded-postgres.ts. Chooses the user that PostgreSQL runs as, because it refuses to run as root and needs a user with a
// name. A normal user runs it directly. For root the accounts below are tried until one works.
import { spawn, type ChildProcess, type StdioOptions } from "node:child_process";
import { chown, stat } from "node:fs/promises";
import { copyPostgresFolder, programPath, type PostgresFolder } from "./binaries.ts";
import { EmbeddedPostgresError, EXTERNAL_DATABASE_ADVICE } from "./errors.ts";

/** One way to run PostgreSQL's programs. */
export type Account = {
  description: string;
  /** Prepended to each command. */
  prefix: string[];
  /** User and group that Node switches to before the command. */
  switchTo?: { uid: number; gid: number };
  /** The required owner of the cluster's files. Absent if it is the current user. */
  owner?: { uid: number; gid: number };
};

/** `nobody` and its group on every Linux. */
const NO_ONE = { uid: 65534, gid: 65534 };

/** Without no_setuid_fixup, access(2) would ignore the capability, and PostgreSQL uses it to check its own programs. */
const SETPRIV_WITH_FILE_ACCESS = [
  "setpriv",
  `--reuid=${NO_ONE.uid}`,
  `--regid=${NO_ONE.gid}`,
  "--clear-groups",
  "--inh-caps=+dac_override",
  "--ambient-caps=+dac_override",
  "--securebits=+no_setuid_fixup",
  "--pdeathsig=INT",
  "--",
];

const PROBE_TIMEOUT_MS = 20_000;

/** In characters. Only the end of the output is kept; a list of all processes fits. */
const KEPT_OUTPUT_LENGTH = 1024 * 1024;

const NO_USER_NAME = 21;
const FOLDER_OUT_OF_REACH = 22;
const PROGRAM_OUT_OF_REACH = 23;
const PROBE_SCRIPT = [
  `id -un >/dev/null 2>&1 || exit ${NO_USER_NAME}`,
  `cd "$2" && test -w . || exit ${FOLDER_OUT_OF_REACH}`,
  `test -x "$1" && "$1" -V || exit ${PROGRAM_OUT_OF_REACH}`,
].join("; ");

/**
 * Keeps the server's environment (secrets, PG… and LD_… variables) away from PostgreSQL. Programs on Windows do not start without theirs.
 */
const POSIX_ENVIRONMENT = { PATH: "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", LC_ALL: "C", TZ: "UTC" };

/** Starts a program as the account in its own process group, so that Ctrl-C only reaches the server, which needs the database to finish. */
export function spawnAs(account: Account, command: string[], stdio: StdioOptions): ChildProcess {
  const [program, ...rest] = [...account.prefix, ...command];
  if (program === undefined) throw new Error("spawnAs needs a command");
  return spawn(program, rest, {
    stdio,
    detached: true,
    windowsHide: true,
    ...(process.platform === "win32" ? {} : { cwd: "/", env: POSIX_ENVIRONMENT }),
    ...account.switchTo,
  });
}

/** The result of a program. `code` is null if the program could not be started or was ended by a signal or the timeout. */
export type Outcome = { code: number | null; stdout: string; output: string };

/** Runs a program as the account until it ends. Never throws because of the program. */
export function runAs(account: Account, command: string[], timeoutMs: number): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = spawnAs(account, command, ["ignore", "pipe", "pipe"]);
    let stdout = "";
    let output = "";
    const timer = setTimeout(() => {
      output += `\nstopped after ${timeoutMs} ms`;
      child.kill("SIGKILL");
    }, timeoutMs);
    child.stdout?.on("data", (chunk: Buffer) => {
      stdout = keepTail(stdout, chunk);
      output = keepTail(output, chunk);
    });
    child.stderr?.on("data", (chunk: Buffer) => (output = keepTail(output, chunk)));
    child.on("error", (error) => (output += error.message));
    child.on("close", (code) => {
      clearTimeout(timer);
      resolve({ code: child.pid === undefined ? null : code, stdout: stdout.trim(), output: output.trim() });
    });
  });
}

/** Appends a chunk to the output and keeps only the end. */
export function keepTail(text: string, chunk: Buffer): string {
  return (text + chunk.toString()).slice(-KEPT_OUTPUT_LENGTH);
}

/**
 * Finds the first account that can run PostgreSQL with this data folder.
 * @param workDir an empty folder in the data folder, created for this start and owned by the account afterwards
 * @returns the account, the programs that it can reach, and their major version
 * @throws EmbeddedPostgresError if no account works, with the reason of each
 */
export async function chooseAccount(places: {
  accounts: Account[];
  dataDir: string;
  workDir: string;
  programs: PostgresFolder;
}): Promise<{ account: Account; programs: PostgresFolder; majorVersion: string }> {
  const errors: string[] = [];
  for (const account of places.accounts) {
    if (account.owner !== undefined) await chown(places.workDir, account.owner.uid, account.owner.gid);
    let { programs } = places;
    let outcome = await probe(account, programs, places.workDir);
    if (outcome.code === PROGRAM_OUT_OF_REACH && account.switchTo !== undefined) {
      // node_modules is below a folder that this user may not enter, but it may enter the data folder.
      programs = await copyPostgresFolder(programs, places.dataDir);
      outcome = await probe(account, programs, places.workDir);
    }
    const majorVersion = /PostgreSQL\) (\d+)/.exec(outcome.stdout)?.[1];
    if (outcome.code === 0 && majorVersion !== undefined) return { account, programs, majorVersion };
    errors.push(`- ${account.description}: ${describeError(outcome)}`);
  }
  throw new EmbeddedPostgresError(
    `The embedded PostgreSQL cannot run here. Tried:\n${errors.join("\n")}\n` +
      `Start the server as a non-root user with its own account. ${EXTERNAL_DATABASE_ADVICE}`,
  );
}

async function probe(account: Account, programs: PostgresFolder, workDir: string): Promise<Outcome> {
  const postgres = programPath(programs, "postgres");
  const command =
    process.platform === "win32" ? [postgres, "-V"] : ["sh", "-c", PROBE_SCRIPT, "sh", postgres, workDir];
  return runAs(account, command, PROBE_TIMEOUT_MS);
}

function describeError({ code, output }: Outcome): string {
  if (code === NO_USER_NAME) return "this user has no name on this system (no entry in /etc/passwd)";
  if (code === FOLDER_OUT_OF_REACH) return "this user cannot reach the data folder";
  if (code === PROGRAM_OUT_OF_REACH) {
    const musl = / not found/.test(output) ? " (the programs need glibc; Alpine has none)" : "";
    return `PostgreSQL's programs do not run${musl}: ${output}`;
  }
  return output === "" ? `ended with code ${code}` : output;
}

/**
 * Returns the ways in which this user may run PostgreSQL, best first.
 * @param existingFolder the cluster or, before there is one, the data folder; root tries its owner first
 */
export async function listAccounts(existingFolder: string): Promise<Account[]> {
  const uid = process.getuid?.();
  if (process.platform === "win32" || uid === undefined)
    return [{ description: "the current user", prefix: [] }];
  const dieWithUs = await listPrefixForDeathSignal();
  // In a separate user namespace our process is named `nobody` and keeps our rights to files.
  const namespaced = {
    description: "in a user namespace (unshare --user)",
    prefix: ["unshare", "--user", "--map-user=65534", "--map-group=65534", "--", ...dieWithUs],
  };
  if (uid !== 0) {
    return [
      { description: `the current user (uid ${uid})`, prefix: dieWithUs },
      ...(process.platform === "linux" ? [namespaced] : []),
    ];
  }
  const { uid: ownerUid, gid: ownerGid } = await stat(existingFolder);
  const owner = { uid: ownerUid, gid: ownerGid };
  const ways: Account[] = [];
  if (owner.uid !== 0) {
    ways.push({
      description: `the owner of the data folder (uid ${owner.uid})`,
      prefix: dieWithUs,
      switchTo: owner,
      owner,
    });
  }
  if (process.platform !== "linux") return ways;
  ways.push({ ...namespaced, owner: { uid: 0, gid: 0 } });
  ways.push({ description: "the user nobody", prefix: dieWithUs, switchTo: NO_ONE, owner: NO_ONE });
  ways.push({
    description: "the user nobody with root's access to files (setpriv)",
    prefix: SETPRIV_WITH_FILE_ACCESS,
    owner: NO_ONE,
  });
  return ways;
}

/**
 * Returns a prefix that makes the kernel shut PostgreSQL down when this process dies, if util-linux is installed. Otherwise the next start
 * cleans up (embedded-postgres-leftovers.ts).
 */
async function listPrefixForDeathSignal(): Promise<string[]> {
  if (process.platform !== "linux") return [];
  const prefix = ["setpriv", "--pdeathsig=INT", "--"];
  const { code } = await runAs({ description: "the current user", prefix }, ["true"], PROBE_TIMEOUT_MS);
  return code === 0 ? prefix : [];
}
