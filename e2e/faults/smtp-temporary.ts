// The mail server rejects temporarily in every phase, or has a quota. Nothing counts as sent or bounced, and everything is sent later.
import { setTimeout as delay } from "node:timers/promises";
import type { SinkRule } from "../../server/src/testing/smtp-sink-rules.ts";
import { waitUntil } from "../wait-until.ts";
import type { FaultCase, FaultRow, FaultRun, Size } from "./fault-case.ts";
import { complain } from "./evidence.ts";
import { checkCampaign, startSampler, waitForEnd } from "./oracle.ts";
import { startEnvironment, type Environment } from "./environment.ts";

const RECIPIENTS: Record<Size, number> = { small: 1_000, large: 20_000 };
const TIMES: Record<Size, number> = { small: 5, large: 50 };
/** Number of emails that the quota allows. */
const QUOTA: Record<Size, number> = { small: 300, large: 10_000 };
/** Minimum wait after the first rejection (decisions §12). */
const FIRST_WAIT_MS = 30_000;
const PROGRESS_TIMEOUT_MS = 300_000;
const END_TIMEOUT_MS = 900_000;

/** Matches `person7@…`, `person17@…`: a tenth of the recipients. */
const tenth = (digit: number) => new RegExp(`^person\\d*${digit}@`);

const notNow = (times: number): readonly SinkRule[] => [
  { phase: "CONNECT", skip: 1, times, action: { reply: "421 4.3.2 too many connections" } },
  { phase: "MAIL", skip: 20, times, action: { reply: "421 4.7.0 slow down" } },
  { phase: "RCPT", recipient: tenth(1), action: { reply: "450 4.2.0 mailbox busy" } },
  { phase: "RCPT", recipient: tenth(2), action: { reply: "451 4.3.0 greylisted" } },
  { phase: "RCPT", recipient: tenth(3), action: { reply: "452 4.2.2 mailbox full" } },
  { phase: "DOT", recipient: tenth(4), action: { reply: "451 4.3.0 try again" } },
  {
    phase: "DOT",
    recipient: tenth(5),
    action: { reply: "454 4.7.0 Throttling failure: Maximum sending rate exceeded" },
  },
];

const quotaUsedUp = (quota: number): readonly SinkRule[] => [
  { phase: "RCPT", skip: quota, action: { reply: "454 4.7.0 Daily quota exceeded" } },
];

export const smtpTemporary: FaultCase = {
  name: "smtp-temporary",
  shows:
    "421, 450, 451, 452 and 454 in every phase, and an exhausted quota; all emails wait, none is lost or sent twice",
  run: async (run) => [
    await play(run, "temporary SMTP rejections", notNow(TIMES[run.size])),
    await play(run, "exhausted quota", quotaUsedUp(QUOTA[run.size])),
  ],
};

async function play(run: FaultRun, name: string, rules: readonly SinkRule[]): Promise<FaultRow> {
  const environment = await startEnvironment();
  try {
    await environment.start();
    const recipients = await environment.importContacts(RECIPIENTS[run.size]);
    environment.sink.setRules(rules);
    const campaignId = await environment.startCampaign();
    const sampler = startSampler(environment, [campaignId]);
    await waitUntil("one attempt per email", PROGRESS_TIMEOUT_MS, async () => {
      const [row] = await environment.query<{ mails: number; untried: number }>(
        `select count(*)::int as mails,
           (count(*) filter (where attempts = 0)
             + (select count(*) from recipient_batches where campaign_id = $1))::int as untried
         from emails where campaign_id = $1`,
        [campaignId],
      );
      return row !== undefined && row.mails > 0 && row.untried === 0;
    });
    const faults = await faultsOfWaiting(environment, campaignId);
    environment.sink.setRules([]);
    // The program must notice on its own that the server has recovered.
    await delay(FIRST_WAIT_MS - 5_000);
    await waitForEnd(environment, campaignId, END_TIMEOUT_MS);
    faults.push(...(await faultsOfContacts(environment)));
    return await checkCampaign(environment, campaignId, { name, recipients }, [
      ...faults,
      ...(await sampler.stop()),
    ]);
  } finally {
    await environment.close();
  }
}

/** Checks that temporarily rejected emails are waiting, spread out in time, with their attempt recorded. */
async function faultsOfWaiting(environment: Environment, campaignId: string): Promise<string[]> {
  const rows = await environment.query<{
    email: string;
    status: string;
    reason: string | null;
    waitMs: number | null;
    outcome: string | null;
  }>(
    `select e.to_address as email, e.status, e.reason, a.outcome,
       (extract(epoch from e.due_at - a.created_at) * 1000)::float8 as wait_ms
     from emails e left join email_attempts a on a.project_id = e.project_id and a.email_id = e.id and a.attempt = e.attempts
     where e.campaign_id = $1 and e.status <> 'SENT'`,
    [campaignId],
  );
  if (rows.length === 0) return ["nothing was rejected, so the case proves nothing"];
  const waits = rows.map(({ waitMs }) => waitMs ?? 0);
  return [
    ...complain(
      rows.filter(({ status }) => status !== "QUEUED").map(({ email, status }) => `${email} ${status}`),
      "temporarily rejected emails are not waiting",
    ),
    ...complain(
      rows.filter(({ reason }) => !reason).map(({ email }) => email),
      "waiting emails have no readable reason",
    ),
    ...complain(
      rows.filter(({ outcome }) => outcome !== "deferred").map(({ email, outcome }) => `${email} ${outcome}`),
      "emails have no deferred attempt recorded",
    ),
    ...complain(
      rows
        .filter(({ waitMs }) => (waitMs ?? 0) < FIRST_WAIT_MS)
        .map(({ email, waitMs }) => `${email} ${waitMs}`),
      "emails wait too short a time",
    ),
    ...(Math.max(...waits) - Math.min(...waits) < 1_000 ? ["all emails wait until the same instant"] : []),
  ];
}

/** Checks that a waiting email does not affect its contact. */
async function faultsOfContacts(environment: Environment): Promise<string[]> {
  const rows = await environment.query<{ email: string }>(
    `select c.email from contacts c where not c.subscribed
     union select c.email from contacts c join events v on v.contact_id = c.id
     where v.name in ('email.bounced', 'contact.unsubscribed')`,
  );
  return complain(
    rows.map(({ email }) => email),
    "contacts were treated as bounced",
  );
}
