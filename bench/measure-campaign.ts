// Runs one campaign through the real program, with an API process and a worker. Measures times, CPU, disk space, and API latency for
// another project.
import { setTimeout as delay } from "node:timers/promises";
import { createApiClient, type ApiClient } from "../e2e/api-client.ts";
import { BOOTSTRAP, startProgram, type Program } from "../e2e/program.ts";
import { waitUntil } from "../e2e/wait-until.ts";
import { HTML, SUBJECT } from "./content.ts";
import { recountAll } from "./counting.ts";
import { growthOf, measureTables, type TableSize } from "./database-size.ts";
import { startGentleLoad } from "./latency.ts";
import { checkSent, giveUpMs, waitUntilSent, type MailEnvironment } from "./mail-fixture.ts";
import { addContacts, addProject, SENDER_DOMAIN } from "./outbox.ts";
import { costOf } from "./process-cost.ts";
import { NUMBER_DIGITS } from "./request.ts";
import { settingsOf } from "./servers.ts";
import { progress, whole } from "./table.ts";

/** Rate of each endpoint, called by the other project. */
const REQUESTS_PER_SECOND = 20;
const WARM_UP_MS = 4_000;
const IDLE_MS = 20_000;
const PROGRESS_MS = 10_000;

/** The other project's response times in ms. */
interface Latencies {
  send: readonly number[];
  track: readonly number[];
}

interface Times {
  /** Time from the request until all rows exist. */
  snapshotMs: number;
  /** Time from the request to *SENT*. */
  tookMs: number;
  /** Time from the snapshot to the last email. */
  sendingMs: number;
}

/** Parameters of a campaign run. */
export interface CampaignCase {
  recipients: number;
  connections: number;
  /** Whether no other project calls the API. */
  isAlone: boolean;
}

export interface CampaignResult extends Times, CampaignCase {
  cpuMsPerMail: number;
  /** Peak memory of the sending process. */
  peakBytes: number;
  /** Growth of the database in bytes. */
  growth: { emails: number; events: number; others: number };
  /** The other project's latencies before and during the campaign; empty without one. */
  idle: Latencies;
  meanwhile: Latencies;
  /** Time to count the campaign's emails separately. */
  countedMs: number;
}

export async function measureCampaign(
  fixture: MailEnvironment,
  input: CampaignCase,
): Promise<CampaignResult> {
  const { outbox, sink } = fixture;
  const { recipients, connections } = input;
  const project = await addProject(outbox, "Newsletter");
  await addContacts(outbox, project.id, recipients);
  const programs: Program[] = [];
  try {
    const worker = await start(fixture, {
      ROLES: "worker",
      BASE_URL: "https://mail.example.com",
      MAIL_TRANSPORT: sink.transport(connections),
    });
    programs.push(worker);
    const responding = await start(fixture, { ROLES: "api" });
    programs.push(responding);
    const measure = input.isAlone ? measureNothing : measureAnother(createApiClient(responding.url));
    await measure(() => delay(WARM_UP_MS));
    const { latencies: idle } = await measure(() => delay(input.isAlone ? 0 : IDLE_MS));
    await waitUntilSent(outbox);
    const sizesBefore = await measureTables(outbox.database, project.id);
    const takenBefore = await sink.taken();
    const cpuBeforeMs = costOf(worker.pid).cpuMs;

    const api = createApiClient(responding.url, { authorization: `Bearer ${project.secretKey}` });
    const { value: times, latencies } = await measure(() => run(fixture, api, recipients));

    const { cpuMs, peakBytes } = costOf(worker.pid);
    const mails = (await sink.taken()) - takenBefore;
    await waitUntilSent(outbox);
    await checkSent(fixture, project.id, recipients);
    const sizesAfter = await measureTables(outbox.database, project.id);
    // Stop the worker, because it counts as well and would compete for row locks.
    await worker.stop();
    return {
      ...input,
      ...times,
      cpuMsPerMail: (cpuMs - cpuBeforeMs) / mails,
      peakBytes,
      growth: growthBetween(sizesBefore, sizesAfter),
      idle,
      meanwhile: latencies,
      countedMs: await recountAll(outbox.database),
    };
  } finally {
    for (const program of programs.toReversed()) await program.stop();
  }
}

function start(
  { bench, sink }: MailEnvironment,
  settings: Readonly<Record<string, string>>,
): Promise<Program> {
  return startProgram({ ...BOOTSTRAP, ...settingsOf(bench), MAIL_TRANSPORT: sink.transport(), ...settings });
}

async function measureNothing<T>(work: () => Promise<T>): Promise<{ value: T; latencies: Latencies }> {
  return { value: await work(), latencies: { send: [], track: [] } };
}

/** Measures API latency for an unrelated project while `work` runs. */
const measureAnother =
  (api: ApiClient): typeof measureNothing =>
  async (work) => {
    let number = 0;
    const address = () => `person-${String(number++).padStart(NUMBER_DIGITS, "0")}@example.com`;
    const send = startGentleLoad(REQUESTS_PER_SECOND, () =>
      api.post("/v1/send", {
        to: address(),
        from: `shop@${SENDER_DOMAIN}`,
        subject: "Your order",
        body: "<p>Thank you for your order.</p>",
      }),
    );
    const track = startGentleLoad(REQUESTS_PER_SECOND, () =>
      api.post("/v1/track", { email: address(), event: "order placed", data: { plan: "pro" } }),
    );
    try {
      const value = await work();
      return { value, latencies: { send: await send.stop(), track: await track.stop() } };
    } finally {
      await Promise.allSettled([send.stop(), track.stop()]);
    }
  };

async function run(fixture: MailEnvironment, api: ApiClient, recipients: number): Promise<Times> {
  const { database } = fixture.outbox;
  const { data } = await api.post<{ data: { id: string } }>("/campaigns", {
    name: "News",
    subject: SUBJECT,
    body: HTML,
    from: `news@${SENDER_DOMAIN}`,
    audienceType: "ALL",
  });
  const readCampaign = () =>
    database
      .selectFrom("campaigns")
      .select(["status", "snapshotAt"])
      .where("id", "=", data.id)
      .executeTakeFirstOrThrow();
  const timeoutMs = giveUpMs(recipients);
  const startedMs = Date.now();
  await api.post(`/campaigns/${data.id}/send`, {});
  await waitUntil("the snapshot", timeoutMs, async () => (await readCampaign()).snapshotAt !== null);
  const snapshotAtMs = Date.now();
  progress(`all rows exist after ${whole(snapshotAtMs - startedMs)} ms`);
  const reporting = setInterval(
    () => void fixture.sink.taken().then((taken) => progress(`${whole(taken)} emails so far`)),
    PROGRESS_MS,
  );
  try {
    await waitUntil(
      "the end of the campaign",
      timeoutMs,
      async () => (await readCampaign()).status === "SENT",
    );
  } finally {
    clearInterval(reporting);
  }
  const tookMs = Date.now() - startedMs;
  const { last } = await database
    .selectFrom("emails")
    .select((select) => select.fn.max("sentAt").as("last"))
    .where("campaignId", "=", data.id)
    .executeTakeFirstOrThrow();
  return { snapshotMs: snapshotAtMs - startedMs, tookMs, sendingMs: (last?.getTime() ?? 0) - snapshotAtMs };
}

type Sizes = ReadonlyMap<string, TableSize>;

function growthBetween(before: Sizes, after: Sizes): CampaignResult["growth"] {
  const growth = { emails: 0, events: 0, others: 0 };
  for (const name of after.keys())
    growth[name === "emails" || name === "events" ? name : "others"] += growthOf(name, before, after);
  return growth;
}
