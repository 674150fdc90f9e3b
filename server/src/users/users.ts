// People who log in: accounts with a password.
// Before it: routes.ts, instance/bootstrap.ts. After it: sessions.ts.
import { hash, verify } from "@node-rs/argon2";
import type { Database, Tx } from "../platform/database.ts";
import { newId } from "../platform/ids.ts";
import { Refusal } from "../platform/refusal.ts";
import { countUsers, findUserByEmail, findUserById, insertUser } from "./queries.ts";

export interface User {
  id: string;
  email: string;
}

/** argon2id (the library's default) at OWASP's cost: 19 MiB, 2 passes, 1 lane. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
/** Verified against when there is no account, so that both answers take the same time. */
const NOBODYS_HASH =
  "$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$RdescudvJCsgt3ub+b6dWRWJTmaaJObGQY5lM4Xr0xk";

export async function hashPassword(password: string): Promise<string> {
  return hash(password, COST);
}

/** @throws Refusal CONFLICT when the address has an account. */
export async function createUser(tx: Tx, user: { email: string; passwordHash: string }): Promise<User> {
  const id = newId();
  const isNew = await insertUser(tx, { id, email: user.email, password_hash: user.passwordHash });
  if (!isNew)
    throw new Refusal("CONFLICT", { message: "This e-mail address has an account already. Log in instead." });
  return { id, email: user.email };
}

/** The account of these credentials, or null; takes the same time whichever of the two is wrong. */
export async function findUserByCredentials(
  database: Database,
  email: string,
  password: string,
): Promise<User | null> {
  const row = await findUserByEmail(database, email);
  const matches = await verify(row?.password_hash ?? NOBODYS_HASH, password);
  return row !== undefined && matches ? { id: row.id, email: row.email } : null;
}

export async function getUser(database: Database, id: string): Promise<User> {
  const row = await findUserById(database, id);
  if (row === undefined) throw new Refusal("UNAUTHORIZED");
  return row;
}

export async function hasUsers(database: Database): Promise<boolean> {
  return (await countUsers(database)) > 0;
}
