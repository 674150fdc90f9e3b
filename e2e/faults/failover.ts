// Kills the primary during a campaign and promotes an asynchronous standby that lacks the last commits. Surviving programs remember their
// submissions, so no one is mailed twice, and lost calls are reported.
import type { Sent } from "../api-client.ts";
import { makeDataFolder } from "../program.ts";
import { waitUntil } from "../wait-until.ts";
import type { FaultCase, FaultRow, FaultRun, Size } from "./fault-case.ts";
import { checkCampaign, waitForEnd } from "./oracle.ts";
import { startEnvironmentBehindProxy } from "./proxied-environment.ts";
import { DOMAIN, type Environment } from "./environment.ts";

const RECIPIENTS: Record<Size, number> = { small: 1_500, large: 20_000 };
/** Slow enough to outlast the failover. */
const SENDS_PER_SECOND: Record<Size, string> = { small: "150", large: "600" };
const PROGRAMS = 2;
/** Emails sent and calls confirmed while the standby receives nothing. */
const FORGOTTEN: Record<Size, number> = { small: 150, large: 1_000 };
const CALLS = 3;
const WAIT_MS = 120_000;
const END_TIMEOUT_MS = 600_000;
/** Includes the time until the standby is promoted and recovery finishes. */
const RECOVERY_MS = 60_000;

export const failover: FaultCase = {
  name: "failover",
  shows:
    "an asynchronous standby that lacks the last commits takes over during a campaign; no one is mailed twice",
  run: async (run) => [await play(run)],
};

async function play({ size, random }: FaultRun): Promise<FaultRow> {
  const { environment, proxy } = await startEnvironmentBehindProxy({
    settings: { PROJECT_SENDS_PER_SECOND: SENDS_PER_SECOND[size] },
  });
  const standbyFolder = await makeDataFolder();
  try {
    const standby = await environment.shared?.addStandby(standbyFolder.path);
    if (standby === undefined) throw new Error("this world has no shared database");
    for (let program = 0; program < PROGRAMS; program++) await environment.start();
    const recipients = await environment.importContacts(RECIPIENTS[size]);
    const campaignId = await environment.startCampaign();
    await waitForMails(environment, 1 + Math.floor((random() * recipients.length) / 3));
    await standby.freeze();
    await waitForMails(environment, environment.sink.journal.length + FORGOTTEN[size]);
    const requests = await Promise.all(
      Array.from({ length: CALLS }, (_, number) => call(environment, number)),
    );
    environment.noteFault();
    await standby.takeOver();
    proxy.setTarget(Number(new URL(environment.databaseUrl).port));
    await waitForEnd(environment, campaignId, END_TIMEOUT_MS);
    const said = environment.actors.map((actor) => actor.output()).join("\n");
    const faults = requests
      .filter((id) => !said.includes(id))
      .map((id) => `the call ${id} was confirmed and lost without a report`);
    if (!said.includes("restored the outcomes of submissions that the database had lost"))
      faults.push("no program reconciled its submissions");
    const mayBeInDoubt = PROGRAMS * environment.connections;
    const expected = { name: "async standby takes over", recipients, mayBeInDoubt, recoveryMs: RECOVERY_MS };
    return await checkCampaign(environment, campaignId, expected, faults);
  } finally {
    await environment.close();
    await proxy.close();
    await standbyFolder.remove();
  }
}

async function waitForMails(environment: Environment, count: number): Promise<void> {
  await waitUntil(`${count} mails`, WAIT_MS, () => environment.sink.journal.length >= count);
}

/** Makes a call and returns the id in its 2xx response. */
async function call(environment: Environment, number: number): Promise<string> {
  const mail = {
    to: `caller${number}@example.org`,
    from: `us@${DOMAIN}`,
    subject: "Hello",
    body: "<p>Hi</p>",
  };
  const { status, headers } = await environment.api().call<Sent>("POST", "/v1/send", mail);
  if (status !== 200) throw new Error(`a call returned ${status}`);
  return headers.get("x-request-id") ?? "";
}
