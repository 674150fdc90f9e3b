// Deploys during a campaign: each process gets SIGTERM in turn while its successor is running. Nothing may be in doubt afterwards.
import { setTimeout as delay } from "node:timers/promises";
import { createApiClient, type Tracked } from "../api-client.ts";
import { waitUntil } from "../wait-until.ts";
import type { FaultCase } from "./fault-case.ts";
import { complain } from "./evidence.ts";
import { checkCampaign, startSampler, waitForEnd } from "./oracle.ts";
import { startEnvironment, type Actor, type Environment } from "./environment.ts";

/** Delays each email so that some are always in submission when a process is stopped. */
const DOT_DELAY_MS = 150;
const SCENE = {
  small: { recipients: 2_000, rounds: 2, everyMs: 2_000 },
  large: { recipients: 20_000, rounds: 5, everyMs: 6_000 },
};
const FIRST_MAIL_TIMEOUT_MS = 30_000;
const END_TIMEOUT_MS = 600_000;
const MAX_DRAIN_MS = 30_000;
const CALLERS = 8;
const CALL_EVERY_MS = 10;
const LEAVE_EVERY_MS = 200;
/** Errors a caller may see from a stopping process: a closed connection, or no listener. */
const CLOSED = /ECONNREFUSED|ECONNRESET|EPIPE|UND_ERR_SOCKET|other side closed|closed/;

export const rollingRestart: FaultCase = {
  name: "rolling-restart",
  shows:
    "SIGTERM to two workers and the API in turn during a campaign; each drains, nothing is in doubt, unsubscribed contacts get nothing",
  async run({ size, random }) {
    const { recipients: count, rounds, everyMs } = SCENE[size];
    const environment = await startEnvironment();
    try {
      const setup = await environment.start();
      const recipients = await environment.importContacts(count);
      await environment.stop(setup);
      environment.sink.setRules([{ phase: "DOT", delayMs: DOT_DELAY_MS }]);
      let current: Actor[] = [];
      for (const roles of ["worker", "worker", "api"])
        current.push(await environment.start({ ROLES: roles }));
      const campaignId = await environment.startCampaign();
      const sampler = startSampler(environment, [campaignId]);
      const callers = startCallers(environment);
      await waitUntil("the first email", FIRST_MAIL_TIMEOUT_MS, () => environment.sink.journal.length > 0);
      const leaving = startLeaving(environment, recipients, random);
      const faults: string[] = [];
      for (let round = 0; round < rounds; round++) {
        const next: Actor[] = [];
        for (const old of current) {
          await delay(everyMs * (0.5 + random()));
          next.push(await environment.start(old.settings));
          faults.push(...faultsOfStop(old, await environment.stop(old)));
        }
        current = next;
      }
      const isUnderWay = environment.sink.journal.length < count;
      if (!isUnderWay) faults.push("the campaign ended before the last stop, so the scene proves nothing");
      await waitForEnd(environment, campaignId, END_TIMEOUT_MS);
      const left = await leaving.stop();
      faults.push(...(await callers.stop()), ...(await sampler.stop()));
      const name = `rolling-restart × ${rounds}`;
      const expected = { name, recipients, mayRemainUnsent: true, unsubscribedAt: left.unsubscribedAt };
      const row = await checkCampaign(environment, campaignId, expected, faults);
      return [{ ...row, faults: [...row.faults, ...faultsOfSkipped(row.failed, left.askedCount)] }];
    } finally {
      await environment.close();
    }
  },
};

function faultsOfStop(actor: Actor, { code, tookMs }: { code: number | null; tookMs: number }): string[] {
  const who = `a process with the role ${actor.settings["ROLES"]}`;
  return [
    ...(code === 0 ? [] : [`${who} ended with ${code}: ${actor.output().slice(-300)}`]),
    ...(tookMs <= MAX_DRAIN_MS ? [] : [`${who} took ${Math.round(tookMs)} ms to end`]),
  ];
}

/** Checks that only contacts that unsubscribed were skipped, and that some did in time. */
function faultsOfSkipped(skippedCount: number, askedCount: number): string[] {
  if (skippedCount > askedCount) return [`${skippedCount} were not sent and only ${askedCount} unsubscribed`];
  return skippedCount > 0 ? [] : ["no one unsubscribed in time, so the scene proves nothing"];
}

interface Left {
  /** When each unsubscribe was confirmed, in ms since 1970, by address. */
  unsubscribedAt: ReadonlyMap<string, number>;
  /** The number of attempted unsubscribes; the response to some may have been lost. */
  askedCount: number;
}

/** Unsubscribes recipients while the campaign is sending. */
function startLeaving(
  environment: Environment,
  recipients: readonly string[],
  random: () => number,
): { stop(): Promise<Left> } {
  const unsubscribedAt = new Map<string, number>();
  const asked = new Set<string>();
  const ending = new AbortController();

  async function leave(): Promise<void> {
    while (!ending.signal.aborted) {
      const email = recipients[Math.floor(random() * recipients.length)] ?? "";
      asked.add(email);
      await environment.insist("/v1/track", { email, event: "left", subscribed: false });
      if (!unsubscribedAt.has(email)) unsubscribedAt.set(email, Date.now());
      await delay(LEAVE_EVERY_MS);
    }
  }

  const leaving = leave();
  return {
    async stop() {
      ending.abort();
      await leaving;
      return { unsubscribedAt, askedCount: asked.size };
    },
  };
}

/** Calls `/v1/track` over keep-alive connections. Each caller stays with its process until it closes the connection. */
function startCallers(environment: Environment): { stop(): Promise<string[]> } {
  const accepted: string[] = [];
  const faults: string[] = [];
  const ending = new AbortController();
  const newest = () => environment.actors.findLast((actor) => actor.url !== "" && actor.isRunning());

  async function callOn(caller: number): Promise<void> {
    let process = newest();
    for (let number = 0; !ending.signal.aborted; number++) {
      const body = {
        email: `caller${caller}@example.org`,
        event: "seen",
        subscribed: false,
        data: { number },
      };
      try {
        const reply = await createApiClient(process?.url ?? "").call<Tracked>("POST", "/v1/track", body);
        if (reply.status === 200) accepted.push(reply.body.data.event);
        else faults.push(`a call returned ${reply.status}: ${JSON.stringify(reply.body)}`);
      } catch (error) {
        const why = error instanceof Error ? `${error.message} ${String(error.cause)}` : String(error);
        if (!CLOSED.test(why)) faults.push(`a call failed: ${why}`);
        process = newest();
      }
      await delay(CALL_EVERY_MS);
    }
  }

  const calling = Array.from({ length: CALLERS }, (_, caller) => callOn(caller));
  return {
    async stop() {
      ending.abort();
      await Promise.all(calling);
      const rows = await environment.query<{ id: string }>("select id from events where name = 'seen'");
      const found = new Set(rows.map(({ id }) => id));
      const missing = accepted.filter((id) => !found.has(id));
      return [...faults, ...complain(missing, "accepted events are missing")];
    },
  };
}
