// Five kills of every process amid a campaign to two thousand: nobody is left out, nobody is mailed twice, and whoever is in doubt is named.
// The judge is the journal of the mail server, which outlives them all (reliability promises P2–P5, P9).
import { afterEach, expect, test } from "vitest";
import { startDnsServer, type DnsServer } from "../server/src/testing/dns-server.ts";
import { startSmtpSink, type SmtpSink } from "../server/src/testing/smtp-sink.ts";
import { createApiClient, type ApiClient } from "./api-client.ts";
import { BOOTSTRAP, makeDataFolder, SECRET_KEY, startProgram, type Program } from "./program.ts";
import { verifyDomain } from "./verify-domain.ts";
import { waitUntil } from "./wait-until.ts";

const RECIPIENTS = 2_000;
const KILLS = 5;
const CONNECTIONS = 10;
/** The same kills in every run; another seed is another run. */
const SEED = 20_261_121;
const IMPORT_TIMEOUT_MS = 30_000;
const PROGRESS_TIMEOUT_MS = 60_000;
/** After the last start: the lease of the dead, a second look, the rest of the mails. */
const END_TIMEOUT_MS = 90_000;
const DOMAIN = "mail.example.com";

let program: Program | undefined;
const closing: Array<() => Promise<unknown>> = [];

afterEach(async () => {
  await program?.kill();
  for (const close of closing.splice(0).toReversed()) await close();
});

/** Mulberry32: numbers from 0 to 1 that a seed decides. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

interface Campaign {
  id: string;
  status: string;
  totalRecipients: number;
  sentCount: number;
  failedCount: number;
  skippedCount: number;
  unconfirmedCount: number;
  pendingCount: number;
}

interface Recipient {
  email: string;
  status: string;
}

const addressOf = (number: number) => `person${number}@example.net`;

async function importContacts(url: string, api: ApiClient): Promise<void> {
  const lines = Array.from({ length: RECIPIENTS }, (_, number) => `${addressOf(number)},Person ${number}`);
  const form = new FormData();
  form.set("file", new Blob([`email,name\n${lines.join("\n")}\n`], { type: "text/csv" }), "people.csv");
  const response = await fetch(new URL("/contacts/import", url), {
    method: "POST",
    headers: { authorization: `Bearer ${SECRET_KEY}` },
    body: form,
  });
  expect(response.status).toBe(202);
  const { jobId } = (await response.json()) as { jobId: string };
  await waitUntil("the import", IMPORT_TIMEOUT_MS, async () => {
    const job = await api.get<{ state: string }>(`/contacts/import/${jobId}`);
    return job.state === "completed";
  });
}

async function startCampaign(api: ApiClient): Promise<string> {
  const { data } = await api.post<{ data: Campaign }>("/campaigns", {
    name: "Crash",
    subject: "Hello {{name}}",
    body: "<p>Hello {{name}}, this is the news.</p>",
    from: `news@${DOMAIN}`,
    audienceType: "ALL",
  });
  await api.post(`/campaigns/${data.id}/send`, {});
  return data.id;
}

/** How often each address is in the journal of the mail server. */
function countMails(sink: SmtpSink): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { recipients } of sink.journal)
    for (const recipient of recipients) counts.set(recipient, (counts.get(recipient) ?? 0) + 1);
  return counts;
}

async function start(folder: string, sink: SmtpSink, dns: DnsServer): Promise<Program> {
  return startProgram({
    DATA_DIR: folder,
    ...BOOTSTRAP,
    MAIL_TRANSPORT: `smtp://127.0.0.1:${sink.port}?connections=${CONNECTIONS}`,
    DNS_SERVERS: dns.address,
  });
}

test(`after ${KILLS} kills of all processes each of ${RECIPIENTS} recipients was mailed once, or is named as in doubt`, async () => {
  const dns = await startDnsServer();
  closing.push(() => dns.close());
  const sink = await startSmtpSink({ keepRaw: false });
  closing.push(() => sink.close());
  const folder = await makeDataFolder();
  closing.push(folder.remove);
  program = await start(folder.path, sink, dns);
  await verifyDomain(createApiClient(program.url), dns, DOMAIN);
  await importContacts(program.url, createApiClient(program.url));
  const campaignId = await startCampaign(createApiClient(program.url));

  const random = createRandom(SEED);
  for (let kill = 1; kill <= KILLS; kill++) {
    // After so many mails, and then at any moment of a claim, a handover or a commit.
    const mails = sink.journal.length + 1 + Math.floor((random() * RECIPIENTS) / (KILLS * 2));
    await waitUntil(`mails before kill ${kill}`, PROGRESS_TIMEOUT_MS, () => sink.journal.length >= mails);
    await program.kill();
    program = await start(folder.path, sink, dns);
  }

  const api = createApiClient(program.url);
  const campaign = await waitUntil("the end of the campaign", END_TIMEOUT_MS, async () => {
    const now = await api.get<Campaign>(`/campaigns/${campaignId}`);
    return now.status === "SENT" && now;
  });
  const { sentCount, failedCount, skippedCount, unconfirmedCount, pendingCount } = campaign;
  expect({ failedCount, skippedCount, pendingCount }).toEqual({
    failedCount: 0,
    skippedCount: 0,
    pendingCount: 0,
  });
  expect(campaign.totalRecipients).toBe(RECIPIENTS);
  expect(sentCount + unconfirmedCount).toBe(RECIPIENTS);
  expect(unconfirmedCount).toBeLessThanOrEqual(KILLS * CONNECTIONS);

  const mails = countMails(sink);
  expect([...mails].filter(([, count]) => count > 1)).toEqual([]);
  const recipients = await api.listAll<Recipient>(`/campaigns/${campaignId}/recipients`);
  expect(recipients.map(({ email }) => email).toSorted()).toEqual(
    Array.from({ length: RECIPIENTS }, (_, number) => addressOf(number)).toSorted(),
  );
  const sent = recipients.filter(({ status }) => status === "SENT");
  expect(sent.filter(({ email }) => mails.get(email) !== 1)).toEqual([]);
  const others = recipients.filter(({ status }) => status !== "SENT");
  expect(others.filter(({ status }) => status !== "UNCONFIRMED")).toEqual([]);
}, 300_000);
