// Measures every wait that the server stores: leases, retries and expiry times. A wrong unit, factor or limit fails here.
import { sql } from "kysely";
import { expect, test } from "vitest";
import { postponeEvents } from "./billing/queries.ts";
import { claimUsage, markFailed } from "./billing/usage-queries.ts";
import { insertNotices, updateFailedNotice, updateNotices } from "./deliveries/queries.ts";
import { claimDueDomains, promoteNextKey, updateCheck } from "./domains/check-queries.ts";
import { renewLease, upsertSender } from "./emails/lease/lease-queries.ts";
import { updateOutcomes } from "./emails/results/outcome-queries.ts";
import { recordAndCheck } from "./emails/submission/submission-queries.ts";
import { insertPaused, listPaused, updateTryFailed } from "./emails/throttling/throttled-queries.ts";
import { claimJob, releaseJob, updateJobFailed, updateJobStep } from "./platform/background/job-queries.ts";
import { claimDueLinkDomains, updateLinkDomainCheck } from "./link-domains/queries.ts";
import type { Tx } from "./platform/database/database.ts";
import { newId } from "./platform/ids.ts";
import { upsertInvitation } from "./projects/members/queries.ts";
import { updateTimeBasedDue } from "./segments/queries.ts";
import { claimDeliveries, updateAttempt } from "./stream/delivery-queries.ts";
import { useSampleDatabase } from "./testing/sample-database.ts";
import { RECIPIENT_CHECKS } from "./suppressions/recipients.ts";
import { HASH, id } from "./testing/sample-rows.ts";
import { placesOf } from "./testing/statement-places.ts";
import { replaceSignUpToken, replaceToken } from "./users/account-queries.ts";
import { insertChallenge } from "./users/passkeys/queries.ts";
import { claimCalls, updateAttempts } from "./webhooks/queries.ts";
import { listDueProjects, listDueProjectsOfCluster } from "./workflows/executions/execution-queries.ts";

const { undone } = useSampleDatabase();

/** The seconds from the start of the transaction to a time in a row that the work stores. */
const endpoint = { projectId: id.project, id: id.endpoint, ordered: false, batchSize: 1 };
const stored =
  (time: string, table: string, work: (tx: Tx) => Promise<unknown>, where = sql`true`) =>
  async (tx: Tx): Promise<number | undefined> => {
    await work(tx);
    const { rows } = await sql<{ seconds: number }>`
      select extract(epoch from ${sql.ref(time)} - now())::float8 as seconds from ${sql.table(table)} where ${where}`.execute(
      tx,
    );
    return rows[0]?.seconds;
  };
const job = { projectId: id.project, id: id.claimedJob };
const usage = { projectId: id.project, day: "2026-01-01", category: "workflows" as const };
const domain = { projectId: id.project, id: id.domain };
const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000);

/** Returns the wait after a Stripe event has failed this often. */
const afterFailures = (failures: number) =>
  stored("due_at", "stripe_events", async (tx) => {
    await sql`insert into stripe_events (id, type, told_at, failures) values ('e', 't', now(), ${failures})`.execute(
      tx,
    );
    await postponeEvents(tx, ["e"]);
  });
const noticeAfter = (failures: number) =>
  stored("due_at", "notices", async (tx) => {
    await sql`update notices set failures = ${failures}`.execute(tx);
    await updateFailedNotice(tx, { id: id.notice, reason: "r", maxFailures: 9, firstWaitSeconds: 10 });
  });
/** Returns how many notices are stored that claim to be from this many seconds after now. */
const storedNotices = (seconds: number) => async (tx: Tx) => {
  const notice = {
    id: newId(),
    source: "sns" as const,
    providerId: newId(),
    raw: HASH,
    sender: null,
    recipient: null,
  };
  const limits = { maxAgeSeconds: 600, maxAheadSeconds: 60 };
  return (await insertNotices(tx, [{ ...notice, toldAt: inSeconds(seconds) }], limits)).ids.size;
};
const dueWithin =
  (horizonMs: number, list = listDueProjects) =>
  async (tx: Tx) => {
    await sql`update workflow_executions set due_at = now() + interval '30 seconds' where id = ${id.due}`.execute(
      tx,
    );
    return (await list(tx, horizonMs)).length;
  };

interface Wait {
  wait: string;
  measure: (tx: Tx) => Promise<number | undefined>;
  is: number;
}

const WAITS: Wait[] = [
  {
    wait: "projects/members/queries.ts upsertInvitation",
    measure: stored("expires_at", "invitations", (tx) =>
      upsertInvitation(tx, {
        projectId: id.project,
        id: newId(),
        email: "new@shop.example",
        role: "MEMBER",
        tokenHash: HASH,
        days: 7,
        invitedBy: null,
      }),
    ),
    is: 7 * 86_400,
  },
  {
    wait: "emails/lease/lease-queries.ts upsertSender",
    measure: stored("lease_until", "senders", (tx) => upsertSender(tx, id.sender, 15)),
    is: 15,
  },
  {
    wait: "emails/lease/lease-queries.ts renewLease",
    measure: stored("lease_until", "senders", (tx) => renewLease(tx, id.sender, 15, [])),
    is: 15,
  },
  {
    wait: "emails/results/outcome-queries.ts outcomeUpdate",
    measure: stored(
      "due_at",
      "emails",
      (tx) =>
        updateOutcomes(tx, id.sender, [
          {
            projectId: id.project,
            id: id.plainMail,
            status: "QUEUED",
            reason: null,
            waitMs: 90_000,
            subject: null,
            sent: null,
          },
        ]),
      sql`id = ${id.plainMail}`,
    ),
    is: 90,
  },
  {
    wait: "emails/submission/submission-queries.ts bulkEmails",
    measure: stored(
      "due_at",
      "emails",
      (tx) =>
        undone(async (rival) => {
          await sql`select 1 from contacts where id = ${id.ada} for update`.execute(rival);
          const list = { projectId: id.project, ids: [id.bulkMail], chosenFor: null };
          const mails = { projectId: null, sent: [], plain: [], list, kept: [], watched: [] };
          return recordAndCheck(tx, id.sender, mails, RECIPIENT_CHECKS);
        }),
      sql`id = ${id.bulkMail} and status = 'QUEUED'`,
    ),
    is: 1,
  },
  {
    wait: "emails/throttling/throttled-queries.ts insertPaused",
    measure: stored(
      "try_at",
      "paused_destinations",
      async (tx) => {
        const key = { projectId: id.project, campaignId: null };
        const [row] = await listPaused(tx, key);
        if (row === undefined) throw new Error("The sample rows have a throttled domain.");
        await insertPaused(tx, key, { ...row, destination: "new.example", waitSeconds: 300 });
      },
      sql`destination = 'new.example'`,
    ),
    is: 300,
  },
  {
    wait: "emails/throttling/throttled-queries.ts updateTryFailed",
    measure: stored(
      "try_at",
      "paused_destinations",
      async (tx) => {
        const rows = await listPaused(tx, { projectId: id.project, campaignId: null });
        for (const row of rows) await updateTryFailed(tx, row, { ...row, waitSeconds: 600 });
      },
      sql`failed_tries = 1`,
    ),
    is: 600,
  },
  {
    wait: "users/account-queries.ts replaceToken",
    measure: stored("expires_at", "account_tokens", (tx) =>
      replaceToken(tx, { hash: HASH, userId: id.user, purpose: "RESET", email: "e", seconds: 3600 }),
    ),
    is: 3600,
  },
  {
    wait: "users/account-queries.ts replaceSignUpToken",
    measure: stored("expires_at", "account_tokens", async (tx) => {
      await replaceSignUpToken(tx, { hash: HASH, email: "e", seconds: 1 });
      await replaceSignUpToken(tx, { hash: Buffer.alloc(32, 1), email: "e", seconds: 3600 });
    }),
    is: 3600,
  },
  {
    wait: "users/passkeys/queries.ts insertChallenge",
    measure: stored("expires_at", "passkey_challenges", (tx) => insertChallenge(tx, HASH, id.user, 300)),
    is: 300,
  },
  {
    wait: "platform/background/job-queries.ts claimJob",
    measure: stored(
      "due_at",
      "jobs",
      (tx) => claimJob(tx, { projectId: id.project, kinds: ["test"], claimId: newId(), leaseMs: 60_000 }),
      sql`id = ${id.job}`,
    ),
    is: 60,
  },
  {
    wait: "platform/background/job-queries.ts updateJobStep",
    measure: stored(
      "due_at",
      "jobs",
      (tx) => updateJobStep(tx, job, { checkpoint: "{}", progress: 1, leaseMs: 60_000 }),
      sql`id = ${id.claimedJob}`,
    ),
    is: 60,
  },
  {
    wait: "platform/background/job-queries.ts updateJobFailed",
    measure: stored(
      "due_at",
      "jobs",
      (tx) => updateJobFailed(tx, job, { claimId: id.claim, reason: null, waitMs: 4_000 }),
      sql`id = ${id.claimedJob}`,
    ),
    is: 4,
  },
  {
    wait: "platform/background/job-queries.ts releaseJob",
    measure: stored(
      "due_at",
      "jobs",
      (tx) => releaseJob(tx, job, { claimId: id.claim, waitMs: 4_000 }),
      sql`id = ${id.claimedJob}`,
    ),
    is: 4,
  },
  {
    wait: "deliveries/queries.ts updateNotices",
    measure: stored("due_at", "notices", (tx) =>
      updateNotices(tx, [{ id: id.notice, result: null, isKept: true, waitSeconds: 45 }]),
    ),
    is: 45,
  },
  { wait: "deliveries/queries.ts updateFailedNotice", measure: noticeAfter(0), is: 10 },
  { wait: "deliveries/queries.ts updateFailedNotice", measure: noticeAfter(3), is: 80 },
  { wait: "deliveries/queries.ts insertNotices", measure: storedNotices(50), is: 1 },
  { wait: "deliveries/queries.ts insertNotices", measure: storedNotices(70), is: 0 },
  { wait: "deliveries/queries.ts insertNotices", measure: storedNotices(-590), is: 1 },
  { wait: "deliveries/queries.ts insertNotices", measure: storedNotices(-610), is: 0 },
  {
    wait: "segments/queries.ts updateTimeBasedDue",
    measure: stored(
      "compute_due_at",
      "segments",
      async (tx) => {
        await sql`
          insert into segments (project_id, id, name, type, filters, slug, track_membership, time_based)
          values (${id.project}, ${newId()}, 'n', 'DYNAMIC', '{}', 'timed', true, true)`.execute(tx);
        await updateTimeBasedDue(tx, 120_000);
      },
      sql`slug = 'timed'`,
    ),
    is: 120,
  },
  {
    wait: "domains/check-queries.ts claimDueDomains",
    measure: stored("next_check_at", "domains", async (tx) => {
      await sql`update domains set next_check_at = now()`.execute(tx);
      await claimDueDomains(tx, [domain], 30_000);
    }),
    is: 30,
  },
  {
    wait: "link-domains/queries.ts claimDueLinkDomains",
    measure: stored("next_check_at", "link_domains", async (tx) => {
      await claimDueLinkDomains(tx, [id.project], 30_000);
    }),
    is: 30,
  },
  {
    wait: "link-domains/queries.ts updateLinkDomainCheck",
    measure: stored("next_check_at", "link_domains", (tx) =>
      updateLinkDomainCheck(
        tx,
        { projectId: id.project, domain: "go.shop.example" },
        {
          status: "PENDING",
          failedChecks: 0,
          failedAt: null,
          problem: null,
          problemDetail: null,
          hasChanged: false,
          nextCheckMs: 300_000,
        },
      ),
    ),
    is: 300,
  },
  {
    wait: "domains/check-queries.ts updateCheck",
    measure: stored("next_check_at", "domains", (tx) =>
      updateCheck(tx, domain, {
        status: "PENDING",
        hasChanged: false,
        failedChecks: 0,
        failedAt: null,
        dnsFound: {} as never,
        dnsLookups: {} as never,
        ed25519Published: false,
        checkProblem: null,
        nextCheckMs: 300_000,
      }),
    ),
    is: 300,
  },
  {
    wait: "domains/check-queries.ts promoteNextKey",
    measure: stored("second_dkim_until", "domains", async (tx) => {
      await sql`
        update domains set second_dkim_selector = 'n', second_dkim_public_key = 'k', second_dkim_private_key = ${HASH}`.execute(
        tx,
      );
      await promoteNextKey(tx, domain, 7_000);
    }),
    is: 7,
  },
  { wait: "workflows/executions/execution-queries.ts listDueProjects", measure: dueWithin(31_000), is: 1 },
  { wait: "workflows/executions/execution-queries.ts listDueProjects", measure: dueWithin(29_000), is: 0 },
  {
    wait: "workflows/executions/execution-queries.ts listDueProjectsOfCluster",
    measure: dueWithin(31_000, listDueProjectsOfCluster),
    is: 1,
  },
  {
    wait: "workflows/executions/execution-queries.ts listDueProjectsOfCluster",
    measure: dueWithin(29_000, listDueProjectsOfCluster),
    is: 0,
  },
  {
    wait: "billing/usage-queries.ts claimUsage",
    measure: stored("due_at", "billing_usage", (tx) =>
      claimUsage(tx, id.project, { seconds: 60, limit: 10 }),
    ),
    is: 60,
  },
  {
    wait: "billing/usage-queries.ts markFailed",
    measure: stored("due_at", "billing_usage", (tx) =>
      markFailed(tx, usage, { error: "e", isClosed: true, waitSeconds: 240 }),
    ),
    is: 240,
  },
  { wait: "billing/queries.ts postponeEvents", measure: afterFailures(0), is: 5 },
  { wait: "billing/queries.ts postponeEvents", measure: afterFailures(3), is: 40 },
  { wait: "billing/queries.ts postponeEvents", measure: afterFailures(50), is: 3600 },
  {
    wait: "stream/delivery-queries.ts claimDeliveries",
    measure: stored("due_at", "event_deliveries", (tx) =>
      claimDeliveries(tx, endpoint, { claimId: newId(), calls: 10, leaseSeconds: 75, mostBytes: 1_000 }),
    ),
    is: 75,
  },
  {
    wait: "stream/delivery-queries.ts updateAttempt",
    measure: stored("due_at", "event_deliveries", (tx) =>
      updateAttempt(
        tx,
        {
          projectId: id.project,
          endpointId: id.endpoint,
          ids: [id.delivery],
          claimId: id.claim,
          waitSeconds: 20,
          status: 500,
          body: null,
          error: "e",
          durationMs: 1,
        },
        3,
      ),
    ),
    is: 20,
  },
  {
    wait: "webhooks/queries.ts claimCalls",
    measure: stored("due_at", "webhook_calls", (tx) =>
      claimCalls(tx, { projectId: id.project, claimId: newId(), limit: 10, leaseSeconds: 75 }),
    ),
    is: 75,
  },
  {
    wait: "webhooks/queries.ts updateAttempts",
    measure: stored("due_at", "webhook_calls", async (tx) => {
      const claimId = newId();
      await claimCalls(tx, { projectId: id.project, claimId, limit: 10, leaseSeconds: 75 });
      const ended = { status: 500, body: null, isCut: false, error: null };
      await updateAttempts(tx, [
        { projectId: id.project, id: id.call, claimId, state: "waiting", waitSeconds: 20, ...ended },
      ]);
    }),
    is: 20,
  },
];

const WAIT = /\bnow(?:\(\))? \+ (?:make_interval|interval)/g;
/** Matches that are no waits. */
const OTHERS: Readonly<Record<string, string>> = {
  "events/name-count-queries.ts MONTHS": "the last month of a list",
};

test.each(WAITS)("$wait is $is", async ({ measure, is }) => {
  expect(await undone(measure)).toBeCloseTo(is, 3);
});

test("measures every wait that a statement stores", () => {
  const found = new Set(placesOf(WAIT));
  const covered = new Set([...WAITS.map(({ wait }) => wait), ...Object.keys(OTHERS)]);
  expect([...found].filter((wait) => !covered.has(wait))).toEqual([]);
  expect([...covered].filter((wait) => !found.has(wait))).toEqual([]);
});
