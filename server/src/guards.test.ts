// Calls statements in the states that they must leave alone: a lost claim, an older version, a second time, held, removed or disabled.
import { sql, type RawBuilder } from "kysely";
import { expect, test } from "vitest";
import {
  findCustomer,
  insertCustomer,
  insertEvent,
  recordCheckout,
  updateSubscription,
} from "./billing/queries.ts";
import { claimUsage, listDueUsage, markInDoubt } from "./billing/usage-queries.ts";
import { lockHead } from "./contacts/consent-chain/queries.ts";
import { CONTACT_CHECKS } from "./contacts/recipients.ts";
import { claimNotices, updateFailedNotice } from "./deliveries/queries.ts";
import { claimDueDomains, deleteFormerKey } from "./domains/check-queries.ts";
import {
  claimDueLinkDomains,
  endLinkDomain,
  findLinkDomain,
  updateLinkDomainCheck,
  upsertLinkDomain,
} from "./link-domains/queries.ts";
import { deleteSender } from "./emails/lease/lease-queries.ts";
import { updateResolved } from "./emails/reading/resolve-queries.ts";
import { updateOutcomes } from "./emails/results/outcome-queries.ts";
import { claimBatch, claimEmails } from "./emails/sending/sender-queries.ts";
import { recordAndCheck } from "./emails/submission/submission-queries.ts";
import {
  claimTry,
  deferEmails,
  deleteReleased,
  insertPaused,
  listPaused,
  updateNotified,
  updateReleased,
  type PausedRow,
} from "./emails/throttling/throttled-queries.ts";
import {
  claimJob,
  findClaimedForUpdate,
  releaseJob,
  updateJobCompleted,
  updateJobFailed,
} from "./platform/background/job-queries.ts";
import type { Tx } from "./platform/database/database.ts";
import { newId } from "./platform/ids.ts";
import { takeOutboxEvents } from "./reactions/queries.ts";
import { lockDueSegment, updateAllDue, updateTimeBasedDue } from "./segments/queries.ts";
import { useSampleDatabase } from "./testing/sample-database.ts";
import { RECIPIENT_CHECKS } from "./suppressions/recipients.ts";
import { HASH, id } from "./testing/sample-rows.ts";
import { isPasswordCurrent } from "./users/account-queries.ts";
import { holdsSession } from "./users/queries.ts";
import { claimCalls, updateAttempts, updateCallsToHeld } from "./webhooks/queries.ts";
import { findSecrets, insertSecret, upsertSecret } from "./webhooks/secret-queries.ts";
import { claimScheduled, findEnterableForShare } from "./workflows/executions/entry-queries.ts";
import { claimDueExecutions, listDueProjects } from "./workflows/executions/execution-queries.ts";
import {
  takeHeldSchedules,
  updateExecutionsToDropped,
  updateExecutionsToHeld,
  updateExecutionsToReleased,
  updateSchedulesToHeld,
  updateSchedulesToReleased,
} from "./workflows/executions/held-queries.ts";

const { undone } = useSampleDatabase();

const { project } = id;
const bulk = { projectId: project, campaignId: null };
const job = { projectId: project, id: id.claimedJob };
const domain = { projectId: project, id: id.domain };
const claimed = { senderId: id.sender, projectId: project, limit: 10, withoutDomains: [] };

const run = (tx: Tx, statement: RawBuilder<unknown>) => statement.execute(tx);
/** Returns the only row of a statement. */
async function read(tx: Tx, statement: RawBuilder<unknown>): Promise<unknown> {
  const { rows } = await statement.execute(tx);
  expect(rows.length).toBeLessThanOrEqual(1);
  return rows[0];
}
const idsOf = (rows: ReadonlyArray<{ id: string }>) => rows.map((row) => row.id);

async function throttled(tx: Tx): Promise<PausedRow> {
  const row = (await listPaused(tx, bulk)).find(({ destination }) => destination === "shop.example");
  if (row === undefined) throw new Error("The sample rows have a throttled domain.");
  return row;
}
/** Throttles the domain of a row again. */
const pause = (tx: Tx, row: PausedRow) => insertPaused(tx, bulk, { ...row, waitSeconds: 60 });
const stateOf = (tx: Tx) =>
  read(
    tx,
    sql`select failed_tries as tries, answer as reply from paused_destinations where destination = 'shop.example'`,
  );
const claimCampaign = (tx: Tx) => claimEmails(tx, { ...claimed, campaignId: id.campaign, priority: 3 });
const check = async (tx: Tx, wanted: object) => [
  ...(await recordAndCheck(
    tx,
    id.sender,
    { projectId: null, sent: [], plain: [], list: undefined, kept: [], watched: [], ...wanted },
    RECIPIENT_CHECKS,
  )),
];
const passPlain = (tx: Tx) => check(tx, { plain: [{ projectId: project, id: id.plainMail }] });
const passBulk = (tx: Tx) => check(tx, { list: { projectId: project, ids: [id.bulkMail] } });
const attemptOf = (claimId: string, state: "waiting" | "done") => ({
  projectId: project,
  id: id.call,
  claimId,
  state,
  waitSeconds: 5,
  status: 200,
  body: null,
  isCut: false,
  error: null,
});
const claimCall = async (tx: Tx): Promise<string> => {
  const claimId = newId();
  await claimCalls(tx, { projectId: project, claimId, limit: 10, leaseSeconds: 60 });
  return claimId;
};
const failed = (mailId: string) => ({
  projectId: project,
  id: mailId,
  status: "FAILED" as const,
  reason: null,
  waitMs: 0,
  subject: null,
  sent: null,
});
const retry = (tx: Tx) =>
  updateResolved(
    tx,
    { projectId: project, campaignId: null, ids: [id.doubtful] },
    { as: "retry", by: null, failedReason: "r" },
    10,
  );
const schedule = sql`update workflows set trigger_type = 'SCHEDULE', next_run_at = now() + interval '1 hour'`;
const scheduleRow = sql`
  select next_run_at is not null as next, held_run_at is not null as held from workflows`;
const executionRow = (executionId: string) => sql`
  select waits_for, exit_reason as reason, due_at::text as due from workflow_executions where id = ${executionId}`;
const running = { id: "sub_1", status: "active" } as never;

interface Guard {
  promise: string;
  work: (tx: Tx) => Promise<unknown>;
  is: unknown;
}

const GUARDS: Guard[] = [
  {
    promise: "a reply of Stripe that was read before a newer one changes nothing",
    work: async (tx) => {
      const known = await findCustomer(tx, project);
      if (known === undefined) throw new Error("The sample rows have a customer.");
      const results = [
        await updateSubscription(tx, known, running, true),
        await updateSubscription(tx, known, null, false),
      ];
      return [...results, (await findCustomer(tx, project))?.subscriptionStatus];
    },
    is: [true, false, "active"],
  },
  {
    promise: "a checkout makes a reply of Stripe that was read before it outdated",
    work: async (tx) => {
      const known = await findCustomer(tx, project);
      if (known === undefined) throw new Error("The sample rows have a customer.");
      await recordCheckout(tx, project);
      return updateSubscription(tx, known, running, true);
    },
    is: false,
  },
  {
    promise: "a disabled project gets no checkout",
    work: async (tx) => {
      await run(tx, sql`update projects set disabled = true`);
      return recordCheckout(tx, project);
    },
    is: false,
  },
  {
    promise: "a project keeps its first customer",
    work: (tx) => insertCustomer(tx, project, "cus_other"),
    is: "cus",
  },
  {
    promise: "an event of Stripe is stored once, and stays done when it is sent again",
    work: async (tx) => {
      const event = { id: "evt", type: "t", customerId: "cus", toldAt: new Date() };
      await insertEvent(tx, event);
      await run(tx, sql`update stripe_events set done_at = now()`);
      await insertEvent(tx, event);
      return read(tx, sql`select done_at is not null as done from stripe_events`);
    },
    is: { done: true },
  },
  {
    promise: "usage that is reported or in doubt is not reported again",
    work: async (tx) => {
      await run(tx, sql`update billing_usage set reported_at = now()`);
      const reported = [await listDueUsage(tx, 5), await claimUsage(tx, project, { seconds: 1, limit: 5 })];
      await run(tx, sql`update billing_usage set reported_at = null, in_doubt = true`);
      return [reported, await listDueUsage(tx, 5), await claimUsage(tx, project, { seconds: 1, limit: 5 })];
    },
    is: [[[], []], [], []],
  },
  {
    promise: "usage is in doubt only after it was open for the whole time",
    work: async (tx) => {
      await run(tx, sql`update billing_usage set open_since = now() - interval '19 hours'`);
      const early = await markInDoubt(tx, 20);
      await run(tx, sql`update billing_usage set open_since = now() - interval '21 hours'`);
      return [early.length, (await markInDoubt(tx, 20)).length, (await markInDoubt(tx, 20)).length];
    },
    is: [0, 1, 0],
  },
  {
    promise: "a webhook secret of any age signs for a day after its rotation, and no longer",
    work: async (tx) => {
      const [old, young] = [Buffer.from("old"), Buffer.from("young")];
      const former = async () => (await findSecrets(tx, project, 24))?.formerSealed?.toString() ?? null;
      const age = (hours: number) =>
        run(tx, sql`update webhook_secrets set made_at = now() - make_interval(hours => ${hours}::integer)`);
      await insertSecret(tx, project, old);
      await age(1_000);
      await upsertSecret(tx, project, young);
      const seen = [await former()];
      for (const hours of [23, 25]) {
        await age(hours);
        seen.push(await former());
      }
      return seen;
    },
    is: ["old", "old", null],
  },
  {
    promise: "members are notified once of a throttled domain",
    work: async (tx) => {
      const row = await throttled(tx);
      return [await updateNotified(tx, row), await updateNotified(tx, row)];
    },
    is: [true, false],
  },
  {
    promise: "a throttled domain keeps its tests when email is rejected again",
    work: async (tx) => {
      const row = await throttled(tx);
      await run(tx, sql`update paused_destinations set failed_tries = 3, answer = 'first'`);
      return [await pause(tx, row), await stateOf(tx)];
    },
    is: [true, { tries: 3, reply: "first" }],
  },
  {
    promise: "a released domain starts its tests again when it is throttled again",
    work: async (tx) => {
      const row = await throttled(tx);
      await run(tx, sql`update paused_destinations set failed_tries = 3, answer = 'first'`);
      const released = await updateReleased(tx, bulk, "shop.example");
      const again = await updateReleased(tx, bulk, "shop.example");
      await pause(tx, row);
      return [released, again, await stateOf(tx)];
    },
    is: [["shop.example"], [], { tries: 0, reply: "421" }],
  },
  {
    promise: "no email is deferred for a released domain",
    work: async (tx) => {
      const row = await throttled(tx);
      await updateReleased(tx, bulk, null);
      return [await deferEmails(tx, row, 10), await claimTry(tx, row)];
    },
    is: [0, false],
  },
  {
    promise: "a released domain stays while email is deferred for it",
    work: async (tx) => {
      const row = await throttled(tx);
      const deferred = await deferEmails(tx, row, 10);
      await updateReleased(tx, bulk, "shop.example");
      await deleteReleased(tx, row);
      const kept = await read(
        tx,
        sql`select destination from paused_destinations where released_at is not null`,
      );
      return [deferred, kept];
    },
    is: [1, { destination: "shop.example" }],
  },
  {
    promise: "a throttled domain is tested when it is due and no test is running",
    work: async (tx) => {
      const row = await throttled(tx);
      const states = [
        sql`try_at = now() + interval '1 minute'`,
        sql`try_at = now(), trial_ids = ${[id.ended]}::uuid[]`,
        sql`trial_ids = '{}'`,
      ];
      const claims = [];
      for (const state of states) {
        await run(tx, sql`update paused_destinations set ${state} where destination = 'shop.example'`);
        claims.push(await claimTry(tx, row));
      }
      return claims;
    },
    is: [false, false, true],
  },
  {
    promise: "a sender with claimed email stays registered",
    work: async (tx) => {
      await deleteSender(tx, id.sender);
      const kept = await read(tx, sql`select id from senders`);
      await run(tx, sql`update emails set status = 'QUEUED' where status = 'CLAIMED'`);
      await deleteSender(tx, id.sender);
      return [kept, await read(tx, sql`select id from senders`)];
    },
    is: [{ id: id.sender }, undefined],
  },
  {
    promise: "a sender that was declared dead claims nothing",
    work: async (tx) => {
      await run(tx, sql`delete from senders`);
      const batch = { ...claimed, campaignId: id.campaign, contactsThere: CONTACT_CHECKS.contactsThere };
      return [await claimCampaign(tx), await claimBatch(tx, batch)];
    },
    is: [[], []],
  },
  {
    promise: "email that is due later is not claimed",
    work: async (tx) => {
      await run(tx, sql`update emails set due_at = now() + interval '1 second'`);
      return claimCampaign(tx);
    },
    is: [],
  },
  ...[
    { what: "the project is disabled", state: sql`update project_queues set is_open = false` },
    {
      what: "the lease has expired",
      state: sql`update senders set lease_until = now() - interval '1 second'`,
    },
    { what: "another sender holds it", state: sql`update emails set sender_id = ${newId()}` },
    { what: "it was queued again", state: sql`update emails set status = 'QUEUED'` },
    {
      what: "its campaign is paused",
      state: sql`with paused as (update campaign_queues set state = 'PAUSED') update emails set campaign_id = ${id.campaign}`,
    },
  ].map(({ what, state }) => ({
    promise: `email does not pass the pre-send check if ${what}`,
    work: async (tx: Tx) => {
      const before = [(await passPlain(tx)).length, (await passBulk(tx)).length];
      await run(tx, state);
      return [before, await passPlain(tx), await passBulk(tx)];
    },
    is: [[1, 1], [], []],
  })),
  {
    promise: "bulk email to a contact that unsubscribed is skipped",
    work: async (tx) => {
      await run(tx, sql`update contacts set subscribed = false`);
      return passBulk(tx);
    },
    is: [[id.bulkMail, "skipped"]],
  },
  {
    promise: "a sender records results only of email that it holds, and once",
    work: async (tx) => {
      const strange = await updateOutcomes(tx, newId(), [failed(id.plainMail)]);
      const own = await updateOutcomes(tx, id.sender, [failed(id.plainMail)]);
      const again = await updateOutcomes(tx, id.sender, [failed(id.plainMail)]);
      return [strange.length, own.length, again.length];
    },
    is: [0, 1, 0],
  },
  {
    promise: "email whose recipient was erased is not retried",
    work: async (tx) => {
      await run(tx, sql`update emails set to_address = ''`);
      return retry(tx);
    },
    is: [],
  },
  {
    promise: "only email in doubt is resolved",
    work: async (tx) => [await retry(tx), await retry(tx)],
    is: [[id.doubtful], []],
  },
  {
    promise: "a job that another process claimed is neither continued, failed nor released",
    work: async (tx) => {
      const claimId = newId();
      await releaseJob(tx, job, { claimId, waitMs: 0 });
      return [
        await findClaimedForUpdate(tx, job, claimId),
        await updateJobFailed(tx, job, { claimId, reason: "r", waitMs: 0 }),
        (await findClaimedForUpdate(tx, job, id.claim))?.failures,
      ];
    },
    is: [undefined, undefined, 0],
  },
  {
    promise: "a job that has ended is neither claimed nor continued",
    work: async (tx) => {
      await updateJobCompleted(tx, job, "{}");
      const claims = { projectId: project, kinds: ["import"], claimId: newId(), leaseMs: 1 };
      return [await claimJob(tx, claims), await findClaimedForUpdate(tx, job, id.claim)];
    },
    is: [undefined, undefined],
  },
  {
    promise: "a failed job counts its failures, keeps its reason and releases its claim",
    work: async (tx) => {
      await updateJobFailed(tx, job, { claimId: id.claim, reason: null, waitMs: 0 });
      const row = sql`select state, failures, claim_id, failed_reason, finished_at is null as open from jobs where id = ${job.id}`;
      const waiting = await read(tx, row);
      await run(tx, sql`update jobs set claim_id = ${id.claim}`);
      await updateJobFailed(tx, job, { claimId: id.claim, reason: "r", waitMs: 0 });
      return [waiting, await read(tx, row)];
    },
    is: [
      { state: "active", failures: 1, claimId: null, failedReason: null, open: true },
      { state: "failed", failures: 2, claimId: null, failedReason: "r", open: false },
    ],
  },
  {
    promise: "a result of a webhook call counts only for the claim that made it, and once",
    work: async (tx) => {
      const claimId = await claimCall(tx);
      const strange = await updateAttempts(tx, [attemptOf(newId(), "done")]);
      const own = await updateAttempts(tx, [attemptOf(claimId, "done")]);
      const again = await updateAttempts(tx, [attemptOf(claimId, "waiting")]);
      return [strange.length, own.length, again.length];
    },
    is: [0, 1, 0],
  },
  {
    promise: "a call that was held while it ran discards its result",
    work: async (tx) => {
      const claimId = await claimCall(tx);
      await updateCallsToHeld(tx);
      const results = await updateAttempts(tx, [attemptOf(claimId, "done")]);
      await claimCall(tx);
      return [
        results,
        await read(tx, sql`select state, due_at = 'infinity' as held, claim_id from webhook_calls`),
      ];
    },
    is: [[], { state: "waiting", held: true, claimId: null }],
  },
  {
    promise: "a notice that is done does not fail",
    work: async (tx) => {
      await run(tx, sql`update notices set done_at = now(), result = 'taken'`);
      await updateFailedNotice(tx, { id: id.notice, reason: "r", maxFailures: 2, firstWaitSeconds: 1 });
      return [
        await claimNotices(tx, "sns", { limit: 5, mostBytes: 1 }, null),
        await read(tx, sql`select failures, result from notices`),
      ];
    },
    is: [[], { failures: 0, result: "taken" }],
  },
  {
    promise: "a notice ends with its last failure and keeps its content",
    work: async (tx) => {
      const states = [];
      for (let failure = 1; failure <= 2; failure++) {
        await updateFailedNotice(tx, { id: id.notice, reason: "r", maxFailures: 2, firstWaitSeconds: 1 });
        states.push(
          await read(
            tx,
            sql`select failures, done_at is not null as done, raw is not null as kept from notices`,
          ),
        );
      }
      return states;
    },
    is: [
      { failures: 1, done: false, kept: true },
      { failures: 2, done: true, kept: true },
    ],
  },
  {
    promise: "an execution that is held waits for no event and is not due",
    work: async (tx) => {
      await run(tx, sql`update workflow_executions set waits_for = 'paid' where id = ${id.waiting}`);
      await updateExecutionsToHeld(tx, "restored");
      await updateExecutionsToHeld(tx, "restored again");
      return [
        await read(tx, executionRow(id.waiting)),
        await read(tx, executionRow(id.failed)),
        await claimDueExecutions(tx, project, { limit: 10 }),
      ];
    },
    is: [
      { waitsFor: null, reason: "restored", due: "infinity" },
      { waitsFor: null, reason: null, due: null },
      [],
    ],
  },
  {
    promise: "a release continues only executions that are held, and a drop gives them a reason to end",
    work: async (tx) => {
      const dueAndReason = sql`
        select count(*) filter (where due_at <= now()) as due, count(exit_reason) as ending from workflow_executions`;
      await updateExecutionsToReleased(tx, null);
      await updateExecutionsToDropped(tx, null, "dropped");
      const before = await read(tx, dueAndReason);
      await updateExecutionsToHeld(tx, "restored");
      await updateExecutionsToDropped(tx, newId(), "dropped");
      const others = await read(tx, dueAndReason);
      await updateExecutionsToDropped(tx, project, "dropped");
      const dropped = await read(tx, dueAndReason);
      return [before, others, dropped];
    },
    is: [
      { due: 1, ending: 0 },
      { due: 0, ending: 3 },
      { due: 3, ending: 3 },
    ],
  },
  {
    promise: "a held schedule runs again after its release",
    work: async (tx) => {
      await run(tx, schedule);
      await updateSchedulesToHeld(tx);
      const held = await read(tx, scheduleRow);
      await updateSchedulesToReleased(tx, project);
      return [held, await read(tx, scheduleRow)];
    },
    is: [
      { next: false, held: true },
      { next: true, held: false },
    ],
  },
  ...[
    { what: "was disabled", change: sql`update workflows set enabled = false` },
    { what: "has another trigger", change: sql`update workflows set trigger_type = 'EVENT'` },
  ].map(({ what, change }) => ({
    promise: `a held schedule does not run again if the workflow ${what} since`,
    work: async (tx: Tx) => {
      await run(tx, schedule);
      await updateSchedulesToHeld(tx);
      await run(tx, change);
      await run(tx, sql`savepoint before_release`);
      await updateSchedulesToReleased(tx, null);
      const released = await read(tx, scheduleRow);
      await run(tx, sql`rollback to savepoint before_release`);
      return [released, (await takeHeldSchedules(tx, null)).map(({ isDue }) => isDue)];
    },
    is: [{ next: false, held: false }, [false]],
  })),
  {
    promise: "a schedule that was set while it was held keeps its new time",
    work: async (tx) => {
      await run(tx, schedule);
      await updateSchedulesToHeld(tx);
      await run(tx, sql`update workflows set next_run_at = now() + interval '9 hours'`);
      await updateSchedulesToReleased(tx, null);
      return read(tx, sql`select extract(hours from next_run_at - now())::integer as hours from workflows`);
    },
    is: { hours: 9 },
  },
  {
    promise: "a disabled workflow starts no execution",
    work: async (tx) => {
      await run(tx, sql`update workflows set enabled = false`);
      return findEnterableForShare(tx, project, { ids: [id.workflow] });
    },
    is: [],
  },
  {
    promise: "a disabled project runs no schedule and no execution",
    work: async (tx) => {
      const before = [(await claimScheduled(tx, 5)).length, (await listDueProjects(tx, 0)).length];
      await run(tx, sql`update projects set disabled = true`);
      return [before, await claimScheduled(tx, 5), await listDueProjects(tx, 0)];
    },
    is: [[1, 1], [], []],
  },
  {
    promise: "a project that is being removed gets no further checkpoints",
    work: async (tx) => {
      await run(
        tx,
        sql`update projects set disabled = true, removal = 'DELETE', removal_job = ${newId()} where id = ${project}`,
      );
      return lockHead(tx, project, HASH);
    },
    is: undefined,
  },
  {
    promise: "a domain is checked by one process when it is due",
    work: async (tx) => {
      await run(tx, sql`update domains set next_check_at = now()`);
      return [
        (await claimDueDomains(tx, [domain], 1_000)).length,
        await claimDueDomains(tx, [domain], 1_000),
      ];
    },
    is: [1, []],
  },
  {
    promise: "a link domain is checked by one process at a time",
    work: async (tx) => {
      const claim = () => claimDueLinkDomains(tx, [id.project], 1_000);
      return [await claim(), await claim()];
    },
    is: [[id.project], []],
  },
  {
    promise: "a check of a link domain changes nothing after another one replaced it",
    work: async (tx) => {
      await endLinkDomain(tx, id.project, "other.example");
      await upsertLinkDomain(tx, id.project, "other.example");
      const state = { status: "ACTIVE", failedChecks: 0, failedAt: null } as const;
      const result = { ...state, problem: null, problemDetail: null, hasChanged: true, nextCheckMs: 1 };
      const checked = { projectId: id.project, domain: "go.shop.example" };
      return [
        await updateLinkDomainCheck(tx, checked, result),
        (await findLinkDomain(tx, id.project))?.status,
      ];
    },
    is: [false, "PENDING"],
  },
  {
    promise: "a former DKIM key stays published until its time",
    work: async (tx) => {
      const keep = (until: RawBuilder<unknown>) =>
        run(
          tx,
          sql`update domains set second_dkim_selector = 's', second_dkim_public_key = 'k', second_dkim_until = ${until}`,
        );
      const kept = [];
      for (const until of [sql`now() + interval '1 second'`, sql`now()`]) {
        await keep(until);
        await deleteFormerKey(tx, domain);
        kept.push(await read(tx, sql`select second_dkim_selector as selector from domains`));
      }
      return kept;
    },
    is: [{ selector: "s" }, { selector: null }],
  },
  {
    promise: "a segment is computed when it is due, and a request does not delay it",
    work: async (tx) => {
      const due = async () => (await lockDueSegment(tx, project, id.tracked)) !== undefined;
      await run(tx, sql`update segments set compute_due_at = compute_due_at - interval '1 hour'`);
      await updateAllDue(tx, [project]);
      const early = await read(
        tx,
        sql`select compute_due_at < now() as early from segments where id = ${id.tracked}`,
      );
      await run(tx, sql`update segments set compute_due_at = now() + interval '1 second'`);
      const later = await due();
      await updateAllDue(tx, [project]);
      return [early, later, await due()];
    },
    is: [{ early: true }, false, true],
  },
  {
    promise: "a segment with time conditions keeps an earlier time",
    work: async (tx) => {
      await run(tx, sql`update segments set time_based = true`);
      await updateTimeBasedDue(tx, 60_000);
      return read(tx, sql`select compute_due_at <= now() as early from segments where id = ${id.tracked}`);
    },
    is: { early: true },
  },
  {
    promise: "an outbox event is taken once, by its own subscriber",
    work: async (tx) => [
      await takeOutboxEvents(tx, project, "other", 5),
      idsOf(await takeOutboxEvents(tx, project, "test", 5)),
      await takeOutboxEvents(tx, project, "test", 5),
    ],
    is: [[], [id.outboxEvent], []],
  },
  {
    promise: "a session is valid for its own user until it expires or is idle for too long",
    work: async (tx) => {
      const valid = [
        await holdsSession(tx, id.user, id.session),
        await holdsSession(tx, newId(), id.session),
      ];
      await run(tx, sql`update sessions set last_used_at = now() - interval '10 years'`);
      valid.push(await holdsSession(tx, id.user, id.session));
      await run(tx, sql`update sessions set last_used_at = now(), expires_at = now()`);
      valid.push(await holdsSession(tx, id.user, id.session));
      return valid;
    },
    is: [true, false, false, false],
  },
  {
    promise: "a password that was changed meanwhile is no longer current",
    work: async (tx) => [
      await isPasswordCurrent(tx, id.user, "hash"),
      await isPasswordCurrent(tx, id.user, "older"),
    ],
    is: [true, false],
  },
];

test.each(GUARDS)("$promise", async ({ work, is }) => {
  expect(await undone(work)).toEqual(is);
});
