// Calls statements on invitations, suspensions and notifications for the second time and after their time.
import { sql } from "kysely";
import { expect, test } from "vitest";
import { transaction, type Tx } from "../platform/database/database.ts";
import { useSampleDatabase } from "../testing/sample-database.ts";
import { newId } from "../platform/ids.ts";
import { HASH, id } from "../testing/sample-rows.ts";
import { listDueProjects, markNotified, mergeChoices } from "./members/notification-queries.ts";
import {
  deleteExpiredInvitations,
  findInvitationByToken,
  findLiveInvitation,
  listInvitationRows,
  moveMemberships,
  upsertInvitation,
} from "./members/queries.ts";
import { findScopedKeyRows } from "./scoped-keys/queries.ts";
import {
  disableProjectRows,
  insertSuspensions,
  liftSuspensions,
  lockSuspended,
} from "./suspension-queries.ts";

const samples = useSampleDatabase();
const { undone } = samples;

const { project } = id;
const EMAIL = "new@shop.example";
const [ONE, OTHER] = [Buffer.alloc(32, "1"), Buffer.alloc(32, "2")];
const invite = (tx: Tx, tokenHash: Buffer) =>
  upsertInvitation(tx, {
    projectId: project,
    id: newId(),
    email: EMAIL,
    role: "MEMBER",
    tokenHash,
    invitedBy: id.user,
    days: 7,
  });
const expire = (tx: Tx) => sql`update invitations set expires_at = now() - interval '1 second'`.execute(tx);

test("an expired invitation is found nowhere, and a second one is valid for the whole time", async () => {
  const seen = async (tx: Tx, hash: Buffer) => [
    (await listInvitationRows(tx, project)).length,
    (await findInvitationByToken(tx, hash))?.email,
    (await findLiveInvitation(tx, EMAIL)) !== undefined,
  ];
  const result = await undone(async (tx) => {
    await invite(tx, ONE);
    const first = await seen(tx, ONE);
    await expire(tx);
    const expired = await seen(tx, ONE);
    await invite(tx, OTHER);
    const replaced = (await findInvitationByToken(tx, ONE))?.email;
    await deleteExpiredInvitations(tx);
    const second = await seen(tx, OTHER);
    await expire(tx);
    await deleteExpiredInvitations(tx);
    const { rows } = await sql`select 1 from invitations`.execute(tx);
    return [first, expired, replaced, second, rows.length];
  });
  expect(result).toEqual([[1, EMAIL, true], [0, undefined, false], undefined, [1, EMAIL, true], 0]);
});

const suspend = (tx: Tx) =>
  insertSuspensions(tx, [{ projectId: project, id: newId(), reasons: "[]", rates: "[]" }]);

test("lifting a suspension leaves earlier ones with their time and owner", async () => {
  const result = await undone(async (tx) => {
    await suspend(tx);
    await liftSuspensions(tx, project, id.user);
    await sql`update project_suspensions set lifted_at = now() - interval '29 days'`.execute(tx);
    await suspend(tx);
    await liftSuspensions(tx, project, null);
    const states = [await lockSuspended(tx, project, 30), await lockSuspended(tx, project, 28)];
    await suspend(tx);
    states.push(await lockSuspended(tx, project, 28));
    const { rows } = await sql`
      select lifted_at < now() as is_old, lifted_by from project_suspensions order by id`.execute(tx);
    return [states.map((state) => [state?.isSuspended, state?.wasLifted]), rows];
  });
  expect(result).toEqual([
    [
      [false, true],
      [false, false],
      [true, false],
    ],
    [
      { isOld: true, liftedBy: id.user },
      { isOld: false, liftedBy: null },
      { isOld: null, liftedBy: null },
    ],
  ]);
});

test("a project is disabled once", async () => {
  const result = await undone(async (tx) => [
    (await disableProjectRows(tx, [project])).length,
    (await disableProjectRows(tx, [project])).length,
  ]);
  expect(result).toEqual([1, 0]);
});

test("members are notified again only after the time, also by two processes at once", async () => {
  const mark = (tx: Tx, since: Date) => markNotified(tx, { projectIds: [project], kind: "test", since });
  const waiting = sql`
    select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  const [past, future] = [new Date(Date.now() - 3_600_000), new Date(Date.now() + 3_600_000)];
  const first = await transaction(samples.database, (tx) => mark(tx, past));
  const again = await transaction(samples.database, (tx) => mark(tx, past));
  await sql`update told_members set told_at = now() - interval '2 hours'`.execute(samples.database);
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const one = transaction(samples.database, async (tx) => {
    const marked = await mark(tx, past);
    begin();
    await ended;
    return marked;
  });
  await begun;
  const other = transaction(samples.database, (tx) => mark(tx, past));
  await expect
    .poll(async () => (await waiting.execute(samples.database)).rows.length)
    .toBe(1)
    .finally(end);
  const both = await Promise.all([one, other]);
  const later = await transaction(samples.database, (tx) => mark(tx, future));
  await sql`delete from told_members`.execute(samples.database);
  expect([first, again, both, later]).toEqual([[project], [], [[project], []], [project]]);
});

test("a project is due for a summary if a member wants it and none was sent since", async () => {
  const result = await undone(async (tx) => {
    const due = async () => (await listDueProjects(tx, "test", new Date(Date.now() - 60_000), 5)).length;
    const member = { projectId: project, userId: id.user };
    const counts = [await due()];
    await mergeChoices(tx, member, { byMail: { test: true, other: true }, byWebhook: {} });
    const { notifications } =
      (await mergeChoices(tx, member, { byMail: { other: false }, byWebhook: {} })) ?? {};
    await markNotified(tx, { projectIds: [project], kind: "other", since: new Date(0) });
    counts.push(await due());
    await markNotified(tx, { projectIds: [project], kind: "test", since: new Date(0) });
    counts.push(await due());
    await sql`update told_members set told_at = now() - interval '1 hour'`.execute(tx);
    return [counts, await due(), notifications];
  });
  expect(result).toEqual([[0, 1, 0], 1, { test: true, other: false }]);
});

test.each([
  ["OWNER", "MEMBER", "OWNER"],
  ["ADMIN", "MEMBER", "ADMIN"],
  ["OWNER", "ADMIN", "OWNER"],
  ["MEMBER", "ADMIN", "ADMIN"],
  ["ADMIN", "OWNER", "OWNER"],
])("a person with the role %s who takes over that of a %s has the role %s", async (to, from, is) => {
  const result = await undone(async (tx) => {
    const other = newId();
    await sql`insert into users (id, email, password_hash) values (${other}, 'other@shop.example', 'hash')`.execute(
      tx,
    );
    await sql`update memberships set role = ${to}`.execute(tx);
    await sql`insert into memberships (project_id, user_id, role) values (${project}, ${other}, ${from})`.execute(
      tx,
    );
    await moveMemberships(tx, other, id.user);
    return (await sql`select user_id, role from memberships`.execute(tx)).rows;
  });
  expect(result).toEqual([{ userId: id.user, role: is }]);
});

test("a key expires at its time, and its use is recorded again after a minute", async () => {
  const result = await undone(async (tx) => {
    const states = [];
    for (const change of [
      sql`expires_at = null, last_used_at = null`,
      sql`expires_at = now() + interval '1 second', last_used_at = now() - interval '59 seconds'`,
      sql`expires_at = now(), last_used_at = now() - interval '61 seconds'`,
    ]) {
      await sql`update scoped_keys set ${change}`.execute(tx);
      const [key] = await findScopedKeyRows(tx, [HASH]);
      states.push([key?.isExpired, key?.isUseKnown, key?.disabled]);
    }
    await sql`update projects set disabled = true`.execute(tx);
    return [...states, (await findScopedKeyRows(tx, [HASH]))[0]?.disabled];
  });
  expect(result).toEqual([[false, false, false], [false, true, false], [true, false, false], true]);
});
