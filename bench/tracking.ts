// `npm run bench tracking [mails]`: what links and pixel add to rendering a mail, redirects looked up, opens and clicks booked.
import { sql } from "kysely";
import {
  createDatabase,
  createPool,
  transaction,
  type Database,
} from "../server/src/platform/database/database.ts";
import { createLog } from "../server/src/platform/log.ts";
import { createLinkStore } from "../server/src/emails/sending/content-links.ts";
import { enqueueEmails, makeContent } from "../server/src/emails/outbox/emails.ts";
import { compileContent } from "../server/src/rendering/compile-content.ts";
import type { MailTracking } from "../server/src/rendering/link-target.ts";
import { createMailTokens } from "../server/src/deliveries/tracking/mail-tokens.ts";
import { createTrackingDoor } from "../server/src/deliveries/tracking/tracking-door.ts";
import { HTML } from "./content.ts";
import { APP_SECRET, startDatabase } from "./servers.ts";
import { oneDecimal, print, printTable, whole } from "./table.ts";

const MAILS = 20_000;
const BATCH = 2_000;
const CONNECTIONS = 8;
const RENDERS = 10_000;
const ROUNDS = 5;
const PERSON = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/142.0.0.0 Safari/537.36";
const BASE_URL = "https://mail.example.com";

const PERSONAL_HTML = HTML.replaceAll("from=mail", "from={{points}}");

export async function benchTracking(): Promise<void> {
  benchRendering();
  const count = Number(process.argv[3] ?? MAILS);
  const bench = await startDatabase();
  const log = createLog({ level: "silent" });
  const database = createDatabase(
    createPool({ connection: bench.connection, maxConnections: CONNECTIONS, log }),
  );
  try {
    await benchDoors(database, count);
  } finally {
    await database.destroy();
    await bench.stop();
  }
}

function benchRendering(): void {
  const tokens = createMailTokens(APP_SECRET, () => BASE_URL);
  const id = "00000000-0000-7000-8000-000000000000";
  const rows = [
    ["untracked", HTML, null],
    ["12 links", HTML, tokens.trackingOf(id, id)],
    ["12 links with variables", PERSONAL_HTML, tokens.trackingOf(id, id)],
  ] as const;
  const results = rows.map(([name, html, tracking]) => ({ name, ...measureRendering(html, tracking) }));
  const plain = results[0]?.cpuMs ?? Number.NaN;
  printTable(
    ["a mail of 20 KB with 6 variables", "renders a CPU second", "more µs a mail", "compile ms", "bytes"],
    results.map(({ name, cpuMs, compileMs, bytes }) => [
      name,
      whole((RENDERS * 1_000) / cpuMs),
      oneDecimal(((cpuMs - plain) * 1_000) / RENDERS),
      oneDecimal(compileMs),
      whole(bytes),
    ]),
  );
}

function measureRendering(html: string, tracking: MailTracking | null) {
  const content = { subject: "Hello {{firstName}}", html, text: null };
  const compile = () => compileContent(content, () => {}, tracking !== null);
  const compiled = compile();
  const variables = {
    firstName: "Ada",
    lastName: "Lovelace",
    company: "Engines & Co",
    city: "London",
    plan: "pro",
  };
  let bytes = 0;
  const rounds = Array.from({ length: ROUNDS }, () =>
    cpuMsOf(() => {
      for (let points = 0; points < RENDERS; points++)
        bytes = Buffer.byteLength(compiled.render({ ...variables, points }, tracking).html ?? "");
    }),
  );
  const compiling = Array.from(
    { length: ROUNDS },
    () => cpuMsOf(() => Array.from({ length: 20 }, compile)) / 20,
  );
  return { cpuMs: Math.min(...rounds), compileMs: Math.min(...compiling), bytes };
}

function cpuMsOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

interface Mail {
  projectId: string;
  emailId: string;
}

async function benchDoors(database: Database, count: number): Promise<void> {
  const tokens = createMailTokens(APP_SECRET, () => BASE_URL);
  const door = createTrackingDoor({ database, tokens, log: createLog({ level: "warn" }) });
  const { mails, numbers } = await sendMails(database, count);
  const tokenOf = ({ projectId, emailId }: Mail) => tokens.trackingOf(projectId, emailId).clickUrl.slice(-56);
  const links = mails.map(
    (mail, at) => `${tokenOf(mail)}${(numbers[at % numbers.length] ?? 0).toString(36)}`,
  );

  const following = performance.now();
  for (let at = 0; at < links.length; at += 256) {
    const followed = await Promise.all(
      links.slice(at, at + 256).map(async (link) => door.follow(link, undefined)),
    );
    if (followed.some(({ kind }) => kind !== "found")) throw new Error("a link was not found");
  }
  const followMs = performance.now() - following;

  // Every mail is opened one to three times, every third one clicked once or twice.
  const visits = mails.flatMap((mail, at) => [
    ...Array.from({ length: 1 + (at % 3) }, () => ({ mail, number: 0 })),
    ...(at % 3 === 0
      ? Array.from({ length: 1 + (at % 2) }, () => ({ mail, number: numbers[at % numbers.length] ?? 0 }))
      : []),
  ]);
  const shuffled = visits
    .map((visit) => ({ visit, key: Math.random() }))
    .toSorted((one, other) => one.key - other.key);
  const booking = performance.now();
  for (const { visit } of shuffled)
    door.book.note({
      ...visit.mail,
      kind: visit.number === 0 ? "open" : "click",
      number: visit.number,
      link: visit.number === 0 ? null : "https://shop.example/offer",
      userAgent: PERSON,
      purpose: "",
      at: new Date(),
    });
  await door.book.close();
  const bookMs = performance.now() - booking;
  const clicks = visits.filter(({ number }) => number !== 0).length;
  await check(database, { mails: count, opens: visits.length - clicks, clicks });
  printTable(
    ["at the door", "how many", "a second"],
    [
      ["redirects looked up, 256 at once", whole(links.length), whole((links.length * 1_000) / followMs)],
      [
        "opens and clicks booked, counters exact",
        whole(visits.length),
        whole((visits.length * 1_000) / bookMs),
      ],
    ],
  );
  print("\nBars: 5,000 a second each; a mail's links and pixel at most 10 µs, where they have no variables.");
}

/** Mails that left a minute ago, all of one content. */
async function sendMails(database: Database, count: number): Promise<{ mails: Mail[]; numbers: number[] }> {
  const contacts = await database
    .selectFrom("contacts")
    .select(["projectId", "id", "email"])
    .limit(count)
    .execute();
  const [{ projectId } = { projectId: "" }] = contacts;
  const from = { address: "news@sender.example", name: null };
  const parts = {
    projectId,
    from,
    replyTo: null,
    subject: "News",
    html: HTML,
    text: null,
    headers: [],
    attachments: [],
  };
  const content = makeContent(parts);
  const mails: Mail[] = [];
  for (let at = 0; at < count; at += BATCH) {
    const batch = contacts.slice(at, at + BATCH);
    await transaction(database, async (tx) => {
      const ids = await enqueueEmails(
        tx,
        batch.map((contact) => ({
          projectId,
          contactId: contact.id,
          kind: "CAMPAIGN" as const,
          to: { address: contact.email, name: null },
          copies: null,
          content,
          variables: {},
        })),
      );
      await sql`update emails set status = 'SENT', sent_at = now() - interval '1 minute'
        where project_id = ${projectId} and id = any(${ids}::uuid[])`.execute(tx);
      mails.push(...ids.map((emailId) => ({ projectId, emailId })));
    });
  }
  const { links } = compileContent({ subject: "s", html: HTML, text: "t" }, () => {}, true);
  await createLinkStore(database)([{ projectId, contentId: content.id, queueVersion: "", links }]);
  await sql`analyze emails, contacts`.execute(database);
  return { mails, numbers: links.map(({ number }) => number) };
}

/** A click can be the first that is heard of a mail: then it counts as an opening, too. */
async function check(
  database: Database,
  expected: { mails: number; opens: number; clicks: number },
): Promise<void> {
  const { rows } = await sql<{
    total: number;
    mails: number;
    opens: number;
    firsts: number;
    clicks: number;
    opened: number;
  }>`
    select coalesce(sum(total) filter (where number <> 0), 0)::float8 as clicks,
      coalesce(sum(total) filter (where number = 0), 0)::float8 as opens,
      coalesce(sum(mails) filter (where number = 0), 0)::float8 as firsts,
      (select count(*) from emails where opened_at is not null)::float8 as opened
    from tracking_counts`.execute(database);
  const [found] = rows;
  const isExact =
    found?.clicks === expected.clicks &&
    found.firsts === expected.mails &&
    found.opened === expected.mails &&
    found.opens >= expected.opens &&
    found.opens <= expected.opens + expected.clicks;
  if (!isExact) throw new Error(`the counters are wrong: ${JSON.stringify({ found, expected })}`);
}
