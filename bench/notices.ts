// `npm run bench notices [count]`: reports about sent mails, shuffled and each told one to three times, through the interpreter.
import { sql } from "kysely";
import {
  createDatabase,
  createPool,
  transaction,
  type Database,
} from "../server/src/platform/database/database.ts";
import { contentId, newId } from "../server/src/platform/ids.ts";
import { createLog } from "../server/src/platform/log.ts";
import { enqueueEmails, makeContent } from "../server/src/emails/outbox/emails.ts";
import { countMails, findMiscounts } from "../server/src/emails/booking/sending-hours.ts";
import { createDeliveries } from "../server/src/deliveries/deliveries.ts";
import { createInterpreter } from "../server/src/deliveries/interpret-notices.ts";
import { createNoticeStore, readNotices } from "../server/src/deliveries/notices.ts";
import { createGuard } from "../server/src/deliveries/reputation.ts";
import { createReturnPaths } from "../server/src/deliveries/return-path.ts";
import { readSesEvent } from "../server/src/deliveries/ses-events.ts";
import { countAll, countingShare } from "./counting.ts";
import { startDatabase } from "./servers.ts";
import {
  random,
  reportsAbout,
  SHARES,
  shuffle,
  type Kind,
  type Mail,
  type ToldReport,
} from "./ses-reports.ts";
import { print, printTable, whole } from "./table.ts";
import { SYSTEM_PROJECT_ID } from "../server/src/emails/rows/system-project.ts";

const NOTICES = 100_000;
const BATCH = 2_000;
const STORED_AT_ONCE = 256;
const READ_AT_ONCE = 500;
const LOOP_COUNTS = [1, 2];
const CONNECTIONS = 8;

interface Round {
  loops: number;
  told: number;
  kept: number;
  storeMs: number;
  readMs: number;
  /** To count what they made, and the mails. */
  countedMs: number;
}

export async function benchNotices(): Promise<void> {
  const count = Number(process.argv[3] ?? NOTICES);
  const bench = await startDatabase();
  const log = createLog({ level: "silent" });
  const database = createDatabase(
    createPool({ connection: bench.connection, maxConnections: CONNECTIONS, log }),
  );
  try {
    const rounds: Round[] = [];
    for (const loops of LOOP_COUNTS) rounds.push(await runNoticesRound(database, count, loops));
    printTable(
      [
        "readers",
        "reports",
        "told",
        "kept",
        "kept/s",
        "gone through/s",
        "counting, % of the cores",
        "counters",
      ],
      rounds.map((round) => [
        String(round.loops),
        whole(count),
        whole(round.told),
        whole(round.kept),
        whole((round.told * 1000) / round.storeMs),
        whole((round.kept * 1000) / round.readMs),
        countingShare(round.countedMs, round.readMs),
        "exact",
      ]),
    );
    print("\nBars: 5,000 a second, counters exact, counting at most 3 % of the cores.");
  } finally {
    await database.destroy();
    await bench.stop();
  }
}

/** Keeps so many reports about new mails, then reads them with so many loops. @throws Error when a counter is not exact */
export async function runNoticesRound(database: Database, count: number, loops: number): Promise<Round> {
  const [project] = await database
    .selectFrom("projects")
    .select("id")
    .where("id", "<>", SYSTEM_PROJECT_ID)
    .execute();
  if (project === undefined) throw new Error("The database of the benchmark has no project.");
  await sql`delete from notices`.execute(database);
  const log = createLog({ level: "silent" });
  const mails = await sendMails(database, project.id, Math.ceil((count * SHARES.Delivery) / 100));
  const reports = reportsAbout(mails, count);
  const told = shuffle(reports.flatMap((report) => Array.from({ length: 1 + random(3) }, () => report)));
  const before = await countBooks(database, mails);
  const notices = createNoticeStore(database);
  const storing = performance.now();
  for (let at = 0; at < told.length; at += STORED_AT_ONCE)
    await Promise.all(told.slice(at, at + STORED_AT_ONCE).map((report) => notices.store(toNotice(report))));
  const storeMs = performance.now() - storing;
  const kept = await countWaiting(database);

  const deliveries = createDeliveries({ guard: createGuard({ isOn: false, baseUrl: () => "" }) });
  const returnPaths = createReturnPaths("a secret for this benchmark only");
  const interpret = createInterpreter({
    reportReader: { read: async () => ({ fault: "none here" }) },
    deliveries,
    returnPaths,
    ownDomains: [],
  });
  const reading = performance.now();
  await Promise.all(
    Array.from({ length: loops }, async () => {
      while ((await readNotices({ database, interpret, log }, "sns", READ_AT_ONCE)) > 0);
    }),
  );
  const readMs = performance.now() - reading;
  if ((await countWaiting(database)) > 0) throw new Error("notices were left over");
  await check(database, mails, reports, before);
  return { loops, told: told.length, kept, storeMs, readMs, countedMs: await countAll(database, 0) };
}

/** Mails that have left, each to one of the contacts, booked as the sender books them. */
async function sendMails(database: Database, projectId: string, count: number): Promise<Mail[]> {
  const contacts = await database
    .selectFrom("contacts")
    .select(["id", "email"])
    .where("projectId", "=", projectId)
    .limit(count)
    .execute();
  await sql`update contacts set subscribed = true where not subscribed`.execute(database);
  const content = makeContent({
    projectId,
    from: { address: "news@sender.example", name: null },
    replyTo: null,
    subject: "News",
    html: "<p>News</p>",
    text: null,
    headers: [],
    attachments: [],
  });
  const mails: Mail[] = [];
  while (mails.length < count) {
    const batch = Array.from(
      { length: Math.min(BATCH, count - mails.length) },
      (_, at) => contacts[(mails.length + at) % contacts.length],
    );
    await transaction(database, async (tx) => {
      const to = batch.map((contact) => ({ contactId: contact?.id ?? "", address: contact?.email ?? "" }));
      const ids = await enqueueEmails(
        tx,
        to.map(({ contactId, address }) => ({
          projectId,
          contactId,
          kind: "CAMPAIGN" as const,
          to: { address, name: null },
          copies: null,
          content,
          variables: {},
        })),
      );
      await sql`update emails set status = 'SENT', sent_at = now(), provider_message_id = 'ses-' || id::text
        where project_id = ${projectId} and id = any(${ids}::uuid[])`.execute(tx);
      await countMails(
        tx,
        ids.map(() => ({ projectId, at: null, what: "sent" as const })),
      );
      mails.push(...ids.map((id, at) => ({ projectId, id, address: to[at]?.address ?? "" })));
    });
  }
  await sql`analyze emails, contacts`.execute(database);
  return mails;
}

/** Openings are known by what they say; of the others each repeat comes under a name of its own. */
function toNotice({ kind, message }: ToldReport) {
  const key = kind === "Open" ? readSesEvent(message)?.key : null;
  return {
    source: "sns" as const,
    providerId: key ?? contentId(newId()),
    raw: Buffer.from(message),
    sender: null,
    recipient: null,
    toldAt: new Date(),
  };
}

async function countWaiting(database: Database): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) from notices where done_at is null`.execute(
    database,
  );
  return rows[0]?.count ?? 0;
}

interface Books {
  delivered: number;
  bounced: number;
  opened: number;
  deliveries: number;
  bounces: number;
  openings: number;
}

async function countBooks(database: Database, mails: readonly Mail[]): Promise<Books> {
  const ids = mails.map(({ id }) => id);
  const { rows } = await sql<Books>`
    select count(delivered_at) as delivered, count(bounced_at) as bounced, count(opened_at) as opened,
      (select count(*) from events where name = 'email.delivery' and email_id = any(${ids}::uuid[])) as deliveries,
      (select count(*) from events where name = 'email.bounce' and email_id = any(${ids}::uuid[])) as bounces,
      (select count(*) from events where name = 'email.open' and email_id = any(${ids}::uuid[])) as openings
    from emails where id = any(${ids}::uuid[])`.execute(database);
  return rows[0] ?? { delivered: 0, bounced: 0, opened: 0, deliveries: 0, bounces: 0, openings: 0 };
}

/** Every report counts once. @throws Error that says what is off. */
async function check(
  database: Database,
  mails: readonly Mail[],
  reports: readonly ToldReport[],
  before: Books,
): Promise<void> {
  const of = (kind: Kind) => reports.filter((report) => report.kind === kind);
  const expected: Books = {
    delivered: of("Delivery").length,
    bounced: of("Bounce").length,
    opened: of("Open").length,
    deliveries: of("Delivery").length,
    bounces: of("Bounce").length,
    openings: of("Open").length,
  };
  const books = await countBooks(database, mails);
  const miscounts = await findMiscounts(database);
  const gone = new Set(of("Bounce").map(({ mail }) => mail.address)).size;
  const { rows } = await sql<{ count: number }>`select count(*) from contacts where not subscribed`.execute(
    database,
  );
  const isExact =
    Object.values(before).every((value) => value === 0) &&
    JSON.stringify(books) === JSON.stringify(expected) &&
    miscounts.length === 0 &&
    rows[0]?.count === gone;
  if (!isExact)
    throw new Error(
      `the books are wrong: ${JSON.stringify({ books, expected, miscounts, unsubscribed: rows[0]?.count, gone })}`,
    );
}
