// Creates the first account, project and keys of an empty database from the settings BOOTSTRAP_*.
import { parseAddress } from "@postloft/contract/address.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { Sealer } from "../platform/crypto.ts";
import { ConfigError, type Config } from "../platform/settings/config.ts";
import { transaction, type Database } from "../platform/database/database.ts";
import { AppError } from "../platform/app-error.ts";
import { createPasswords } from "../users/passwords.ts";
import { createUser, hasUsers } from "../users/users.ts";
import { createKeyFinder, makeKeyPair } from "../projects/keys.ts";
import { createProject } from "../projects/projects.ts";
import { lockBootstrap } from "./queries.ts";

export type BootstrapResult = "made" | "has accounts" | "nothing set";

const DEFAULT_PROJECT = "My project";

type Settings = Partial<
  Pick<Config, "BOOTSTRAP_EMAIL" | "BOOTSTRAP_PASSWORD" | "BOOTSTRAP_PUBLIC_KEY" | "BOOTSTRAP_SECRET_KEY">
>;

const isAsked = (config: Settings) =>
  config.BOOTSTRAP_EMAIL !== undefined || config.BOOTSTRAP_PASSWORD !== undefined;

/** Returns the faults of the bootstrap settings: incomplete or invalid values. Empty if none are set. */
export function faultsOfBootstrap(config: Settings): string[] {
  if (!isAsked(config)) return [];
  const address = parseAddress(config.BOOTSTRAP_EMAIL ?? "");
  const length = (config.BOOTSTRAP_PASSWORD ?? "").normalize("NFC").length;
  const { passwordMinimum, passwordMaximum } = LIMITS;
  const isLong = length >= passwordMinimum.value && length <= passwordMaximum.value;
  return [
    ...(address.ok ? [] : [`BOOTSTRAP_EMAIL: ${address.reason}`]),
    ...(isLong
      ? []
      : [`BOOTSTRAP_PASSWORD: must have ${passwordMinimum.value} to ${passwordMaximum.value} characters`]),
  ];
}

/** Returns warnings about BOOTSTRAP_* settings that have no effect because the database has accounts, and about keys that are not valid. */
export async function explainIgnored(database: Database, config: Settings): Promise<string[]> {
  const findKey = createKeyFinder(database);
  const input = {
    BOOTSTRAP_PUBLIC_KEY: config.BOOTSTRAP_PUBLIC_KEY,
    BOOTSTRAP_SECRET_KEY: config.BOOTSTRAP_SECRET_KEY,
  };
  const lines: string[] = [];
  if (isAsked(config)) lines.push("BOOTSTRAP_* is ignored because this database already has accounts.");
  for (const [name, key] of Object.entries(input))
    if (key !== undefined && (await findKey(key)) === null)
      lines.push(
        `${name} is not a key of this server. A project keeps its keys until they are regenerated. Sign in to see them, or call /users/@me/projects.`,
      );
  return lines;
}

/**
 * Creates the first account and project if the database is empty and the settings ask for it.
 * @throws ConfigError if the settings are incomplete or invalid
 */
export async function bootstrap(
  database: Database,
  sealer: Sealer,
  config: Config,
): Promise<BootstrapResult> {
  if (await hasUsers(database)) return "has accounts";
  if (!isAsked(config)) return "nothing set";
  const faults = faultsOfBootstrap(config);
  const address = parseAddress(config.BOOTSTRAP_EMAIL ?? "");
  if (faults.length > 0 || !address.ok) throw new ConfigError(faults.join("\n"));
  const password = (config.BOOTSTRAP_PASSWORD ?? "").normalize("NFC");
  const made = makeKeyPair();
  const keys = {
    public: config.BOOTSTRAP_PUBLIC_KEY ?? made.public,
    secret: config.BOOTSTRAP_SECRET_KEY ?? made.secret,
  };
  const name = (config.BOOTSTRAP_PROJECT ?? DEFAULT_PROJECT).slice(0, LIMITS.nameLength.value);
  const passwords = createPasswords();
  const passwordHash = await passwords
    .hash("", { email: address.address, password, projects: [name] })
    .catch((error: unknown) => {
      const [fault] = error instanceof AppError ? (error.fields ?? []) : [];
      throw fault === undefined ? error : new ConfigError(`BOOTSTRAP_PASSWORD: ${fault.message}`);
    })
    .finally(() => passwords.close());
  return transaction(database, async (tx) => {
    // Only one of several processes that start concurrently creates the account.
    await lockBootstrap(tx);
    if (await hasUsers(tx)) return "has accounts";
    const user = await createUser(tx, { email: address.address, passwordHash, isVerified: true });
    await createProject(tx, { sealer, inboundDomain: null }, { name, ownerId: user.id, keys });
    return "made";
  });
}
