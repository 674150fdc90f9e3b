// `npm run bench deliver [mails]`: sends queued emails, rendered and DKIM-signed, and compares with nodemailer alone and the bare
// transport.
import { createSmtpTransport } from "../server/src/transports/smtp.ts";
import type { OutgoingMessage } from "../server/src/transports/transport.ts";
import { newId } from "../server/src/platform/ids.ts";
import { startProgram, type Program } from "../e2e/program.ts";
import { waitUntil } from "../e2e/wait-until.ts";
import { HTML, SUBJECT } from "./content.ts";
import { openNodemailer, plainText } from "./nodemailer-pool.ts";
import { giveUpMs, withMailEnvironment, type MailEnvironment } from "./mail-fixture.ts";
import { addContacts, addProject, queueMails, SENDER_DOMAIN, type Outbox } from "./outbox.ts";
import { costOf } from "./process-cost.ts";
import { readNumbers } from "./read-numbers.ts";
import { settingsOf } from "./servers.ts";
import { CONNECTIONS, startSink, type BenchSink } from "./sink.ts";
import { oneDecimal, print, printTable, whole } from "./table.ts";

const MAILS = 20_000;
const NODEMAILER_MAILS = 6_000;
const BARE_MAILS = 10_000;
const POLL_MS = 100;
const READY = "Postloft is ready";
const READY_TIMEOUT_MS = 20_000;
const MEGABYTE = 1024 * 1024;

interface Result {
  name: string;
  mails: number;
  tookMs: number;
  cpuMsPerMail: number | null;
  peakBytes: number | null;
}

export async function benchDeliver(): Promise<void> {
  const [mails = MAILS] = readNumbers([MAILS]);
  await withMailEnvironment(async (fixture) => {
    const { outbox, sink } = fixture;
    const withoutChunking = { ...fixture, sink: await startSink({ chunking: false }) };
    const project = await addProject(outbox, "Newsletter");
    await addContacts(outbox, project.id, mails);
    const mailing = { projectId: project.id, mails, processes: 1, connections: CONNECTIONS };
    try {
      printResults([
        await bareTransport(sink, "bare transport, prebuilt bytes"),
        await nodemailerAlone(sink, outbox),
        await ours(fixture, mailing),
        await ours(fixture, { ...mailing, connections: 2 * CONNECTIONS }),
        await ours(fixture, { ...mailing, processes: 2 }),
        await bareTransport(withoutChunking.sink, "bare transport, without CHUNKING"),
        await ours(withoutChunking, mailing, ", without CHUNKING"),
      ]);
    } finally {
      await withoutChunking.sink.stop();
    }
  });
}

function printResults(results: readonly Result[]): void {
  const alone = results[1];
  const speed = (result: Result | undefined) =>
    result === undefined ? Number.NaN : (result.mails * 1000) / result.tookMs;
  printTable(
    ["sender", "emails", "emails/s", "× nodemailer alone", "CPU ms per email", "peak MB per process"],
    results.map((result) => [
      result.name,
      whole(result.mails),
      whole(speed(result)),
      oneDecimal(speed(result) / speed(alone)),
      result.cpuMsPerMail === null ? "–" : result.cpuMsPerMail.toFixed(2),
      result.peakBytes === null ? "–" : whole(result.peakBytes / MEGABYTE),
    ]),
  );
  print(
    "\nTargets: ours at least 4 × nodemailer alone, at most 250 MB and 1 ms of CPU per email; two processes no slower than one.",
  );
}

/** Measures everything from rows in `emails` to *sent* in the database. Deletes existing emails first. */
async function ours(
  { bench, outbox, sink }: MailEnvironment,
  {
    projectId,
    mails,
    processes,
    connections,
  }: { projectId: string; mails: number; processes: number; connections: number },
  remark = "",
): Promise<Result> {
  await outbox.database.deleteFrom("emails").execute();
  await queueMails(outbox, projectId, mails, "CAMPAIGN");
  const settings = {
    ...settingsOf(bench),
    ROLES: "worker",
    MAIL_TRANSPORT: sink.transport(connections),
  };
  const before = await sink.taken();
  const senders: Program[] = [];
  for (let started = 0; started < processes; started++) senders.push(await startProgram(settings));
  // Start the clock once the program is running, as for nodemailer.
  for (const sender of senders)
    await waitUntil("the sender", READY_TIMEOUT_MS, async () => sender.output().includes(READY));
  const startedMs = performance.now();
  const startCpuMs = senders.map(({ pid }) => costOf(pid).cpuMs);
  while ((await countSent(outbox)) < mails) {
    if (performance.now() - startedMs > giveUpMs(mails)) throw new Error("the sender did not finish in time");
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  const tookMs = performance.now() - startedMs;
  const costs = senders.map(({ pid }) => costOf(pid));
  await Promise.all(senders.map((sender) => sender.stop()));
  const taken = (await sink.taken()) - before;
  if (taken !== mails) throw new Error(`${mails} emails were queued and ${taken} were accepted`);
  const cpuMs = costs.reduce((sum, cost, at) => sum + cost.cpuMs - (startCpuMs[at] ?? 0), 0);
  return {
    name: `ours, ${processes} process${processes === 1 ? "" : "es"}, ${connections} connections${processes === 1 ? "" : " each"}${remark}`,
    mails,
    tookMs,
    cpuMsPerMail: cpuMs / mails,
    peakBytes: Math.max(...costs.map((cost) => cost.peakBytes)),
  };
}

async function countSent(outbox: Outbox): Promise<number> {
  const row = await outbox.database
    .selectFrom("emails")
    .select((select) => select.fn.countAll<number>().as("count"))
    .where("status", "=", "SENT")
    .executeTakeFirstOrThrow();
  return row.count;
}

/** The setup of most programs: nodemailer's pool with its own DKIM signing and no database. */
async function nodemailerAlone(sink: BenchSink, outbox: Outbox): Promise<Result> {
  const pool = openNodemailer(sink, outbox);
  const message = {
    from: `news@${SENDER_DOMAIN}`,
    subject: SUBJECT,
    html: HTML,
    text: plainText(HTML),
  };
  const startedMs = performance.now();
  const cpuBefore = process.cpuUsage();
  await Promise.all(
    Array.from({ length: NODEMAILER_MAILS }, (_, number) =>
      pool.sendMail({ ...message, to: `person-${number}@example.com` }),
    ),
  );
  const tookMs = performance.now() - startedMs;
  const cpu = process.cpuUsage(cpuBefore);
  pool.close();
  return {
    name: "nodemailer alone, DKIM",
    mails: NODEMAILER_MAILS,
    tookMs,
    cpuMsPerMail: (cpu.user + cpu.system) / 1000 / NODEMAILER_MAILS,
    peakBytes: null,
  };
}

/** Lower bound: sends the same bytes repeatedly without rendering, signing or recording. */
async function bareTransport(sink: BenchSink, name: string): Promise<Result> {
  const transport = createSmtpTransport({
    url: { host: "127.0.0.1", port: sink.port, secure: false },
    heloName: "bench.test",
    maxConnections: CONNECTIONS,
    maxMessagesPerConnection: BARE_MAILS,
  });
  const raw = Buffer.from(
    `Message-ID: <bare@${SENDER_DOMAIN}>\r\n\r\n${"x".repeat(76)}\r\n`.padEnd(200) +
      `${"y".repeat(76)}\r\n`.repeat(420),
  );
  const message: OutgoingMessage = {
    emailId: newId(),
    projectId: newId(),
    attempt: 1,
    envelope: { from: `news@${SENDER_DOMAIN}`, to: ["person@example.com"] },
    raw,
    needsSmtpUtf8: false,
  };
  const startedMs = performance.now();
  const cpuBefore = process.cpuUsage();
  await Promise.all(Array.from({ length: BARE_MAILS }, () => transport.send(message, async () => true)));
  const tookMs = performance.now() - startedMs;
  const cpu = process.cpuUsage(cpuBefore);
  await transport.close();
  return {
    name,
    mails: BARE_MAILS,
    tookMs,
    cpuMsPerMail: (cpu.user + cpu.system) / 1000 / BARE_MAILS,
    peakBytes: null,
  };
}
