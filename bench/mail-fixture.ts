// Sets up sender benchmarks with a database, a verified project and a mail server. Checks that no email was lost or sent twice.
import { sql } from "kysely";
import { waitUntil } from "../e2e/wait-until.ts";
import { openOutbox, type Outbox } from "./outbox.ts";
import { startDatabase, type BenchDatabase } from "./servers.ts";
import { startSink, type BenchSink } from "./sink.ts";

export interface MailEnvironment {
  bench: BenchDatabase;
  outbox: Outbox;
  sink: BenchSink;
}

const SETTLE_TIMEOUT_MS = 60_000;

/** Timeout: a minute, plus 10 ms per email. Anything slower has failed. */
export function giveUpMs(mails: number): number {
  return 60_000 + mails * 10;
}

/** Starts the environment and cleans it up afterwards. `prepare` changes the database before emails exist. */
export async function withMailEnvironment<T>(
  work: (fixture: MailEnvironment) => Promise<T>,
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

/** Waits until no project has queued emails. */
export async function waitUntilSent({ database }: Outbox): Promise<void> {
  await waitUntil("queued emails", SETTLE_TIMEOUT_MS, async () => {
    const { rows } = await sql<{ isWaiting: boolean }>`
      select exists (select 1 from emails where status in ('QUEUED', 'CLAIMED')) as is_waiting`.execute(
      database,
    );
    return rows[0]?.isWaiting === false;
  });
}

/**
 * Checks the result. @throws Error unless the project has this many sent emails and the mail server received each email of all projects
 * once
 */
export async function checkSent(
  { outbox, sink }: MailEnvironment,
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
