// What it would cost to have a partition for each month of mails, which stand in one table: docs/decisions/0082.
import { createPool } from "../server/src/platform/database/database.ts";
import { createLog } from "../server/src/platform/log.ts";
import { ours } from "./deliver.ts";
import { inTurn } from "./in-turn.ts";
import { withMailGround, type MailGround } from "./mail-ground.ts";
import { runNoticesRound } from "./notices.ts";
import { addContacts, addProject } from "./outbox.ts";
import type { BenchDatabase } from "./servers.ts";
import { CONNECTIONS } from "./sink.ts";

/** Two months, as where mails are kept for a month, and two years; with three months ahead and the partition for all others. */
const PARTITIONS = [6, 28];
const MONTHS_AHEAD = 3;
const ROUNDS = 5;
const MAILS = 20_000;
const NOTICES = 20_000;

/** Notices and sending, with so many partitions and with one table in turn. */
export async function compareMails(): Promise<string[][]> {
  const rows: string[][] = [];
  // Each on databases of its own: what is noticed of mails has their owner written to, and what is sent deletes those from before.
  for (const compare of [compareNotices, compareSending])
    for (const partitions of PARTITIONS)
      await withMailGround((oneTable) =>
        withMailGround(
          async (months) => rows.push(...(await compare([months, oneTable], `, partitions: ${partitions}`))),
          (bench) => putMailsIntoMonths(bench, partitions),
        ),
      );
  return rows;
}

async function compareNotices(grounds: readonly MailGround[], named: string): Promise<string[][]> {
  const rounds = grounds.map(({ outbox: { database } }) => async () => {
    const { kept, readMs } = await runNoticesRound(database, NOTICES, 1);
    return (kept * 1_000) / readMs;
  });
  return [await inTurn(`notices${named}`, ROUNDS, rounds)];
}

async function compareSending(grounds: readonly MailGround[], named: string): Promise<string[][]> {
  const senders = await Promise.all(
    grounds.map(async (ground) => {
      const { id: projectId } = await addProject(ground.outbox, "Newsletter");
      await addContacts(ground.outbox, projectId, MAILS);
      return { ground, projectId };
    }),
  );
  const sending = (processes: number, connections: number) =>
    senders.map(({ ground, projectId }) => async () => {
      const { tookMs } = await ours(ground, { projectId, mails: MAILS, processes, connections });
      return (MAILS * 1_000) / tookMs;
    });
  return [
    await inTurn(`sending, ${CONNECTIONS} connections${named}`, ROUNDS, sending(1, CONNECTIONS)),
    await inTurn(`sending, ${2 * CONNECTIONS} connections${named}`, ROUNDS, sending(1, 2 * CONNECTIONS)),
    await inTurn(`sending, two processes${named}`, ROUNDS, sending(2, CONNECTIONS)),
  ];
}

/**
 * `emails` with the keys and indexes that it has, but none of them unique without the id, and nothing that points at it: a month that is
 * pointed at cannot be dropped. The mails of today are in the partition of this month, and the earlier ones are empty.
 */
async function putMailsIntoMonths({ connection }: BenchDatabase, partitions: number): Promise<void> {
  const pool = createPool({ connection, maxConnections: 1, log: createLog({ level: "warn" }) });
  await pool.query(`do $$
    declare
      made text[] := array(
        select replace(pg_get_indexdef(indexrelid), 'UNIQUE ', '') from pg_index where indrelid = 'emails'::regclass and not indisprimary);
      keys text[] := array(
        select 'alter table emails add ' || pg_get_constraintdef(oid) from pg_constraint
        where conrelid = 'emails'::regclass and contype in ('p', 'f'));
      statement text;
      later int;
      bounds text[];
    begin
      create table by_month (like emails including all excluding indexes) partition by range (id);
      drop table emails cascade;
      alter table by_month rename to emails;
      alter table emails alter column project_id set (n_distinct_inherited = 10);
      foreach statement in array keys || made loop execute statement; end loop;
      for later in ${MONTHS_AHEAD + 2 - partitions}..${MONTHS_AHEAD} loop
        bounds := array(
          select quote_literal(sent_event_id('00000000-0000-0000-0000-000000000000',
            (date_trunc('month', now() at time zone 'UTC') + make_interval(months => later + n)) at time zone 'UTC'))
          from generate_series(0, 1) n);
        execute format('create table emails_%s partition of emails for values from (%s) to (%s)
          with (autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 5000)', later + 100, bounds[1], bounds[2]);
        execute format('alter table emails_%s alter column project_id set (n_distinct = 10)', later + 100);
      end loop;
      create table emails_later partition of emails default;
    end $$`);
  await pool.end();
}
