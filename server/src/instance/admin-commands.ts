// The commands of `npm run admin`, with their output as text and JSON.
import { parseArgs } from "node:util";
import { UsageError } from "../platform/command.ts";
import type { Sealer } from "../platform/crypto.ts";
import type { Database } from "../platform/database/database.ts";
import { isId } from "../platform/ids.ts";
import { isHoldRequested } from "../platform/stamp/stamp.ts";
import { listAllProjects, type ProjectView } from "../projects/projects.ts";
import {
  IDS,
  OPTIONS,
  type Around,
  type Command,
  type Option,
  type Reported,
  type Values,
} from "./admin-command.ts";
import { CLUSTER_COMMANDS, CLUSTER_USAGE } from "./cluster-commands.ts";
import { describeHeld, dropHeld, holdSoon, readHeld, releaseHeld } from "./held.ts";
import {
  confirmAddress,
  createAccount,
  createProjectFor,
  enableAgain,
  listUsers,
  makeKey,
  removeAccount,
  resetPassword,
  rotateKeys,
  sendTestMail,
  switchSecondFactorOff,
  type WithPassword,
} from "./operator.ts";

export const USAGE = `npm run admin -- <command> [--json]

  users [--after <id>]                  list accounts, 100 at a time
  create-user <address>                 create an account
  reset-password <address>              set a new password and end the account's sessions
  remove-account <id> [--to <id>]       delete an account; --to is the account that gets its projects
  confirm-address <address>             mark the address of an account as confirmed
  second-factor-off <address>           turn off two-factor authentication
  projects [--after <id>]               list projects, 100 at a time
  create-project <name> --owner <address>   create a project with its keys
  rotate-keys --project <id>            replace both keys; the old ones stop working immediately
  make-key <name> --project <id> --scopes <scope,…>   create and print a scoped key
  enable --project <id> --reason <text> enable a disabled project and resume its email
  test-mail <address>                   send a test email and show the mail server's reply

  held      show what is on hold, since when and why
  release   resume it; everything recorded as unsent is sent
  drop      don't send it; emails are skipped, campaigns cancelled, schedules become drafts
  hold      put everything waiting on hold, after restoring a database

${CLUSTER_USAGE}

release and drop apply to everything on hold, or only to --project <id> or --campaign <id>.
create-user and reset-password generate and print a password, or read it from standard input with --password-stdin.
make-key also takes --expires <instant> and --networks <address,…>. Scopes: contacts:read, v1:write, … (docs/api.md).
--json prints one JSON object, or {error} on failure. Exit codes: 0 success, 1 failure, 2 invalid usage.
`;

const LISTED_AT_ONCE = 100;
const MAIL_PATIENCE_MS = 30_000;
const HOLD_PENDING =
  "A hold was requested but hasn't happened yet. Everything waiting is put on hold within seconds, or at the next start if the server isn't running. Decide after that.";

const COMMANDS: Readonly<Record<string, Command>> = {
  users: {
    takes: ["after"],
    async run({ database }, _argument, { after = null }) {
      const users = await listUsers(database, { after, limit: LISTED_AT_ONCE });
      return listed("users", users, ({ id, email, createdAt, projects }) =>
        [id, createdAt, email, `${projects} projects`].join("  "),
      );
    },
  },
  "create-user": {
    argument: "<address>",
    takes: ["password-stdin"],
    async run(around, email, values) {
      const user = await createAccount(around.database, email, await passwordOf(around, values));
      return {
        json: user,
        lines: [`Created account ${user.email} (${user.id}).`, ...password(user, values)],
      };
    },
  },
  "reset-password": {
    argument: "<address>",
    takes: ["password-stdin"],
    async run(around, email, values) {
      const user = await resetPassword(around.database, email, await passwordOf(around, values));
      const line = `Changed the password of ${user.email}; ${user.endedSessions} sessions ended.`;
      return { json: user, lines: [line, ...password(user, values)] };
    },
  },
  "remove-account": {
    argument: "<id>",
    takes: ["to"],
    async run({ database }, id, { to = null }) {
      if (!isId(id)) throw new UsageError("remove-account needs the id of an account.");
      const user = await removeAccount(database, id, to);
      return { json: user, lines: [`Deleted account ${user.email} (${user.id}).`] };
    },
  },
  "confirm-address": {
    argument: "<address>",
    async run({ database }, email) {
      const user = await confirmAddress(database, email);
      return { json: user, lines: [`The address ${user.email} is confirmed.`] };
    },
  },
  "second-factor-off": {
    argument: "<address>",
    async run({ database }, email) {
      const user = await switchSecondFactorOff(database, email);
      const line = user.wasOn
        ? `Turned off two-factor authentication for ${user.email} and notified them by email.`
        : `${user.email} didn't use two-factor authentication.`;
      return { json: user, lines: [line] };
    },
  },
  projects: {
    takes: ["after"],
    async run({ database }, _argument, { after = null }) {
      const projects = await listAllProjects(database, { after, limit: LISTED_AT_ONCE });
      return listed("projects", projects, ({ id, createdAt, name, owner, disabled }) =>
        [id, createdAt, name, owner ?? "no owner", ...(disabled ? ["disabled"] : [])].join("  "),
      );
    },
  },
  "create-project": {
    argument: "<name>",
    needs: ["owner"],
    async run(around, name, { owner = "" }) {
      const project = await createProjectFor(await sealing(around), { name, owner });
      return withKeys(project, `Created project ${project.name} (${project.id}).`);
    },
  },
  "rotate-keys": {
    needs: ["project"],
    async run(around, _argument, { project = "" }) {
      const rotated = await rotateKeys(await sealing(around), project);
      return withKeys(rotated, `${rotated.name} has new keys. The old ones no longer work.`);
    },
  },
  "make-key": {
    argument: "<name>",
    needs: ["project", "scopes"],
    takes: ["expires", "networks"],
    async run({ database }, name, { project = "", scopes = "", networks, expires: expiresAt }) {
      const made = await makeKey(database, project, {
        name,
        scopes: listOf(scopes),
        ...(networks !== undefined && { networks: listOf(networks) }),
        ...(expiresAt !== undefined && { expiresAt }),
      });
      return { json: made, lines: [`Created key ${made.name} (${made.id}).`, `key: ${made.key}`] };
    },
  },
  enable: {
    needs: ["project", "reason"],
    async run({ database }, _argument, { project = "", reason = "" }) {
      const wasDisabled = await enableAgain(database, project, reason);
      const line = wasDisabled
        ? "Enabled the project and resumed its email."
        : "The project was not disabled.";
      return { json: { project, wasDisabled }, lines: [line] };
    },
  },
  "test-mail": { argument: "<address>", run: ({ database }, to) => notifyTestMail(database, to) },
  held: {
    async run({ database }) {
      const [held, asked] = [await readHeld(database), await isHoldRequested(database)];
      if (held === null)
        return { json: { held, asked }, lines: [asked ? HOLD_PENDING : "Nothing is on hold."] };
      const since = `On hold since ${held.since.toISOString()}: ${describeHeld(held)}.`;
      const advice =
        "New emails are sent. Decide about those on hold: npm run admin -- release, or npm run admin -- drop.";
      return { json: { held, asked }, lines: [since, held.reason, advice, ...(asked ? [HOLD_PENDING] : [])] };
    },
  },
  release: {
    takes: ["project", "campaign"],
    run: (around, _argument, values) => decide(around, "Released", values),
  },
  drop: {
    takes: ["project", "campaign"],
    run: (around, _argument, values) => decide(around, "Dropped", values),
  },
  ...CLUSTER_COMMANDS,
  hold: {
    async run({ database }) {
      await holdSoon(database);
      const line =
        "Everything waiting is put on hold within seconds, or at the next start if the server isn't running.";
      return { json: { asked: true }, lines: [line] };
    },
  },
};

/**
 * Parses a command line.
 * @throws UsageError
 */
export function readArguments(args: readonly string[]): {
  isJson: boolean;
  check: (database: Database) => Promise<void>;
  run: (around: Around) => Promise<Reported>;
} {
  const { positionals, values } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  const [name = "", ...rest] = positionals;
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined)
    throw new UsageError(name === "" ? "Missing command." : `Unknown command ${name}.`);
  const { argument, needs = [], takes = [] } = command;
  if (rest.length !== (argument === undefined ? 0 : 1))
    throw new UsageError(
      argument === undefined ? `${name} takes no argument.` : `${name} takes one argument: ${argument}.`,
    );
  const { json = false, ...input } = values;
  const names = Object.keys(input) as Option[];
  const missing = needs.find((option) => (input as Values)[option as keyof Values] === undefined);
  const unknown = names.find((option) => ![...needs, ...takes].includes(option));
  const faulty = IDS.find((option) => {
    const id = (input as Values)[option as keyof Values];
    return id !== undefined && !isId(String(id));
  });
  if (missing !== undefined) throw new UsageError(`${name} needs --${missing}.`);
  if (unknown !== undefined) throw new UsageError(`${name} takes no --${unknown}.`);
  if (faulty !== undefined) throw new UsageError(`--${faulty} must be an id.`);
  const { check = async () => undefined } = command;
  return { isJson: json, check, run: (around) => command.run(around, rest[0] ?? "", input as Values) };
}

function listed<Item extends { id: string }>(
  name: string,
  items: readonly Item[],
  lineOf: (item: Item) => string,
): Reported {
  const last = items.length === LISTED_AT_ONCE ? (items.at(-1)?.id ?? null) : null;
  const more = last === null ? [] : [`For more: npm run admin -- ${name} --after ${last}`];
  const lines = items.length === 0 ? [`No ${name}.`] : items.map(lineOf);
  return { json: { [name]: items, after: last }, lines: [...lines, ...more] };
}

async function sealing({ database, openSealer }: Around): Promise<{ database: Database; sealer: Sealer }> {
  return { database, sealer: await openSealer() };
}

async function passwordOf(around: Around, values: Values): Promise<string | null> {
  return values["password-stdin"] === true ? (await around.readInput()).replace(/\r?\n$/, "") : null;
}

const listOf = (text: string) => text.split(",").map((item) => item.trim());

const password = (user: WithPassword, values: Values) =>
  values["password-stdin"] === true ? [] : [`Password (shown only once): ${user.password}`];

function withKeys({ id, name, public: publicKey, secret }: ProjectView, line: string): Reported {
  return {
    json: { id, name, public: publicKey, secret },
    lines: [line, `public: ${publicKey}`, `secret: ${secret}`],
  };
}

async function notifyTestMail(database: Database, to: string): Promise<Reported> {
  const state = await sendTestMail(database, to, MAIL_PATIENCE_MS);
  const isSent = state.status === "SENT";
  const waits =
    "The email is waiting. Check that a process with the role worker is running with this database.";
  const line = isSent
    ? `Sent by ${state.transport ?? "the transport"}: ${state.answer ?? ""}`
    : state.answer === null
      ? waits
      : `Not sent (${state.status}): ${state.answer}`;
  return { json: state, lines: [line], ...(isSent ? {} : { code: 1 }) };
}

async function decide(
  { database }: Around,
  done: "Released" | "Dropped",
  { project, campaign }: Values,
): Promise<Reported> {
  const scope = { projectId: project ?? null, campaignId: campaign ?? null };
  const decided = await (done === "Released" ? releaseHeld : dropHeld)(database, scope);
  const [rest, asked] = [await readHeld(database), await isHoldRequested(database)];
  const lines = [
    `${done}: ${describeHeld(decided)}.`,
    ...(rest !== null
      ? [`Still on hold: ${describeHeld(rest)}.`]
      : asked
        ? []
        : ["Nothing is on hold anymore."]),
    ...(asked ? [HOLD_PENDING] : []),
  ];
  return { json: { ...decided, held: rest, asked }, lines };
}
