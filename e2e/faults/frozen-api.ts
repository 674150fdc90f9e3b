// Freezes an API process (SIGSTOP) while it holds locks in a transaction. Callers that need those locks get a 503 and succeed soon after,
// others are unaffected, and nothing is done twice after SIGCONT.
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { createApiClient, type ApiClient, type Reply, type Sent } from "../api-client.ts";
import { waitUntil } from "../wait-until.ts";
import { complain, emailIdOf } from "./evidence.ts";
import type { FaultCase, FaultRow, FaultRun, Size } from "./fault-case.ts";
import { DOMAIN, startEnvironment, type Actor, type Environment } from "./environment.ts";

const ROUNDS: Record<Size, number> = { small: 2, large: 8 };
/** All callers use the same few contacts, so that their rows are locked. */
const PEOPLE = 3;
const FREEZE_TRIES = 2_000;
const CALLERS = 4;
/** A batch waits 3 s for a lock, then each call does again; a transaction idle for 10 s is aborted. */
const RESPONSE_MS = 8_000;
const RELEASE_MS = 15_000;
const SETTLE_MS = 60_000;

export const frozenApi: FaultCase = {
  name: "frozen-api",
  shows:
    "SIGSTOP to an API process in a transaction; other callers get a response within 8 s, succeed within 15 s, and nothing is done twice",
  run: async (run) => [await play(run)],
};

/** One call, with its email ids and status. */
interface Asked {
  ids: readonly string[];
  status: number;
  tookMs: number;
}

async function play({ size, random }: FaultRun): Promise<FaultRow> {
  const environment = await startEnvironment();
  try {
    const other = await environment.start();
    const frozen = await environment.start({ ROLES: "api" });
    const faults: string[] = [];
    const accepted: string[] = [];
    for (let round = 0; round < ROUNDS[size]; round++) {
      await delay(random() * 500);
      const busy = keepBusy(frozen);
      await freezeAmidTransaction(environment, frozen);
      const { asked, releasedMs } = await askUntilServed(createApiClient(other.url));
      faults.push(...faultsOfResponses(asked, releasedMs));
      accepted.push(...asked.flatMap(({ ids }) => ids));
      process.kill(frozen.pid, "SIGCONT");
      accepted.push(...(await busy.stop()));
      faults.push(...(await faultsOfWaking(frozen)));
    }
    await waitUntil("all emails", SETTLE_MS, async () => {
      const waiting = await environment.query(
        "select 1 from emails where status not in ('SENT', 'FAILED') limit 1",
      );
      return waiting.length === 0;
    });
    return check(environment, accepted, faults);
  } finally {
    await environment.close();
  }
}

function send(api: ApiClient, number: number): Promise<Reply<Sent>> {
  const to = `held${number % PEOPLE}@example.org`;
  return api.call<Sent>("POST", "/v1/send", {
    to,
    from: `us@${DOMAIN}`,
    subject: "Hello",
    body: "<p>Hi</p>",
    // Always new data, because an unchanged contact is not locked.
    data: { said: randomUUID() },
  });
}

const idsOf = ({ status, body }: Reply<Sent>): string[] =>
  status === 200 ? body.data.emails.map(({ email }) => email) : [];

/** Calls the program continuously until stopped. Returns the ids of accepted emails. */
function keepBusy(actor: Actor): { stop: () => Promise<string[]> } {
  const api = createApiClient(actor.url);
  const ids: string[] = [];
  let stopping = false;
  async function knock(): Promise<void> {
    for (let number = 0; !stopping; number++) {
      const reply = await send(api, number).catch(() => null);
      if (reply !== null) ids.push(...idsOf(reply));
    }
  }
  const knocking = Array.from({ length: CALLERS }, knock);
  return {
    async stop() {
      stopping = true;
      await Promise.all(knocking);
      return ids;
    },
  };
}

/** Stops the process repeatedly until it is frozen in a transaction with a lock on a contact. */
async function freezeAmidTransaction(environment: Environment, actor: Actor): Promise<void> {
  for (let tries = 0; tries < FREEZE_TRIES; tries++) {
    process.kill(actor.pid, "SIGSTOP");
    // A transaction of another process would have ended by the second check.
    if ((await holdsSomeone(environment)) && (await delay(100).then(() => holdsSomeone(environment)))) return;
    process.kill(actor.pid, "SIGCONT");
    await delay(1);
  }
  throw new Error("the process could not be stopped within a transaction");
}

async function holdsSomeone(environment: Environment): Promise<boolean> {
  const [row] = await environment.query<{ held: boolean }>(
    `with free as materialized (
       select 1 from contacts where email like 'held%' for no key update skip locked)
     select (select count(*) from free) < (select count(*) from contacts where email like 'held%') as held`,
  );
  return row?.held === true;
}

/** Calls for each contact until all succeed in a row. Returns every call and the total time. */
async function askUntilServed(api: ApiClient): Promise<{ asked: Asked[]; releasedMs: number }> {
  const asked: Asked[] = [];
  const startedMs = performance.now();
  for (;;) {
    const round = await Promise.all(
      Array.from({ length: PEOPLE }, async (_, number): Promise<Asked> => {
        const askedMs = performance.now();
        const reply = await send(api, number);
        return { ids: idsOf(reply), status: reply.status, tookMs: performance.now() - askedMs };
      }),
    );
    asked.push(...round);
    const releasedMs = performance.now() - startedMs;
    if (round.every(({ status }) => status === 200) || releasedMs > 2 * RELEASE_MS)
      return { asked, releasedMs };
  }
}

function faultsOfResponses(asked: readonly Asked[], releasedMs: number): string[] {
  const wrong = asked.filter(({ status }) => status !== 200 && status !== 503);
  const late = asked.filter(({ tookMs }) => tookMs > RESPONSE_MS);
  return [
    ...complain(
      wrong.map(({ status }) => String(status)),
      "calls returned neither 200 nor 503",
    ),
    ...complain(
      late.map(({ status, tookMs }) => `${status} after ${Math.round(tookMs)} ms`),
      "calls returned too late",
    ),
    ...(releasedMs <= RELEASE_MS ? [] : [`the locks were released only after ${Math.round(releasedMs)} ms`]),
    ...(asked.some(({ status }) => status === 503)
      ? []
      : ["no caller had to wait, so the scene proves nothing"]),
  ];
}

/** Checks the process after it resumes. */
async function faultsOfWaking(actor: Actor): Promise<string[]> {
  if (!actor.isRunning()) return [`the frozen process ended: ${actor.output()}`];
  const { status } = await createApiClient(actor.url).call("GET", "/contacts");
  return status === 200 ? [] : [`the resumed process returns ${status}`];
}

function check(environment: Environment, accepted: readonly string[], seen: readonly string[]): FaultRow {
  const mailed = environment.sink.journal.map(({ messageId }) => emailIdOf(messageId));
  const counts = new Map<string, number>();
  for (const id of mailed) counts.set(id, (counts.get(id) ?? 0) + 1);
  const twice = [...counts].flatMap(([id, count]) => (count > 1 ? [id] : []));
  const lost = accepted.filter((id) => !counts.has(id));
  const faults = [
    ...seen,
    ...complain(twice, "emails were sent twice"),
    ...complain(lost, "accepted emails were never sent"),
  ];
  return {
    name: "frozen-api",
    recipients: PEOPLE,
    kills: 0,
    sent: mailed.length,
    failed: 0,
    unconfirmed: 0,
    twice: twice.length,
    lost: lost.length,
    recoveryMs: null,
    faults,
  };
}
