// Calls statements on accounts for the second time, after their time, and with the rows of others.
import { sql, type RawBuilder } from "kysely";
import { expect, test } from "vitest";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { Tx } from "../platform/database/database.ts";
import { useSampleDatabase } from "../testing/sample-database.ts";
import { newId } from "../platform/ids.ts";
import { id } from "../testing/sample-rows.ts";
import {
  deleteOldChallenges,
  deleteOldTokens,
  deletePending,
  findTokenAddress,
  markVerified,
  replaceSignUpToken,
  replaceToken,
  takeSignUpToken,
  takeToken,
  updateAddress,
} from "./account-queries.ts";
import { insertChallenge, takeChallenge } from "./passkeys/queries.ts";
import { deleteEndedSessions, findLiveSession, recordSessionUse } from "./queries.ts";
import { deleteFactor, recordStep, storeSecret } from "./second-factor/queries.ts";

const { undone } = useSampleDatabase();

const [ONE, OTHER, THIRD] = ["1", "2", "3"].map((text) => Buffer.alloc(32, text)) as [Buffer, Buffer, Buffer];
const EMAIL = "owner@shop.example";
const expire = (tx: Tx, table: string) =>
  sql`update ${sql.table(table)} set expires_at = now() - interval '1 second'`.execute(tx);
async function read(tx: Tx, statement: RawBuilder<unknown>): Promise<unknown> {
  return (await statement.execute(tx)).rows[0];
}
const store = (tx: Tx, hash: Buffer, purpose: "VERIFY" | "RESET", email = EMAIL) =>
  replaceToken(tx, { hash, userId: id.user, purpose, email, seconds: 60 });

test("a link works once, for its own purpose, and until it expires or a newer one replaces it", async () => {
  const result = await undone(async (tx) => {
    await store(tx, ONE, "RESET");
    await store(tx, OTHER, "VERIFY");
    const wrong = [await takeToken(tx, ONE, "VERIFY"), await findTokenAddress(tx, ONE, "VERIFY")];
    const taken = [(await takeToken(tx, ONE, "RESET"))?.email, await takeToken(tx, ONE, "RESET")];
    await store(tx, ONE, "RESET");
    await store(tx, THIRD, "RESET");
    const replaced = [await takeToken(tx, ONE, "RESET"), await findTokenAddress(tx, OTHER, "VERIFY")];
    await expire(tx, "account_tokens");
    return [
      wrong,
      taken,
      replaced,
      await takeToken(tx, THIRD, "RESET"),
      await findTokenAddress(tx, THIRD, "RESET"),
    ];
  });
  expect(result).toEqual([
    [undefined, undefined],
    [EMAIL, undefined],
    [undefined, EMAIL],
    undefined,
    undefined,
  ]);
});

test("a second sign-up of an address replaces its link and starts the time again", async () => {
  const result = await undone(async (tx) => {
    await replaceSignUpToken(tx, { hash: ONE, email: "new@shop.example", seconds: 60 });
    await expire(tx, "account_tokens");
    const late = await takeSignUpToken(tx, ONE);
    await replaceSignUpToken(tx, { hash: OTHER, email: "new@shop.example", seconds: 60 });
    return [late, await takeSignUpToken(tx, ONE), await takeSignUpToken(tx, OTHER)];
  });
  expect(result).toEqual([undefined, undefined, "new@shop.example"]);
});

test("a new password ends links for a password and another address, and keeps that for the own address", async () => {
  const result = await undone(async (tx) => {
    await store(tx, ONE, "RESET");
    await store(tx, OTHER, "VERIFY");
    await deletePending(tx, id.user);
    const own = [await findTokenAddress(tx, ONE, "RESET"), await findTokenAddress(tx, OTHER, "VERIFY")];
    await store(tx, OTHER, "VERIFY", "other@shop.example");
    await deletePending(tx, newId());
    const strange = await findTokenAddress(tx, OTHER, "VERIFY");
    await deletePending(tx, id.user);
    return [own, strange, await findTokenAddress(tx, OTHER, "VERIFY")];
  });
  expect(result).toEqual([[undefined, EMAIL], "other@shop.example", undefined]);
});

test("an address is confirmed once, and only the one that the link was sent to", async () => {
  const verified = sql`select verified_at < now() as is_old from users`;
  const result = await undone(async (tx) => {
    await markVerified(tx, id.user, "other@shop.example");
    const states = [await read(tx, verified)];
    await markVerified(tx, id.user, EMAIL);
    await sql`update users set verified_at = now() - interval '1 day'`.execute(tx);
    await markVerified(tx, id.user, EMAIL);
    states.push(await read(tx, verified));
    await updateAddress(tx, id.user, EMAIL);
    states.push(await read(tx, verified));
    await updateAddress(tx, id.user, "other@shop.example");
    return [...states, await read(tx, verified)];
  });
  expect(result).toEqual([{ isOld: null }, { isOld: true }, { isOld: true }, { isOld: false }]);
});

test("a challenge of a passkey works once, for its own account, and until it expires", async () => {
  const result = await undone(async (tx) => {
    await insertChallenge(tx, ONE, id.user, 60);
    await insertChallenge(tx, OTHER, null, 60);
    const results = [
      await takeChallenge(tx, ONE, null),
      await takeChallenge(tx, OTHER, id.user),
      await takeChallenge(tx, ONE, id.user),
      await takeChallenge(tx, ONE, id.user),
    ];
    await expire(tx, "passkey_challenges");
    return [...results, await takeChallenge(tx, OTHER, null)];
  });
  expect(result).toEqual([false, false, true, false, false]);
});

test("a sweep deletes only expired links, challenges and sessions", async () => {
  const result = await undone(async (tx) => {
    const sweep = async () => {
      await deleteOldTokens(tx);
      await deleteOldChallenges(tx);
      await deleteEndedSessions(tx);
      return read(
        tx,
        sql`select (select count(*)::integer from account_tokens) as tokens, (select count(*)::integer from passkey_challenges) as challenges,
          (select count(*)::integer from sessions) as sessions`,
      );
    };
    await store(tx, ONE, "RESET");
    await insertChallenge(tx, ONE, null, 60);
    const live = await sweep();
    await sql`update sessions set last_used_at = now() - make_interval(days => ${LIMITS.sessionIdleDays.value}::integer)`.execute(
      tx,
    );
    for (const table of ["account_tokens", "passkey_challenges"]) await expire(tx, table);
    return [live, await sweep()];
  });
  expect(result).toEqual([
    { tokens: 1, challenges: 1, sessions: 1 },
    { tokens: 0, challenges: 0, sessions: 0 },
  ]);
});

test("the use of a session is recorded again only after the given seconds", async () => {
  const result = await undone(async (tx) => {
    const used = [];
    for (const seconds of [299, 301]) {
      await sql`update sessions set last_used_at = now() - make_interval(secs => ${seconds})`.execute(tx);
      await recordSessionUse(tx, id.session, 300);
      used.push(await read(tx, sql`select last_used_at = now() as is_now from sessions`));
    }
    await sql`update sessions set last_used_at = null`.execute(tx);
    await recordSessionUse(tx, id.session, 300);
    return [...used, (await findLiveSession(tx, id.session))?.lastUsedAt !== null];
  });
  expect(result).toEqual([{ isNow: false }, { isNow: true }, true]);
});

test("a second factor is replaced until it is confirmed, and a new one accepts codes of any time", async () => {
  const factor = sql`select last_step::integer, confirmed_at < now() as was_confirmed from second_factors`;
  const result = await undone(async (tx) => {
    await sql`update second_factors set last_step = 9`.execute(tx);
    const results: unknown[] = [await deleteFactor(tx, id.user), await storeSecret(tx, id.user, OTHER)];
    results.push(await read(tx, factor));
    await recordStep(tx, id.user, 5);
    await sql`update second_factors set confirmed_at = now() - interval '1 day'`.execute(tx);
    await recordStep(tx, id.user, 6);
    results.push(
      await read(tx, factor),
      await storeSecret(tx, id.user, ONE),
      await deleteFactor(tx, id.user),
    );
    return results;
  });
  expect(result).toEqual([
    false,
    true,
    { lastStep: 0, wasConfirmed: null },
    { lastStep: 6, wasConfirmed: true },
    false,
    true,
  ]);
});
