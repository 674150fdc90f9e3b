// Races concurrent sends, cancels, pauses and resumes. One call wins, and the counts match the emails sent.
import { setTimeout as delay } from "node:timers/promises";
import { createApiClient, type ApiClient } from "../api-client.ts";
import { waitUntil } from "../wait-until.ts";
import type { FaultCase, FaultRow } from "./fault-case.ts";
import type { Expectation } from "./evidence.ts";
import { checkCampaign, readCampaign, startSampler, waitForEnd } from "./oracle.ts";
import { startEnvironment, type Environment } from "./environment.ts";

const RECIPIENTS = { small: 500, large: 5_000 };
const CALLS = 50;
const RACES = { small: 5, large: 40 };
/** Slow enough that the campaign is still sending when it is canceled or paused. */
const DOT_DELAY_MS = 100;
/** After the response, no submission may begin later than this. */
const QUIET_AFTER_MS = 5_000;
const PAUSE_MS = 7_000;
const PAUSES = 2;
const UNDER_WAY_TIMEOUT_MS = 30_000;
const END_TIMEOUT_MS = 300_000;

interface Stage {
  environment: Environment;
  /** One client per process. */
  apis: readonly ApiClient[];
  recipients: readonly string[];
  random: () => number;
}

export const sendRaces: FaultCase = {
  name: "send-races",
  shows: `${CALLS} concurrent calls to send, send against cancel, cancel and pause while sending, on two processes`,
  async run({ size, random }) {
    const environment = await startEnvironment();
    try {
      const programs = [await environment.start(), await environment.start()];
      const recipients = await environment.importContacts(RECIPIENTS[size]);
      const stage = {
        environment,
        apis: programs.map(({ url }) => createApiClient(url)),
        recipients,
        random,
      };
      const rows = [await sendManyTimes(stage)];
      for (let race = 0; race < RACES[size]; race++) {
        rows.push(await sendAgainstCancel(stage, race, ["send", "cancel"]));
        rows.push(await sendAgainstCancel(stage, race, ["cancel", "send"]));
      }
      environment.sink.setRules([{ phase: "DOT", delayMs: DOT_DELAY_MS }]);
      rows.push(await cancelAmidSending(stage), await pauseAmidSending(stage));
      return rows;
    } finally {
      await environment.close();
    }
  },
};

async function act(api: ApiClient | undefined, id: string, verb: string): Promise<number> {
  return (await api?.call("POST", `/campaigns/${id}/${verb}`, {}))?.status ?? 0;
}

async function check(
  { environment, recipients }: Stage,
  id: string,
  expected: Partial<Expectation> & { name: string },
  seen: readonly string[],
): Promise<FaultRow> {
  await waitForEnd(environment, id, END_TIMEOUT_MS);
  return checkCampaign(environment, id, { recipients, ...expected }, [
    ...seen,
    ...(await faultsOfSnapshots(environment, id)),
  ]);
}

/** Checks that one job fixed the recipients, so the campaign started once. */
async function faultsOfSnapshots(environment: Environment, id: string): Promise<string[]> {
  const [row] = await environment.query<{ count: number }>(
    "select count(*)::int as count from jobs where kind = 'campaigns.snapshot' and input ->> 'campaignId' = $1",
    [id],
  );
  return row?.count === 1 ? [] : [`the campaign was started ${row?.count} times`];
}

async function sendManyTimes(stage: Stage): Promise<FaultRow> {
  const { environment, apis } = stage;
  const id = await environment.createCampaign();
  const sampler = startSampler(environment, [id]);
  const statuses = await Promise.all(
    Array.from({ length: CALLS }, (_, call) => act(apis[call % apis.length], id, "send")),
  );
  await waitForEnd(environment, id, END_TIMEOUT_MS);
  const started = statuses.filter((status) => status === 200).length;
  const refused = statuses.filter((status) => status === 409).length;
  const seen = [
    ...(started === 1 && refused === CALLS - 1
      ? []
      : [`${CALLS} calls to send returned ${statuses.join(" ")}`]),
    ...expectStatus(await act(apis[0], id, "send"), 409, "send after the end"),
    ...(await sampler.stop()),
  ];
  return check(stage, id, { name: `send × ${CALLS}` }, seen);
}

/** Makes both calls a few milliseconds apart. The responses and the campaign must agree on the winner. */
async function sendAgainstCancel(
  stage: Stage,
  race: number,
  order: readonly ["send", "cancel"] | readonly ["cancel", "send"],
): Promise<FaultRow> {
  const { environment, apis, random } = stage;
  const id = await environment.createCampaign();
  const first = act(apis[race % 2], id, order[0]);
  await delay(random() * 60);
  const [one, other] = await Promise.all([first, act(apis[(race + 1) % 2], id, order[1])]);
  const responses = { [order[0]]: one, [order[1]]: other };
  const wasCancelled = responses["cancel"] === 200;
  const seen = [
    ...expectStatus(responses["send"] ?? 0, 200, "send"),
    ...(wasCancelled
      ? []
      : expectStatus(responses["cancel"] ?? 0, 409, "cancel of a draft or after the end")),
  ];
  await waitForEnd(environment, id, END_TIMEOUT_MS);
  const { totalRecipients } = await readCampaign(environment.api(), id);
  return check(
    stage,
    id,
    {
      name: `${order.join(" ∥ ")} ${race + 1}: ${wasCancelled ? "cancelled" : "sent"}`,
      ...(wasCancelled ? { status: "CANCELLED", mayRemainUnsent: true } : {}),
      // A campaign canceled before its recipients were fixed has none.
      ...(wasCancelled && totalRecipients === 0 ? { recipients: [] } : {}),
    },
    seen,
  );
}

/** Starts a campaign and waits until a part of it has been sent. */
async function startAndWait({ environment, recipients, random }: Stage): Promise<string> {
  const before = environment.sink.journal.length;
  const id = await environment.startCampaign();
  const enough = before + 1 + Math.floor((random() * recipients.length) / 4);
  await waitUntil("a sending campaign", UNDER_WAY_TIMEOUT_MS, () => environment.sink.journal.length > enough);
  return id;
}

/** Returns the number of emails accepted later than `QUIET_AFTER_MS` after a response. */
function mailsSince({ environment }: Stage, respondedAt: number): number {
  return environment.sink.journal.filter(({ at }) => at > respondedAt + QUIET_AFTER_MS).length;
}

async function cancelAmidSending(stage: Stage): Promise<FaultRow> {
  const { environment, apis } = stage;
  const id = await startAndWait(stage);
  const sampler = startSampler(environment, [id]);
  const deletion = await apis[0]?.call("DELETE", `/campaigns/${id}`);
  const cancelled = await act(apis[1], id, "cancel");
  const respondedAt = Date.now();
  await delay(PAUSE_MS);
  const late = mailsSince(stage, respondedAt);
  await waitForEnd(environment, id, END_TIMEOUT_MS);
  const { skippedCount } = await readCampaign(environment.api(), id);
  const seen = [
    ...expectStatus(deletion?.status ?? 0, 409, "delete while sending"),
    ...expectStatus(cancelled, 200, "cancel while sending"),
    ...expectStatus(await act(apis[0], id, "send"), 409, "send after cancel"),
    ...(skippedCount > 0 ? [] : ["nothing remained to cancel, so the scene proves nothing"]),
    ...(late === 0
      ? []
      : [`${late} emails were sent more than ${QUIET_AFTER_MS} ms after the response to cancel`]),
    ...(await sampler.stop()),
  ];
  return check(stage, id, { name: "cancel while sending", status: "CANCELLED", mayRemainUnsent: true }, seen);
}

async function pauseAmidSending(stage: Stage): Promise<FaultRow> {
  const { environment, apis } = stage;
  const id = await startAndWait(stage);
  const sampler = startSampler(environment, [id]);
  const seen: string[] = [];
  for (let pause = 0; pause < PAUSES; pause++) {
    const paused = await act(apis[0], id, "pause");
    const respondedAt = Date.now();
    await delay(PAUSE_MS);
    const late = mailsSince(stage, respondedAt);
    const { status } = await readCampaign(environment.api(), id);
    const resumed = await act(apis[1], id, "resume");
    seen.push(
      ...expectStatus(paused, 200, "pause while sending"),
      ...(status === "PAUSED" ? [] : [`the paused campaign is ${status}`]),
      ...(late === 0
        ? []
        : [`${late} emails were sent more than ${QUIET_AFTER_MS} ms after the response to pause`]),
      ...expectStatus(resumed, 200, "resume"),
    );
    await delay(stage.random() * 1_000);
  }
  await waitForEnd(environment, id, END_TIMEOUT_MS);
  seen.push(...(await sampler.stop()));
  return check(stage, id, { name: "pause and resume while sending" }, seen);
}

function expectStatus(status: number, expected: number, of: string): string[] {
  return status === expected ? [] : [`${of} returned ${status} and not ${expected}`];
}
