// `npm run bench fairness [mails]`: one project queues very many mails, then another sends one a second: how long do these take?
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { createApiClient, type ApiClient } from "../e2e/api-client.ts";
import { BOOTSTRAP, startProgram } from "../e2e/program.ts";
import { HTML, SUBJECT } from "./content.ts";
import { percentile, startGentleLoad } from "./latency.ts";
import { checkSent, giveUpMs, waitUntilSent, withMailGround, type MailGround } from "./mail-ground.ts";
import { addContacts, addProject, queueMails, SENDER_DOMAIN } from "./outbox.ts";
import { readNumbers } from "./read-numbers.ts";
import { settingsOf } from "./servers.ts";
import { oneDecimal, print, printTable, progress, whole } from "./table.ts";

const MAILS = 200_000;
const OTHER_MAILS = 60;
const SAMPLES = 10;
const LOOK_MS = 200;
const MEGABYTE = 1024 * 1024;

/** What the process says of itself; the delay is of the time since it was asked before. */
interface Sample {
  mails: number;
  atMs: number;
  residentBytes: number;
  heapBytes: number;
  externalBytes: number;
  loopDelayP99Seconds: number;
}

export async function benchFairness(): Promise<void> {
  const [mails = MAILS] = readNumbers([MAILS]);
  await withMailGround(async (ground) => {
    const { outbox } = ground;
    const crowd = await addProject(outbox, "Crowd");
    await addContacts(outbox, crowd.id, mails);
    // Transactional, too: nothing but fairness lets the other project's mails pass.
    await queueMails(outbox, crowd.id, mails, "TRANSACTIONAL");
    const program = await startProgram({
      ...BOOTSTRAP,
      ...settingsOf(ground.bench),
      ROLES: "api,worker",
      MAIL_TRANSPORT: ground.sink.transport(),
    });
    try {
      const api = createApiClient(program.url);
      const load = startGentleLoad(1, () => sendOne(api), OTHER_MAILS);
      const samples = await sampleUntilSent(ground, program.url, mails).finally(() => load.stop());
      await waitUntilSent(outbox);
      await checkSent(ground, crowd.id, mails);
      printFairness(samples, await waitsOf(ground));
      printSamples(samples);
    } finally {
      await program.stop();
    }
  });
}

async function sendOne(api: ApiClient): Promise<void> {
  await api.post("/v1/send", {
    to: "person-000000000@example.com",
    from: `shop@${SENDER_DOMAIN}`,
    subject: SUBJECT,
    body: HTML,
  });
}

/** Asks the process at the start and after each tenth of the mails, until all are gone. */
async function sampleUntilSent({ sink }: MailGround, url: string, mails: number): Promise<Sample[]> {
  const startedMs = performance.now();
  const samples = [await sample(url, 0)];
  while (samples.length <= SAMPLES) {
    if (performance.now() - startedMs > giveUpMs(mails))
      throw new Error("the mails are not all sent in time");
    await delay(LOOK_MS);
    const taken = await sink.taken();
    if (taken < (mails * samples.length) / SAMPLES) continue;
    samples.push(await sample(url, taken));
    progress(`${whole(taken)} of ${whole(mails)} mails`);
  }
  return samples;
}

async function sample(url: string, mails: number): Promise<Sample> {
  const text = await (await fetch(new URL("/metrics", url))).text();
  const read = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
  return {
    mails,
    atMs: performance.now(),
    residentBytes: read("process_resident_memory_bytes"),
    heapBytes: read("nodejs_heap_size_used_bytes"),
    externalBytes: read("nodejs_external_memory_bytes"),
    loopDelayP99Seconds: read("nodejs_eventloop_lag_p99_seconds"),
  };
}

/** From accepted to sent, ms, by the clock of the database: the mails of the project that sends few. */
async function waitsOf({ outbox }: MailGround): Promise<number[]> {
  const { rows } = await sql<{ ms: number }>`
    select (extract(epoch from sent_at - created_at) * 1000)::float8 as ms
    from emails where project_id = ${outbox.projectId}`.execute(outbox.database);
  return rows.map(({ ms }) => ms);
}

function printFairness(samples: readonly Sample[], waits: readonly number[]): void {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined) return;
  printTable(
    [
      "mails of one project",
      "mails/s",
      "mails of the other",
      "accepted to sent: p50 ms",
      "p99 ms",
      "longest ms",
    ],
    [
      [
        whole(last.mails - waits.length),
        whole((last.mails * 1_000) / (last.atMs - first.atMs)),
        whole(waits.length),
        ...[0.5, 0.99, 1].map((share) => whole(percentile(waits, share))),
      ],
    ],
  );
  print("\nBar: p99 at most 2 s.\n");
}

function printSamples(samples: readonly Sample[]): void {
  printTable(
    ["after mails", "mails/s since", "RSS MB", "heap MB", "external MB", "loop delay p99 ms"],
    samples.map((now, at) => {
      const before = samples[at - 1];
      return [
        whole(now.mails),
        before === undefined ? "–" : whole(((now.mails - before.mails) * 1_000) / (now.atMs - before.atMs)),
        whole(now.residentBytes / MEGABYTE),
        whole(now.heapBytes / MEGABYTE),
        whole(now.externalBytes / MEGABYTE),
        oneDecimal(now.loopDelayP99Seconds * 1_000),
      ];
    }),
  );
  print(
    "\nThe delay of the event loop includes the 50 ms between two looks at it: a process that rests shows 50. The first row has the start of the process in it.",
  );
}
