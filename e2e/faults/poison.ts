// Mixes undeliverable recipients into a campaign. Each fails alone, with a reason.
import type { FaultCase, FaultRow, Size } from "./fault-case.ts";
import type { Recipient } from "./evidence.ts";
import { checkCampaign, startSampler, waitForEnd } from "./oracle.ts";
import { DOMAIN, startEnvironment, type Environment } from "./environment.ts";

const RECIPIENTS: Record<Size, number> = { small: 1_000, large: 50_000 };
const END_TIMEOUT_MS = 600_000;
const STRANGER = "stranger@example.org";

interface Poison {
  email: string;
  data: Record<string, unknown>;
  /** `sent` if the harmful data is neutralized. */
  end: "FAILED" | "sent";
}

const POISONS: readonly Poison[] = [
  { email: "refused@example.net", data: { name: "Refused" }, end: "FAILED" },
  // A triple nested loop that far exceeds the time and size limits of an email.
  {
    email: "endless@example.net",
    data: { name: "Endless", items: Array.from({ length: 1_000 }, String) },
    end: "FAILED",
  },
  { email: "huge@example.net", data: { name: "Huge", story: "a".repeat(900_000) }, end: "sent" },
  { email: "lines@example.net", data: { name: `Eve\r\nBcc: ${STRANGER}\r\n\r\n.\r\n` }, end: "sent" },
];
/** The API rejects this data. */
const REFUSED_DATA = { name: "null \u0000 byte" };

export const poison: FaultCase = {
  name: "poison",
  shows:
    "recipients that are always rejected or have endless, huge or line-breaking data; they fail alone, all others are mailed once",
  run: async ({ size }) => [await play(size)],
};

async function play(size: Size): Promise<FaultRow> {
  const environment = await startEnvironment({
    rules: [{ phase: "RCPT", recipient: /^refused@/, action: { reply: "550 5.1.1 no such user" } }],
  });
  try {
    await environment.start();
    const recipients = await environment.importContacts(RECIPIENTS[size]);
    const faults = await addPoison(environment);
    const campaignId = await startPoisonedCampaign(environment);
    const sampler = startSampler(environment, [campaignId]);
    await waitForEnd(environment, campaignId, END_TIMEOUT_MS);
    faults.push(...(await sampler.stop()), ...(await faultsOfPoison(environment, campaignId)));
    const all = [...recipients, ...POISONS.map(({ email }) => email)];
    const expected = { name: "poison among many", recipients: all, mayRemainUnsent: true };
    return await checkCampaign(environment, campaignId, expected, faults);
  } finally {
    await environment.close();
  }
}

async function addPoison(environment: Environment): Promise<string[]> {
  const api = environment.api();
  for (const { email, data } of POISONS) await api.post("/contacts", { email, data, subscribed: true });
  const { status } = await api.call("POST", "/contacts", { email: "null@example.net", data: REFUSED_DATA });
  return status === 422 ? [] : [`a null byte returned ${status}`];
}

async function startPoisonedCampaign(environment: Environment): Promise<string> {
  const api = environment.api();
  const { data } = await api.post<{ data: { id: string } }>("/campaigns", {
    name: "Poison",
    subject: "Hello {{name}}",
    body: "<p>Hello {{name}}. {{story}}</p>{{#each items}}{{#each ../items}}{{#each ../../items}}<p>{{this}}</p>{{/each}}{{/each}}{{/each}}",
    from: `news@${DOMAIN}`,
    audienceType: "ALL",
  });
  await api.post(`/campaigns/${data.id}/send`, {});
  return data.id;
}

async function faultsOfPoison(environment: Environment, campaignId: string): Promise<string[]> {
  const recipients = await environment.api().listAll<Recipient>(`/campaigns/${campaignId}/recipients`);
  const faults = POISONS.flatMap(({ email, end }) => {
    const row = recipients.find((one) => one.email === email);
    const isRight = end === "FAILED" ? row?.status === "FAILED" && !!row.reason : row?.status === "SENT";
    return isRight ? [] : [`${email} is ${row?.status} (${row?.reason}) and not ${end}`];
  });
  const failed = recipients.filter(({ status }) => status === "FAILED");
  const poisoned = new Set(POISONS.map(({ email }) => email));
  const others = failed.filter(({ email }) => !poisoned.has(email));
  if (others.length > 0)
    faults.push(`${others.length} others failed as well: ${others[0]?.email} ${others[0]?.reason}`);
  const strangers = environment.sink.journal.filter(({ recipients: to }) => to.includes(STRANGER));
  if (strangers.length > 0) faults.push("a line break in a name added a recipient");
  return faults;
}
