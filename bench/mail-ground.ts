// What a benchmark of the sender stands on: a database, a project that may send, a mail server; and that no mail was lost or sent twice.
import { sql } from "kysely";
import { waitUntil } from "../e2e/wait-until.ts";
import { openOutbox, type Outbox } from "./outbox.ts";
import { startDatabase, type BenchDatabase } from "./servers.ts";
import { startSink, type BenchSink } from "./sink.ts";

export interface MailGround {
  bench: BenchDatabase;
  outbox: Outbox;
  sink: BenchSink;
}

const SETTLE_TIMEOUT_MS = 60_000;

/** A minute, and a hundred mails a second: whoever is slower has failed. */
export function giveUpMs(mails: number): number {
  return 60_000 + mails * 10;
}

/** Starts all of it, and leaves nothing behind. `prepare`: what is to be done with the database before there is a mail. */
export async function withMailGround<T>(
  work: (ground: MailGround) => Promise<T>,
  prepare: (bench: BenchDatabase) => Promise<void> = async () => {},
): Promise<T> {
  const closing: Array<() => Promise<void>> = [];
  try {
    const bench = await startDatabase();
    closing.push(() => bench.stop());
    await prepare(bench);
    const outbox = await openOutbox(bench);
    closing.push(() => outbox.close());
    const sink = await startSink();
    closing.push(() => sink.stop());
    return await work({ bench, outbox, sink });
  } finally {
    for (const close of closing.toReversed()) await close();
  }
}

/** Waits for the last few mails of all projects. */
export async function waitUntilSent({ database }: Outbox): Promise<void> {
  await waitUntil("mails that wait", SETTLE_TIMEOUT_MS, async () => {
    const { rows } = await sql<{ isWaiting: boolean }>`
      select exists (select 1 from emails where status in ('QUEUED', 'CLAIMED')) as is_waiting`.execute(
      database,
    );
    return rows[0]?.isWaiting === false;
  });
}

/** @throws Error unless the project has so many sent mails, and the mail server took each mail of all projects once. */
export async function checkSent(
  { outbox, sink }: MailGround,
  projectId: string,
  mails: number,
): Promise<void> {
  const { rows } = await sql<{ all: number; sent: number; ofProject: number }>`
    select count(*) as all, count(*) filter (where status = 'SENT') as sent,
      count(*) filter (where status = 'SENT' and project_id = ${projectId}) as of_project
    from emails`.execute(outbox.database);
  const found = { ...rows[0], taken: await sink.taken() };
  if (found.ofProject !== mails || found.sent !== found.all || found.taken !== found.all)
    throw new Error(`the books do not add up for ${mails} mails: ${JSON.stringify(found)}`);
}
