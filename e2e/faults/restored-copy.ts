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
import { faultsOfPrograms, judgeCampaign, readCampaign, waitForEnd } from "./oracle.ts";
import { DOMAIN, startWorld, type Actor, type World } from "./world.ts";

const RECIPIENTS: Record<Size, number> = { small: 400, large: 5_000 };
/** Long enough that a program which stops slowly halfway is still within the campaign. */
const CAMPAIGN_SECONDS = 12;
const WAIT_MS = 60_000;
const END_TIMEOUT_MS = 600_000;
/** Newer files cannot be distinguished from their copies. */
const TOLD_APART_AFTER_MS = 3_000;
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
  const world = await startWorld({
    database: "own",
    settings: atRateFor(count),
    rules: [{ phase: "RCPT", recipient: /later@/, action: { reply: "451 4.7.1 later" } }],
  });
  try {
    const actor = await world.start();
    const addresses = await world.importContacts(count);
    const scheduled = await world.createCampaign("Scheduled");
    const waiting = await sendTo(world, "later@example.org");
    const campaignId = await world.startCampaign();
    await waitForMails(world, 1 + Math.floor((random() * count) / 2));
    const scheduledFor = new Date(Date.now() + SCHEDULED_IN_MS).toISOString();
    await world.insist(`/campaigns/${scheduled}/send`, { scheduledFor });
    await world.stop(actor);
    const postgres = join(world.folder, "postgres");
    const backup = join(world.folder, "backup");
    await cp(postgres, backup, { recursive: true });
    const atBackup = world.sink.journal.length;

    const later = await world.start({ PROJECT_SENDS_PER_SECOND: "0" });
    for (const id of [campaignId, scheduled]) await waitForEnd(world, id, END_TIMEOUT_MS);
    await world.stop(later);
    await rm(postgres, { recursive: true });
    await rename(backup, postgres);
    const before = world.sink.journal.length;

    const restored = await world.start();
    const faults = await faultsOfHeld(world, restored, { sending: campaignId, scheduled }, before);
    await admin(world, "drop");
    await waitForEnd(world, campaignId, WAIT_MS);
    const campaign = await readCampaign(world.api(), campaignId);
    faults.push(...faultsOfDropped(campaign, await readStatus(world, scheduled), count));
    if ((await world.api().get<{ status: string }>(`/emails/${waiting}`)).status !== "SKIPPED")
      faults.push("a waiting single email was not dropped");
    if (atBackup >= count) faults.push("the campaign had ended when the backup was taken");
    return rowOf(world, "restored after the end, dropped", { addresses, campaign, faults });
  } finally {
    await world.close();
  }
}

/** Kills everything during a campaign and moves the data folder. Nothing proves that the original did not continue. */
async function playCopiedFolder({ size, random }: FaultRun): Promise<FaultRow> {
  const world = await startWorld({ database: "own" });
  const name = "copied folder, released";
  try {
    await world.start();
    const recipients = await world.importContacts(RECIPIENTS[size]);
    const campaignId = await world.startCampaign();
    await waitForMails(world, 1 + Math.floor((random() * recipients.length) / 2));
    await world.killAll();
    await fileIsOld(world.folder);
    const original = `${world.folder}-original`;
    await rename(world.folder, original);
    await cp(original, world.folder, { recursive: true, preserveTimestamps: true });
    await rm(original, { recursive: true });
    const before = world.sink.journal.length;
    const restored = await world.start();
    const faults = await faultsOfHeld(world, restored, { sending: campaignId }, before);
    await admin(world, "release");
    await waitForEnd(world, campaignId, END_TIMEOUT_MS);
    const expected = { name, recipients, mayBeInDoubt: world.connections, recoveryMs: END_TIMEOUT_MS };
    return await judgeCampaign(world, campaignId, expected, faults);
  } finally {
    await world.close();
  }
}

/** Runs a copy of the database next to the original, on a machine without local state. */
async function playBeside({ size, random }: FaultRun): Promise<FaultRow> {
  const world = await startWorld({ settings: atRateFor(RECIPIENTS[size]) });
  const elsewhere = await makeDataFolder();
  try {
    const original = await world.start();
    const addresses = await world.importContacts(RECIPIENTS[size]);
    const campaignId = await world.startCampaign();
    await waitForMails(world, 1 + Math.floor((random() * addresses.length) / 2));
    await world.stop(original);
    const copyUrl = await copyDatabase(world.databaseUrl);
    await world.start();
    await waitForEnd(world, campaignId, END_TIMEOUT_MS);
    const before = world.sink.journal.length;
    const copy = await world.start({ DATABASE_URL: copyUrl, DATA_DIR: elsewhere.path });
    const faults = await faultsOfHeld(world, copy, { sending: campaignId }, before);
    const campaign = await readCampaign(world.api(), campaignId);
    await world.stop(copy);
    return rowOf(world, "copy next to the original", { addresses, campaign, faults });
  } finally {
    await world.close();
    await elsewhere.remove();
  }
}

/** Returns what a held program did wrong. `before` is the number of emails when it started. */
async function faultsOfHeld(
  world: World,
  actor: Actor,
  held: { sending: string; scheduled?: string },
  before: number,
): Promise<string[]> {
  const faults: string[] = [];
  if (!/HELD since .*: .*1 campaign.*\n.*npm run admin/.test(actor.output()))
    faults.push(`it did not report that it is holding: ${actor.output()}`);
  const ready = await world.api().get<{ warnings: Array<{ code: string; message: string }> }>("/ready");
  if (!ready.warnings.some(({ code, message }) => code === "HELD" && message.includes("1 campaign")))
    faults.push(`/ready says ${JSON.stringify(ready)}`);
  if (!(await (await fetch(new URL("/", actor.url))).text()).includes("Held since"))
    faults.push("the page does not report that it is holding");
  const { status } = await readStatus(world, held.sending);
  if (status !== "PAUSED") faults.push(`the campaign is ${status}`);
  if (held.scheduled !== undefined) {
    const scheduled = await readStatus(world, held.scheduled);
    if (scheduled.status !== "SCHEDULED" || scheduled.heldReason === null)
      faults.push(`the schedule is ${JSON.stringify(scheduled)}`);
  }
  // A new email is sent and nothing before it, because the sender checks all queues each time.
  await sendTo(world, "new@example.org");
  await waitUntil("the new email", WAIT_MS, () => countMails(world.sink.journal).has("new@example.org"));
  if (world.sink.journal.length !== before + 1)
    faults.push(`${world.sink.journal.length - before - 1} held emails were sent`);
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
  world: World,
  name: string,
  played: { addresses: readonly string[]; campaign: Campaign; faults: readonly string[] },
): FaultRow {
  const { addresses, campaign, faults } = played;
  const mails = countMails(world.sink.journal);
  const each = world.sink.journal.filter(({ messageId }, at, all) => {
    return all.findIndex((other) => other.messageId === messageId) !== at;
  });
  const lost = addresses.filter((address) => !mails.has(address)).length;
  const twice = mailedTwice(each).length + each.length;
  return {
    name,
    recipients: addresses.length,
    kills: world.faultsAt.length,
    sent: campaign.sentCount,
    failed: campaign.failedCount + campaign.skippedCount,
    unconfirmed: campaign.unconfirmedCount,
    twice,
    lost,
    recoveryMs: null,
    faults: [
      ...faults,
      ...faultsOfPrograms(world),
      ...(twice === 0 ? [] : [`${twice} emails were accepted more than once`]),
      ...(lost === 0 ? [] : [`${lost} recipients were never mailed`]),
    ],
  };
}

const readStatus = (world: World, id: string) =>
  world.api().get<{ status: string; heldReason: string | null }>(`/campaigns/${id}`);

async function sendTo(world: World, to: string): Promise<string> {
  const mail = { to, from: `us@${DOMAIN}`, subject: "Hello", body: "<p>Hi</p>" };
  const { data } = await world.insist<Sent>("/v1/send", mail);
  return data.emails[0]?.email ?? "";
}

async function waitForMails(world: World, count: number): Promise<void> {
  await waitUntil("the first emails", WAIT_MS, () => world.sink.journal.length >= count);
}

/** Runs an admin command in a separate process next to the server. */
async function admin(world: World, command: string): Promise<void> {
  const env = { PATH: process.env["PATH"], DATA_DIR: world.folder };
  await promisify(execFile)(process.execPath, [ADMIN, command], { env });
}

async function fileIsOld(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => /^database-.*\.json$/.test(name));
  await waitUntil("a sufficiently old file", WAIT_MS, async () => {
    const times = await Promise.all(names.map((name) => stat(join(folder, name))));
    return names.length > 0 && times.every(({ mtimeMs }) => mtimeMs < Date.now() - TOLD_APART_AFTER_MS);
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
