// The mail server closes the connection after each final dot, with or without accepting the email. The campaign stops with few emails in
// doubt, which a person resolves from the server's log. Transactional emails are retried or wait, as the project is configured.
import type { SinkRule } from "../../server/src/testing/smtp-sink-rules.ts";
import type { Sent } from "../api-client.ts";
import { waitUntil } from "../wait-until.ts";
import { countMails, emailIdOf, type Recipient } from "./evidence.ts";
import type { FaultCase, FaultRow, FaultRun, Size } from "./fault-case.ts";
import { faultsOfPrograms, checkCampaign, startSampler, waitForEnd } from "./oracle.ts";
import { DOMAIN, startEnvironment, type Environment } from "./environment.ts";

const RECIPIENTS: Record<Size, number> = { small: 1_000, large: 20_000 };
const CONNECTIONS = 20;
/** Limit for this number of connections, whenever the replies stop. */
const MAX_IN_DOUBT = 100;
/** Maximum emails with a reply before the server starts closing. */
const MAX_GOOD = 200;
const SINGLE_MAILS = 6;
const PROGRESS_TIMEOUT_MS = 120_000;
const END_TIMEOUT_MS = 300_000;

export const smtpNoReply: FaultCase = {
  name: "smtp-no-answer",
  shows:
    "a server closes after each dot; a campaign pauses with few emails in doubt and ends once they are resolved; a single email is sent once, or at most twice",
  run: async (run) => [
    await playCampaign(run),
    await playSingle("single emails, retried", "RETRY", 2),
    await playSingle("single emails, waiting", "WAIT", 1),
  ],
};

/** The server accepts emails to even addresses before closing, and not those to odd ones. */
const closing = (skip: number): SinkRule[] => [
  { phase: "DOT", recipient: /[02468]@example\.net$/, skip, action: "drop", accept: true },
  { phase: "DOT", recipient: /[13579]@example\.net$/, skip, action: "reset" },
];

interface PausedCampaign {
  status: string;
  heldReason: string | null;
  unconfirmedCount: number;
  pendingCount: number;
}

async function playCampaign({ size, random }: FaultRun): Promise<FaultRow> {
  const skip = Math.floor((random() * MAX_GOOD) / 2);
  const environment = await startEnvironment({ connections: CONNECTIONS, rules: closing(skip) });
  try {
    await environment.start();
    const recipients = await environment.importContacts(RECIPIENTS[size]);
    const campaignId = await environment.startCampaign();
    const sampler = startSampler(environment, [campaignId]);
    const api = environment.api();
    const paused = await waitUntil("the campaign to pause", PROGRESS_TIMEOUT_MS, async () => {
      const campaign = await api.get<PausedCampaign>(`/campaigns/${campaignId}`);
      return campaign.status === "PAUSED" && campaign;
    });
    const faults: string[] = [];
    if (paused.heldReason?.includes("got no response") !== true)
      faults.push(`the paused campaign has the reason: ${paused.heldReason}`);
    await waitUntil("no claimed emails", PROGRESS_TIMEOUT_MS, async () => {
      const held = await environment.query("select 1 from emails where status = 'CLAIMED'");
      return held.length === 0;
    });
    const inDoubt = await api.listAll<Recipient>(`/campaigns/${campaignId}/recipients?status=UNCONFIRMED`);
    if (inDoubt.length === 0 || inDoubt.length > MAX_IN_DOUBT)
      faults.push(`${inDoubt.length} emails are in doubt, at most ${MAX_IN_DOUBT} allowed`);
    environment.sink.setRules([]);
    faults.push(...(await resolveByLog(environment, campaignId, inDoubt)));
    await api.post(`/campaigns/${campaignId}/resume`, {});
    await waitForEnd(environment, campaignId, END_TIMEOUT_MS);
    const expected = { name: `campaign, ${inDoubt.length} in doubt`, recipients };
    return await checkCampaign(environment, campaignId, expected, [...faults, ...(await sampler.stop())]);
  } finally {
    await environment.close();
  }
}

/** Marks emails in the server's log as sent and sends the rest again, half of them individually and half in bulk. */
async function resolveByLog(
  environment: Environment,
  campaignId: string,
  inDoubt: readonly Recipient[],
): Promise<string[]> {
  const taken = countMails(environment.sink.journal);
  const sent = inDoubt.filter(({ email }) => taken.has(email)).map(({ id }) => id);
  const resolve = (body: object) =>
    environment.insist<{ resolvedCount: number }>(`/campaigns/${campaignId}/resolve`, body);
  const asSent = sent.length === 0 ? 0 : (await resolve({ as: "sent", ids: sent })).resolvedCount;
  const again = (await resolve({ as: "retry" })).resolvedCount;
  return asSent === sent.length && again === inDoubt.length - sent.length
    ? []
    : [
        `${inDoubt.length} were in doubt, ${sent.length} of them accepted; ${asSent} and ${again} were resolved`,
      ];
}

async function playSingle(name: string, whenInDoubt: "RETRY" | "WAIT", times: number): Promise<FaultRow> {
  const environment = await startEnvironment({ rules: [{ phase: "DOT", action: "drop", accept: true }] });
  try {
    await environment.start();
    await environment.query("update project_queues set when_in_doubt = $1", [whenInDoubt]);
    const { data } = await environment.insist<Sent>("/v1/send", {
      from: `us@${DOMAIN}`,
      to: Array.from({ length: SINGLE_MAILS }, (_, at) => `single${at}@example.net`),
      subject: "Receipt",
      body: "<p>Paid</p>",
    });
    const ids = data.emails.map(({ email }) => email);
    const faults: string[] = [];
    if (times > 1) faults.push(...(await faultsOfWait(environment)));
    await waitUntil("all to be unconfirmed", PROGRESS_TIMEOUT_MS, async () => {
      const inDoubt = await environment.api().listAll<{ id: string }>("/emails?status=UNCONFIRMED");
      return inDoubt.length === ids.length;
    });
    for (const id of ids) {
      const copies = environment.sink.journal.filter(({ messageId }) => emailIdOf(messageId) === id);
      if (copies.length !== times)
        faults.push(`an email was accepted ${copies.length} times and not ${times}`);
      const { status, timeline } = await environment
        .api()
        .post<{ status: string; timeline: Array<{ type: string }> }>(`/emails/${id}/resolve`, { as: "sent" });
      if (status !== "SENT" || timeline.filter(({ type }) => type === "attempt").length !== times)
        faults.push(`a resolved email is ${status}, its timeline ${JSON.stringify(timeline)}`);
    }
    const sent = await environment.api().listAll<{ emailId: string }>("/events?eventName=email.sent");
    if (sent.length !== ids.length) faults.push(`${ids.length} were sent, there are ${sent.length} events`);
    return {
      name,
      recipients: ids.length,
      kills: 0,
      sent: sent.length,
      failed: 0,
      unconfirmed: 0,
      // Duplicates are allowed here, because each is the second attempt in its email's timeline.
      twice: times > 1 ? ids.length : 0,
      lost: 0,
      recoveryMs: null,
      faults: [...faults, ...faultsOfPrograms(environment)],
    };
  } finally {
    await environment.close();
  }
}

/** After the first doubt each email must wait 30 s. The check then makes them due. */
async function faultsOfWait(environment: Environment): Promise<string[]> {
  const waits = await waitUntil("the first attempts", PROGRESS_TIMEOUT_MS, async () => {
    const rows = await environment.query<{ waitS: number }>(
      `select extract(epoch from due_at - now())::float8 as wait_s from emails where status = 'QUEUED' and attempts = 1`,
    );
    return rows.length === SINGLE_MAILS && rows.map(({ waitS: seconds }) => seconds);
  });
  await environment.query("update emails set due_at = now() where status = 'QUEUED'");
  return waits.every((seconds) => seconds > 20) ? [] : [`further attempts wait only ${Math.min(...waits)} s`];
}
