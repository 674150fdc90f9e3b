// The first account, project and keys of an empty database, from the settings BOOTSTRAP_*, so that nothing needs a click.
// Before it: main.ts has migrated. After it: the roles start.
import { parseAddress } from "@postloft/contract/address.ts";
import { LIMITS } from "@postloft/contract/limits.ts";
import type { Sealer } from "../platform/crypto.ts";
import { ConfigError, type Config } from "../platform/config.ts";
import { transaction, type Database } from "../platform/database.ts";
import { createPasswords } from "../users/passwords.ts";
import { createUser, hasUsers } from "../users/users.ts";
import { makeKeyPair } from "../projects/keys.ts";
import { createProject } from "../projects/projects.ts";
import { lockBootstrap } from "./queries.ts";

export type BootstrapResult = "made" | "has accounts" | "nothing set";

const DEFAULT_PROJECT = "My project";

/** @throws ConfigError when the settings are only half there or not valid. */
export async function bootstrap(
  database: Database,
  sealer: Sealer,
  config: Config,
): Promise<BootstrapResult> {
  if (await hasUsers(database)) return "has accounts";
  if (config.BOOTSTRAP_EMAIL === undefined && config.BOOTSTRAP_PASSWORD === undefined) return "nothing set";
  const address = parseAddress(config.BOOTSTRAP_EMAIL ?? "");
  if (!address.ok) throw new ConfigError(`BOOTSTRAP_EMAIL: ${address.reason}`);
  const password = config.BOOTSTRAP_PASSWORD ?? "";
  if (password.length < LIMITS.passwordMinimum.value || password.length > LIMITS.passwordMaximum.value)
    throw new ConfigError(
      `BOOTSTRAP_PASSWORD: must have ${LIMITS.passwordMinimum.value} to ${LIMITS.passwordMaximum.value} characters`,
    );
  const made = makeKeyPair();
  const keys = {
    public: config.BOOTSTRAP_PUBLIC_KEY ?? made.public,
    secret: config.BOOTSTRAP_SECRET_KEY ?? made.secret,
  };
  const name = (config.BOOTSTRAP_PROJECT ?? DEFAULT_PROJECT).slice(0, LIMITS.nameLength.value);
  const passwords = createPasswords();
  const passwordHash = await passwords.hash("", password).finally(() => passwords.close());
  return transaction(database, async (tx) => {
    // Of several processes that start at once one makes it; the others find that it is done.
    await lockBootstrap(tx);
    if (await hasUsers(tx)) return "has accounts";
    const user = await createUser(tx, { email: address.address, passwordHash });
    await createProject(tx, sealer, { name, ownerId: user.id, keys });
    return "made";
  });
}
