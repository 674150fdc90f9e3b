// The mail server rejects permanently. Each reply code has the right consequence, and a campaign rejected for the sender's reputation
// pauses.
import type { SinkRule } from "../../server/src/testing/smtp-sink-rules.ts";
import { waitUntil } from "../wait-until.ts";
import type { FaultCase, FaultRow, FaultRun, Size } from "./fault-case.ts";
import { checkCampaign, readCampaign, startSampler, waitForEnd } from "./oracle.ts";
import { startEnvironment, type Environment } from "./environment.ts";

const RECIPIENTS: Record<Size, number> = { small: 1_000, large: 50_000 };
const PROGRESS_TIMEOUT_MS = 120_000;
const END_TIMEOUT_MS = 900_000;

interface AppError {
  rule: Pick<SinkRule, "phase"> & { reply: string };
  /** Ending of the addresses: 10 % of them, or 1 % if more would pause the campaign. */
  ending: string;
  unsubscribes: boolean;
}

const REJECTIONS: readonly AppError[] = [
  { ending: "1", rule: { phase: "RCPT", reply: "550 5.1.1 no such user" }, unsubscribes: true },
  { ending: "2", rule: { phase: "RCPT", reply: "552 5.2.2 mailbox full" }, unsubscribes: false },
  { ending: "3", rule: { phase: "RCPT", reply: "501 5.1.3 bad address" }, unsubscribes: true },
  { ending: "4", rule: { phase: "RCPT", reply: "553 5.1.2 no such domain" }, unsubscribes: true },
  { ending: "55", rule: { phase: "RCPT", reply: "554 5.7.1 not from you" }, unsubscribes: false },
  { ending: "66", rule: { phase: "RCPT", reply: "550 5.7.515 authenticate" }, unsubscribes: false },
  { ending: "77", rule: { phase: "DOT", reply: "554 5.6.0 not this content" }, unsubscribes: false },
];

const ruleOf = ({ ending, rule }: AppError): SinkRule => ({
  phase: rule.phase,
  recipient: new RegExp(`^person\\d*${ending}@`),
  action: { reply: rule.reply },
});

export const smtpPermanent: FaultCase = {
  name: "smtp-permanent",
  shows:
    "permanent rejections fail one email each, once; a campaign rejected for the sender's reputation pauses and can be resumed",
  run: async (run) => [await playRejections(run), await playPause(run)],
};

async function playRejections({ size }: FaultRun): Promise<FaultRow> {
  // Half of the addresses are rejected, so the guard would disable the project for its bounce rate.
  const environment = await startEnvironment({
    rules: REJECTIONS.map(ruleOf),
    settings: { REPUTATION_GUARD: "false" },
  });
  try {
    await environment.start();
    const recipients = await environment.importContacts(RECIPIENTS[size]);
    const campaignId = await environment.startCampaign();
    const sampler = startSampler(environment, [campaignId]);
    await waitForEnd(environment, campaignId, END_TIMEOUT_MS);
    const faults = [...(await sampler.stop())];
    for (const rejection of REJECTIONS)
      faults.push(...(await faultsOfRejection(environment, campaignId, rejection)));
    const { failedCount } = await readCampaign(environment.api(), campaignId);
    const refused = recipients.filter((email) =>
      REJECTIONS.some((one) => ruleOf(one).recipient?.test(email)),
    );
    if (failedCount !== refused.length)
      faults.push(`${refused.length} were rejected and ${failedCount} failed`);
    const expected = { name: "permanent SMTP rejections", recipients, mayRemainUnsent: true };
    return await checkCampaign(environment, campaignId, expected, faults);
  } finally {
    await environment.close();
  }
}

/** Checks for a single attempt with the reply as reason, and that the contact is unchanged or unsubscribed with one event. */
async function faultsOfRejection(
  environment: Environment,
  campaignId: string,
  rejection: AppError,
): Promise<string[]> {
  const { reply } = rejection.rule;
  const [row] = await environment.query<{
    mails: number;
    failed: number;
    subscribed: number;
    events: number;
  }>(
    `select count(*)::int as mails,
       count(*) filter (where e.status = 'FAILED' and e.attempts = 1 and e.reason like '%' || $3)::int as failed,
       count(*) filter (where c.subscribed)::int as subscribed,
       (select count(*)::int from events v where v.name = 'contact.unsubscribed' and v.contact_id = any(array_agg(c.id))) as events
     from emails e join contacts c on c.project_id = e.project_id and c.id = e.contact_id
     where e.campaign_id = $1 and e.to_address ~ $2`,
    [campaignId, `^person\\d*${rejection.ending}@`, reply],
  );
  if (row === undefined || row.mails === 0) return [`no recipient was rejected with ${reply}`];
  const faults: string[] = [];
  if (row.failed !== row.mails)
    faults.push(`${reply}: ${row.failed} of ${row.mails} failed immediately for that reason`);
  if (row.subscribed !== (rejection.unsubscribes ? 0 : row.mails))
    faults.push(`${reply}: ${row.subscribed} of ${row.mails} are subscribed`);
  if (row.events !== (rejection.unsubscribes ? row.mails : 0))
    faults.push(`${reply}: ${row.events} events for ${row.mails} emails`);
  return faults;
}

async function playPause({ size }: FaultRun): Promise<FaultRow> {
  const environment = await startEnvironment({
    // Applies only to the campaign's emails, so that emails to project members get through.
    rules: [
      {
        phase: "RCPT",
        recipient: /@example\.net$/,
        skip: 100,
        action: { reply: "550 5.7.1 you are listed" },
      },
    ],
    // Slow enough that emails remain when the pause takes effect.
    settings: { PROJECT_SENDS_PER_SECOND: "200" },
  });
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
    if (paused.heldReason?.includes("550 5.7.1 you are listed") !== true)
      faults.push(`the paused campaign has the reason: ${paused.heldReason}`);
    if (paused.failedCount > recipients.length / 2)
      faults.push(`${paused.failedCount} of ${recipients.length} were rejected before it paused`);
    const [contacts] = await environment.query<{ gone: number }>(
      "select count(*)::int as gone from contacts where not subscribed",
    );
    if (contacts?.gone !== 0)
      faults.push(`${contacts?.gone} contacts were unsubscribed for a sender problem`);
    environment.sink.setRules([]);
    await api.post(`/campaigns/${campaignId}/resume`, {});
    await waitForEnd(environment, campaignId, END_TIMEOUT_MS);
    await api.post(`/campaigns/${campaignId}/retry-failed`, {});
    await waitForEnd(environment, campaignId, END_TIMEOUT_MS);
    const expected = { name: "rejected for the sender", recipients };
    return await checkCampaign(environment, campaignId, expected, [...faults, ...(await sampler.stop())]);
  } finally {
    await environment.close();
  }
}

interface PausedCampaign {
  status: string;
  heldReason: string | null;
  failedCount: number;
}
