// Accounts that nobody proved: they go after their days, and those that anybody may miss stay.
import { expect, test } from "vitest";
import { LIMITS } from "@postloft/contract/limits.ts";
import { firstIdAt, newId } from "../platform/ids.ts";
import { membersAmong } from "../projects/usage.ts";
import { useTestServer } from "../testing/test-server.ts";
import { sweepAccounts } from "./sweep-accounts.ts";

const server = useTestServer({ ROLES: "api" });
const DAYS = LIMITS.unprovenDays.value;
const DAY_MS = 86_400_000;

let made = 0;

/** Accounts that were made so many days ago, each a millisecond after the one before; returns their ids. */
async function addAccounts(count: number, daysAgo: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => firstIdAt(Date.now() - daysAgo * DAY_MS + ++made));
  const addAll = "insert into users (id, email, password_hash) select id, id || '@example.com', 'none' from";
  await server.rows(`${addAll} unnest($1::uuid[]) as t (id)`, ids);
  return ids;
}

async function addAccount(daysAgo: number): Promise<string> {
  const [id = ""] = await addAccounts(1, daysAgo);
  return id;
}

const join = (ids: readonly string[]) =>
  server.rows(
    "insert into memberships (project_id, user_id, role) select $1, id, 'MEMBER' from unnest($2::uuid[]) as t (id)",
    server.project.id,
    ids,
  );
const left = async (ids: readonly string[]) =>
  (await server.rows<{ id: string }>("select id from users where id = any($1) order by id", [...ids])).map(
    ({ id }) => id,
  );

test("an account that nobody proved goes after its days, unless it is the first, or somebody uses it", async () => {
  const first = await addAccount(DAYS + 9);
  const abandoned = await addAccount(DAYS + 1);
  const young = await addAccount(DAYS - 1);
  const proven = await addAccount(DAYS + 1);
  await server.rows("update users set verified_at = now() where id = $1", proven);
  const member = await addAccount(DAYS + 1);
  await join([member]);
  const loggedIn = await addAccount(DAYS + 1);
  await server.rows(
    "insert into sessions (id, user_id, expires_at) values ($1, $2, now() + interval '1 hour')",
    newId(),
    loggedIn,
  );
  const connected = await addAccount(DAYS + 1);
  await server.rows(
    "insert into identities (id, issuer, subject, user_id, email) values ($1, 'https://id.example', 'x', $2, 'a@b.example')",
    newId(),
    connected,
  );
  const withPasskey = await addAccount(DAYS + 1);
  await server.rows(
    `insert into passkeys (id, user_id, credential_id, public_key, sign_count, transports, name)
    values ($1, $2, '\\x01', '\\x01', 0, '{}', 'A key')`,
    newId(),
    withPasskey,
  );
  await sweepAccounts(server.database, membersAmong);
  const stays = [first, young, proven, member, loggedIn, connected, withPasskey];
  expect(await left([...stays, abandoned])).toEqual(stays.toSorted());
});

test("all that are nobody's go, also behind more that stay than are looked at together", async () => {
  const members = await addAccounts(501, DAYS + 5);
  await join(members);
  const abandoned = await addAccounts(501, DAYS + 3);
  await sweepAccounts(server.database, membersAmong);
  expect([(await left(members)).length, (await left(abandoned)).length]).toEqual([501, 0]);
});
