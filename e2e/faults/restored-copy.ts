// Restores a backup taken during a campaign after its end, copies a data folder, and runs a copy next to the original. Held emails are not
// sent until a person decides, while new emails are.
import { execFile } from "node:child_process";
import { cp, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Client } from "pg";
import type { Sent } from "../api-client.ts";
import { makeDataFolder } from "../program.ts";
import { waitUntil } from "../wait-until.ts";
import { countMails, mailedTwice, type Campaign } from "./evidence.ts";
import type { FaultCase, FaultRow, FaultRun, Size } from "./fault-case.ts";
import { faultsOfPrograms, checkCampaign, readCampaign, waitForEnd } from "./oracle.ts";
import { DOMAIN, startEnvironment, type Actor, type Environment } from "./environment.ts";

const RECIPIENTS: Record<Size, number> = { small: 400, large: 5_000 };
/** Long enough that a program which stops slowly halfway is still within the campaign. */
const CAMPAIGN_SECONDS = 12;
const WAIT_MS = 60_000;
const END_TIMEOUT_MS = 600_000;
/** Newer files cannot be distinguished from their copies. */
const NOTIFIED_APART_AFTER_MS = 3_000;
/** After the program has stopped, and before the continuing campaign has ended. */
const SCHEDULED_IN_MS = 8_000;
const ADMIN = fileURLToPath(new URL("../../server/src/admin.ts", import.meta.url));

export const restoredCopy: FaultCase = {
  name: "restored-copy",
  shows:
    "a mid-campaign backup restored after the end, a copied data folder, a copy next to the original; all held until a person decides",
  run: async (run) => [
    await playRestored(RECIPIENTS[run.size], run.random),
    await playCopiedFolder(run),
    await playBeside(run),
  ],
};

const atRateFor = (recipients: number) => ({
  PROJECT_SENDS_PER_SECOND: String(Math.ceil(recipients / CAMPAIGN_SECONDS)),
});

/** Restores the database to its state during the campaign and drops the held emails. */
export async function playRestored(count: number, random: () => number): Promise<FaultRow> {
  const environment = await startEnvironment({
    database: "own",
    settings: atRateFor(count),
    rules: [{ phase: "RCPT", recipient: /later@/, action: { reply: "451 4.7.1 later" } }],
  });
  try {
    const actor = await environment.start();
    const addresses = await environment.importContacts(count);
    const scheduled = await environment.createCampaign("Scheduled");
    const waiting = await sendTo(environment, "later@example.org");
    const campaignId = await environment.startCampaign();
    await waitForMails(environment, 1 + Math.floor((random() * count) / 2));
    const scheduledFor = new Date(Date.now() + SCHEDULED_IN_MS).toISOString();
    await environment.insist(`/campaigns/${scheduled}/send`, { scheduledFor });
    await environment.stop(actor);
    const postgres = join(environment.folder, "postgres");
    const backup = join(environment.folder, "backup");
    await cp(postgres, backup, { recursive: true });
    const atBackup = environment.sink.journal.length;

    const later = await environment.start({ PROJECT_SENDS_PER_SECOND: "0" });
    for (const id of [campaignId, scheduled]) await waitForEnd(environment, id, END_TIMEOUT_MS);
    await environment.stop(later);
    await rm(postgres, { recursive: true });
    await rename(backup, postgres);
    const before = environment.sink.journal.length;

    const restored = await environment.start();
    const faults = await faultsOfHeld(environment, restored, { sending: campaignId, scheduled }, before);
    await admin(environment, "drop");
    await waitForEnd(environment, campaignId, WAIT_MS);
    const campaign = await readCampaign(environment.api(), campaignId);
    faults.push(...faultsOfDropped(campaign, await readStatus(environment, scheduled), count));
    if ((await environment.api().get<{ status: string }>(`/emails/${waiting}`)).status !== "SKIPPED")
      faults.push("a waiting single email was not dropped");
    if (atBackup >= count) faults.push("the campaign had ended when the backup was taken");
    return rowOf(environment, "restored after the end, dropped", { addresses, campaign, faults });
  } finally {
    await environment.close();
  }
}

/** Kills everything during a campaign and moves the data folder. Nothing proves that the original did not continue. */
async function playCopiedFolder({ size, random }: FaultRun): Promise<FaultRow> {
  const environment = await startEnvironment({ database: "own" });
  const name = "copied folder, released";
  try {
    await environment.start();
    const recipients = await environment.importContacts(RECIPIENTS[size]);
    const campaignId = await environment.startCampaign();
    await waitForMails(environment, 1 + Math.floor((random() * recipients.length) / 2));
    await environment.killAll();
    await fileIsOld(environment.folder);
    const original = `${environment.folder}-original`;
    await rename(environment.folder, original);
    await cp(original, environment.folder, { recursive: true, preserveTimestamps: true });
    await rm(original, { recursive: true });
    const before = environment.sink.journal.length;
    const restored = await environment.start();
    const faults = await faultsOfHeld(environment, restored, { sending: campaignId }, before);
    await admin(environment, "release");
    await waitForEnd(environment, campaignId, END_TIMEOUT_MS);
    const expected = { name, recipients, mayBeInDoubt: environment.connections, recoveryMs: END_TIMEOUT_MS };
    return await checkCampaign(environment, campaignId, expected, faults);
  } finally {
    await environment.close();
  }
}

/** Runs a copy of the database next to the original, on a machine without local state. */
async function playBeside({ size, random }: FaultRun): Promise<FaultRow> {
  const environment = await startEnvironment({ settings: atRateFor(RECIPIENTS[size]) });
  const elsewhere = await makeDataFolder();
  try {
    const original = await environment.start();
    const addresses = await environment.importContacts(RECIPIENTS[size]);
    const campaignId = await environment.startCampaign();
    await waitForMails(environment, 1 + Math.floor((random() * addresses.length) / 2));
    await environment.stop(original);
    const copyUrl = await copyDatabase(environment.databaseUrl);
    await environment.start();
    await waitForEnd(environment, campaignId, END_TIMEOUT_MS);
    const before = environment.sink.journal.length;
    const copy = await environment.start({ DATABASE_URL: copyUrl, DATA_DIR: elsewhere.path });
    const faults = await faultsOfHeld(environment, copy, { sending: campaignId }, before);
    const campaign = await readCampaign(environment.api(), campaignId);
    await environment.stop(copy);
    return rowOf(environment, "copy next to the original", { addresses, campaign, faults });
  } finally {
    await environment.close();
    await elsewhere.remove();
  }
}

/** Returns what a held program did wrong. `before` is the number of emails when it started. */
async function faultsOfHeld(
  environment: Environment,
  actor: Actor,
  held: { sending: string; scheduled?: string },
  before: number,
): Promise<string[]> {
  const faults: string[] = [];
  if (!/ON HOLD since .*: .*1 campaign.*\n.*npm run admin/.test(actor.output()))
    faults.push(`it did not report that it is holding: ${actor.output()}`);
  const ready = await environment.api().get<{ warnings: Array<{ code: string; message: string }> }>("/ready");
  if (!ready.warnings.some(({ code, message }) => code === "HELD" && message.includes("1 campaign")))
    faults.push(`/ready says ${JSON.stringify(ready)}`);
  if (!(await (await fetch(new URL("/", actor.url))).text()).includes("On hold since"))
    faults.push("the page does not report that it is holding");
  const { status } = await readStatus(environment, held.sending);
  if (status !== "PAUSED") faults.push(`the campaign is ${status}`);
  if (held.scheduled !== undefined) {
    const scheduled = await readStatus(environment, held.scheduled);
    if (scheduled.status !== "SCHEDULED" || scheduled.heldReason === null)
      faults.push(`the schedule is ${JSON.stringify(scheduled)}`);
  }
  // A new email is sent and nothing before it, because the sender checks all queues each time.
  await sendTo(environment, "new@example.org");
  await waitUntil("the new email", WAIT_MS, () =>
    countMails(environment.sink.journal).has("new@example.org"),
  );
  if (environment.sink.journal.length !== before + 1)
    faults.push(`${environment.sink.journal.length - before - 1} held emails were sent`);
  return faults;
}

function faultsOfDropped(
  campaign: Campaign,
  scheduled: { status: string; heldReason: string | null },
  count: number,
): string[] {
  const { status, sentCount, skippedCount, unconfirmedCount, totalRecipients } = campaign;
  const faults: string[] = [];
  if (status !== "CANCELLED") faults.push(`the dropped campaign is ${status}`);
  if (sentCount + skippedCount + unconfirmedCount !== count || totalRecipients !== count)
    faults.push(`the counts of the dropped campaign do not balance: ${JSON.stringify(campaign)}`);
  if (skippedCount === 0) faults.push("nothing was dropped");
  if (scheduled.status !== "DRAFT" || scheduled.heldReason === null)
    faults.push(`the dropped schedule is ${JSON.stringify(scheduled)}`);
  return faults;
}

function rowOf(
  environment: Environment,
  name: string,
  played: { addresses: readonly string[]; campaign: Campaign; faults: readonly string[] },
): FaultRow {
  const { addresses, campaign, faults } = played;
  const mails = countMails(environment.sink.journal);
  const each = environment.sink.journal.filter(({ messageId }, at, all) => {
    return all.findIndex((other) => other.messageId === messageId) !== at;
  });
  const lost = addresses.filter((address) => !mails.has(address)).length;
  const twice = mailedTwice(each).length + each.length;
  return {
    name,
    recipients: addresses.length,
    kills: environment.faultsAt.length,
    sent: campaign.sentCount,
    failed: campaign.failedCount + campaign.skippedCount,
    unconfirmed: campaign.unconfirmedCount,
    twice,
    lost,
    recoveryMs: null,
    faults: [
      ...faults,
      ...faultsOfPrograms(environment),
      ...(twice === 0 ? [] : [`${twice} emails were accepted more than once`]),
      ...(lost === 0 ? [] : [`${lost} recipients were never mailed`]),
    ],
  };
}

const readStatus = (environment: Environment, id: string) =>
  environment.api().get<{ status: string; heldReason: string | null }>(`/campaigns/${id}`);

async function sendTo(environment: Environment, to: string): Promise<string> {
  const mail = { to, from: `us@${DOMAIN}`, subject: "Hello", body: "<p>Hi</p>" };
  const { data } = await environment.insist<Sent>("/v1/send", mail);
  return data.emails[0]?.email ?? "";
}

async function waitForMails(environment: Environment, count: number): Promise<void> {
  await waitUntil("the first emails", WAIT_MS, () => environment.sink.journal.length >= count);
}

/** Runs an admin command in a separate process next to the server. */
async function admin(environment: Environment, command: string): Promise<void> {
  const env = { PATH: process.env["PATH"], DATA_DIR: environment.folder };
  await promisify(execFile)(process.execPath, [ADMIN, command], { env });
}

async function fileIsOld(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => /^database-.*\.json$/.test(name));
  await waitUntil("a sufficiently old file", WAIT_MS, async () => {
    const times = await Promise.all(names.map((name) => stat(join(folder, name))));
    return names.length > 0 && times.every(({ mtimeMs }) => mtimeMs < Date.now() - NOTIFIED_APART_AFTER_MS);
  });
}

/** Copies the database and returns the copy's URL. */
async function copyDatabase(url: string): Promise<string> {
  const client = new Client({ connectionString: url.replace(/[^/]*$/, "template1") });
  await client.connect();
  try {
    await client.query(`create database copied template ${new URL(url).pathname.slice(1)}`);
  } finally {
    await client.end();
  }
  return url.replace(/[^/]*$/, "copied");
}
