// The commands of `npm run admin`: what each takes, and what it tells in sentences and as JSON.
import { parseArgs } from "node:util";
import { UsageError } from "../platform/command.ts";
import type { Sealer } from "../platform/crypto.ts";
import type { Database } from "../platform/database/database.ts";
import { isId } from "../platform/ids.ts";
import { isHoldAsked } from "../platform/stamp/stamp.ts";
import { listAllProjects, type ProjectView } from "../projects/projects.ts";
import {
  IDS,
  OPTIONS,
  type Around,
  type Command,
  type Option,
  type Told,
  type Values,
} from "./admin-command.ts";
import { describeHeld, dropHeld, holdSoon, readHeld, releaseHeld } from "./held.ts";
import {
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

  users [--after <id>]                  lists the accounts, 100 at a time
  create-user <address>                 makes an account
  reset-password <address>              gives an account another password and ends its sessions
  remove-account <id> [--to <id>]       deletes an account; --to names the account that gets its projects
  second-factor-off <address>           for whoever lost the app and all recovery codes
  projects [--after <id>]               lists the projects, 100 at a time
  create-project <name> --owner <address>   makes a project with its keys
  rotate-keys --project <id>            makes two new keys; the old ones are dead at once
  make-key <name> --project <id> --scopes <scope,…>   makes a key that opens a part of the API, and prints it
  enable --project <id> --reason <text> enables a disabled project; its mail that waits goes on
  test-mail <address>                   sends a mail and tells what the mail server said

  held      what is held, since when and why
  release   lets it go on as it stands: what these books call unsent is sent
  drop      it will not be sent: mails are skipped, campaigns cancelled, schedules drafts again
  hold      for whoever restored the database: holds all that waits, at the next start or within seconds

release and drop are about everything that is held, or with --project <id> or --campaign <id> what belongs to that.
create-user and reset-password make a password and print it; with --password-stdin they read it from the standard input.
make-key takes --expires <instant> and --networks <address,…>, too. Scopes: contacts:read, v1:write, … (docs/api.md).
--json prints one JSON object, {error} where it was not done. Exit code: 0 done, 1 not done, 2 not understood.
`;

const LISTED_AT_ONCE = 100;
const MAIL_PATIENCE_MS = 30_000;
const HOLD_PENDING =
  "A hold is asked for and not made yet: all that waits is held at the next start of the server, or within seconds where it runs. Decide after that.";

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
        lines: [`Made the account ${user.email} (${user.id}).`, ...password(user, values)],
      };
    },
  },
  "reset-password": {
    argument: "<address>",
    takes: ["password-stdin"],
    async run(around, email, values) {
      const user = await resetPassword(around.database, email, await passwordOf(around, values));
      const line = `${user.email} has another password; ${user.endedSessions} sessions ended.`;
      return { json: user, lines: [line, ...password(user, values)] };
    },
  },
  "remove-account": {
    argument: "<id>",
    takes: ["to"],
    isBeforeUpgrade: true,
    async run({ database }, id, { to = null }) {
      if (!isId(id)) throw new UsageError("remove-account takes the id of an account.");
      const user = await removeAccount(database, id, to);
      return { json: user, lines: [`Deleted the account ${user.email} (${user.id}).`] };
    },
  },
  "second-factor-off": {
    argument: "<address>",
    async run({ database }, email) {
      const user = await switchSecondFactorOff(database, email);
      const line = user.wasOn
        ? `${user.email} logs in with the password alone, and got a mail that says so.`
        : `${user.email} had no second factor.`;
      return { json: user, lines: [line] };
    },
  },
  projects: {
    takes: ["after"],
    async run({ database }, _argument, { after = null }) {
      const projects = await listAllProjects(database, { after, limit: LISTED_AT_ONCE });
      return listed("projects", projects, ({ id, createdAt, name, owner, disabled }) =>
        [id, createdAt, name, owner ?? "nobody's", ...(disabled ? ["disabled"] : [])].join("  "),
      );
    },
  },
  "create-project": {
    argument: "<name>",
    needs: ["owner"],
    async run(around, name, { owner = "" }) {
      const project = await createProjectFor(await sealing(around), { name, owner });
      return withKeys(project, `Made the project ${project.name} (${project.id}).`);
    },
  },
  "rotate-keys": {
    needs: ["project"],
    async run(around, _argument, { project = "" }) {
      const rotated = await rotateKeys(await sealing(around), project);
      return withKeys(rotated, `${rotated.name} has new keys; the old ones are dead.`);
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
      return { json: made, lines: [`Made the key ${made.name} (${made.id}).`, `key: ${made.key}`] };
    },
  },
  enable: {
    needs: ["project", "reason"],
    async run({ database }, _argument, { project = "", reason = "" }) {
      const wasDisabled = await enableAgain(database, project, reason);
      const line = wasDisabled
        ? "The project is enabled; its mail goes on."
        : "The project was not disabled.";
      return { json: { project, wasDisabled }, lines: [line] };
    },
  },
  "test-mail": { argument: "<address>", run: ({ database }, to) => tellTestMail(database, to) },
  held: {
    async run({ database }) {
      const [held, asked] = [await readHeld(database), await isHoldAsked(database)];
      if (held === null) return { json: { held, asked }, lines: [asked ? HOLD_PENDING : "Nothing is held."] };
      const since = `Held since ${held.since.toISOString()}: ${describeHeld(held)}.`;
      const advice =
        "New mail leaves. For what is held decide: npm run admin -- release, or npm run admin -- drop.";
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
  hold: {
    async run({ database }) {
      await holdSoon(database);
      const line = "All that waits is held at the next start of the server, or within seconds where it runs.";
      return { json: { asked: true }, lines: [line] };
    },
  },
};

/** What a command line asks for. @throws UsageError */
export function readArguments(args: readonly string[]): {
  isJson: boolean;
  isBeforeUpgrade: boolean;
  run: (around: Around) => Promise<Told>;
} {
  const { positionals, values } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  const [name = "", ...rest] = positionals;
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined)
    throw new UsageError(name === "" ? "Which command?" : `There is no command ${name}.`);
  const { argument, needs = [], takes = [] } = command;
  if (rest.length !== (argument === undefined ? 0 : 1))
    throw new UsageError(
      argument === undefined ? `${name} takes no argument.` : `${name} takes one argument: ${argument}.`,
    );
  const { json = false, ...given } = values;
  const names = Object.keys(given) as Option[];
  const missing = needs.find((option) => (given as Values)[option as keyof Values] === undefined);
  const unknown = names.find((option) => ![...needs, ...takes].includes(option));
  const faulty = IDS.find((option) => {
    const id = (given as Values)[option as keyof Values];
    return id !== undefined && !isId(String(id));
  });
  if (missing !== undefined) throw new UsageError(`${name} needs --${missing}.`);
  if (unknown !== undefined) throw new UsageError(`${name} takes no --${unknown}.`);
  if (faulty !== undefined) throw new UsageError(`--${faulty} must be an id.`);
  const { isBeforeUpgrade = false } = command;
  return {
    isJson: json,
    isBeforeUpgrade,
    run: (around) => command.run(around, rest[0] ?? "", given as Values),
  };
}

function listed<Item extends { id: string }>(
  name: string,
  items: readonly Item[],
  lineOf: (item: Item) => string,
): Told {
  const last = items.length === LISTED_AT_ONCE ? (items.at(-1)?.id ?? null) : null;
  const more = last === null ? [] : [`There may be more: npm run admin -- ${name} --after ${last}`];
  const lines = items.length === 0 ? [`There are no ${name}.`] : items.map(lineOf);
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
  values["password-stdin"] === true ? [] : [`Its password, shown this once: ${user.password}`];

function withKeys({ id, name, public: publicKey, secret }: ProjectView, line: string): Told {
  return {
    json: { id, name, public: publicKey, secret },
    lines: [line, `public: ${publicKey}`, `secret: ${secret}`],
  };
}

async function tellTestMail(database: Database, to: string): Promise<Told> {
  const state = await sendTestMail(database, to, MAIL_PATIENCE_MS);
  const isSent = state.status === "SENT";
  const waits =
    "The mail waits. Does a process with the role worker run, and is it this database's? It leaves once one does.";
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
): Promise<Told> {
  const scope = { projectId: project ?? null, campaignId: campaign ?? null };
  const decided = await (done === "Released" ? releaseHeld : dropHeld)(database, scope);
  const [rest, asked] = [await readHeld(database), await isHoldAsked(database)];
  const lines = [
    `${done}: ${describeHeld(decided)}.`,
    ...(rest !== null ? [`Still held: ${describeHeld(rest)}.`] : asked ? [] : ["Nothing is held any more."]),
    ...(asked ? [HOLD_PENDING] : []),
  ];
  return { json: { ...decided, held: rest, asked }, lines };
}
