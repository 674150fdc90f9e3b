// Collides two connections at every row lock and advisory lock of the server. A statement that loses its lock fails here.
import { sql, type RawBuilder } from "kysely";
import { Pool } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { lockHeads } from "./audit/queries.ts";
import { lockCapsRow } from "./billing/caps-queries.ts";
import { findCampaignForUpdate } from "./campaigns/queries.ts";
import { recordCheckout } from "./billing/queries.ts";
import { claimUsage } from "./billing/usage-queries.ts";
import { lockCheckpointed, lockHead } from "./contacts/consent-chain/queries.ts";
import { redactChangesOf } from "./contacts/deletion-queries.ts";
import { lockContactsWithKey } from "./contacts/fields/queries.ts";
import { lockHolders } from "./contacts/opt-out-queries.ts";
import { findContactForUpdate, lockContactOf, lockContacts } from "./contacts/queries.ts";
import { subscribedHeld } from "./contacts/recipient-queries.ts";
import { CONTACT_CHECKS } from "./contacts/recipients.ts";
import { lockImported } from "./contacts/repeated-opt-out-queries.ts";
import { claimNotices } from "./deliveries/queries.ts";
import { lockDomain, lockDomainName, lockProjectDomains } from "./domains/queries.ts";
import { lockLinkDomainName } from "./link-domains/queries.ts";
import { livingSender } from "./emails/lease/lease-queries.ts";
import { skipBatches, takeOutRecipients } from "./emails/outbox/batch-queries.ts";
import { skipCampaignEmails } from "./emails/outbox/campaign-queries.ts";
import { eraseRecipients } from "./emails/outbox/erase-queries.ts";
import { updateResolved } from "./emails/reading/resolve-queries.ts";
import { lockEnded, lockRetention } from "./emails/retention/retention-queries.ts";
import { updateLateSent } from "./emails/results/late-queries.ts";
import { lockEmailRows } from "./emails/rows/lock-queries.ts";
import { acceptedOutcome } from "./testing/accepted-outcome.ts";
import { claimBatch, claimEmails } from "./emails/sending/sender-queries.ts";
import { recordAndCheck } from "./emails/submission/submission-queries.ts";
import { claimTry, deferEmails, findTrial, type PausedRow } from "./emails/throttling/throttled-queries.ts";
import { claimDeliveries, lockEndpointProgress, updateAttempt } from "./stream/delivery-queries.ts";
import { lockEndpoint } from "./stream/replay-queries.ts";
import { insertNumbered, lockStream, redactLogOf } from "./stream/log-queries.ts";
import { lockPosition } from "./events/count-queries.ts";
import { lockBootstrap } from "./instance/queries.ts";
import { claimJob, findClaimedForUpdate } from "./platform/background/job-queries.ts";
import { createDatabase, transaction, type Database, type Tx } from "./platform/database/database.ts";
import { migrate } from "./platform/database/migrations.ts";
import { createTestDatabase, type TestDatabase } from "./platform/database/test-database.ts";
import { newId } from "./platform/ids.ts";
import { lockStamp } from "./platform/stamp/stamp-queries.ts";
import { countOwnedProjects, lockProject } from "./projects/queries.ts";
import { updateLastUsed } from "./projects/scoped-keys/queries.ts";
import { lockSubscriptions, takeOutboxEvents } from "./reactions/queries.ts";
import { deleteOldRequests } from "./requests/queries.ts";
import { countStoredMembers, lockSegmentsOf } from "./segments/member-queries.ts";
import { findSegmentForUpdate, lockDueSegment, lockTrackedSegments } from "./segments/queries.ts";
import { RECIPIENT_CHECKS } from "./suppressions/recipients.ts";
import { findTemplateForUpdate } from "./templates/queries.ts";
import { ADA, addSampleRows, HASH, id, undone } from "./testing/sample-rows.ts";
import { placesOf } from "./testing/statement-places.ts";
import { isPasswordCurrent, lockUser } from "./users/account-queries.ts";
import { holdsSession } from "./users/queries.ts";
import { lockFactor } from "./users/second-factor/queries.ts";
import { claimCalls } from "./webhooks/queries.ts";
import {
  claimDueDates,
  lockDatedContacts,
  lockDatedWorkflows,
  lockValuesUnlessLocked,
} from "./workflows/dates/date-queries.ts";
import { lockExecutionRowsOf } from "./workflows/executions/contact-queries.ts";
import {
  claimScheduled,
  claimScheduledOfCluster,
  findEnterableForShare,
} from "./workflows/executions/entry-queries.ts";
import { claimDueExecutions } from "./workflows/executions/execution-queries.ts";
import { claimLeavingExecutions } from "./workflows/executions/exit-queries.ts";
import {
  cancelExecutionRows,
  listFailedForUpdate,
  lockCancelMark,
} from "./workflows/executions/list-queries.ts";
import { lockCurrentVersion, lockMovable, lockMovedBy } from "./workflows/executions/move-queries.ts";
import {
  lockPause,
  lockPausesUnlessLocked,
  updateToPausedUnlessLocked,
} from "./workflows/executions/pause-queries.ts";
import { lockFirstEmails } from "./workflows/executions/public-key-queries.ts";
import { lockVersion, lockWorkflow, lockWorkflowToDelete } from "./workflows/queries.ts";
import { lockSegments, lockTemplates } from "./workflows/reference-queries.ts";
import { listVersionsToSeal } from "./workflows/seal-queries.ts";

let testDatabase: TestDatabase;
let database: Database;

const paused: { deferring?: PausedRow; tested?: PausedRow } = {};
const FOR_TEST = "a reason of this test";
const MOVABLE = {
  workflowId: id.workflow,
  version: 2,
  selection: { stepIds: null, versions: null, executionIds: null },
};

/** A row as a table and a condition. */
type Row = [table: string, where: RawBuilder<unknown>];

const rowOf = (table: string, rowId: string): Row => [table, sql`id = ${rowId}`];
const ofProject = (table: string): Row => [table, sql`project_id = ${id.project}`];

/** The weakest lock that collides with each lock, and the strongest that does not. */
const STRENGTHS = {
  update: { collides: "key share", passes: null },
  "no key update": { collides: "share", passes: "key share" },
  share: { collides: "no key update", passes: "share" },
  "key share": { collides: "update", passes: "no key update" },
} as const;

interface Holding {
  lock: string;
  row: Row;
  strength: keyof typeof STRENGTHS;
  take: (tx: Tx) => Promise<unknown>;
}

/** A function that skips rows that another transaction has locked. */
interface Skipping {
  lock: string;
  row: Row;
  /** Returns a list that is empty if the row was skipped. */
  claim: (tx: Tx) => Promise<ReadonlyArray<unknown>>;
}

interface Waiting {
  lock: string;
  /** Commits after `second` has begun to wait for it. */
  first: (tx: Tx) => Promise<unknown>;
  second: (tx: Tx) => Promise<unknown>;
  /** What the database contains if the second one sees the change of the first. */
  after: { read: RawBuilder<unknown>; is: unknown };
}

const listOf = (value: unknown): unknown[] =>
  value === undefined || value === false || value === 0 ? [] : [value];
const deferring = () => paused.deferring as PausedRow;
const tested = () => paused.tested as PausedRow;
const ofSender = (wanted: object) => ({
  projectId: null,
  sent: [],
  plain: [],
  list: undefined,
  kept: [],
  watched: [],
  ...wanted,
});
const check = async (tx: Tx, wanted: object) => [
  ...(await recordAndCheck(tx, id.sender, ofSender(wanted), RECIPIENT_CHECKS)),
];
const mail = (mailId: string) => ({ projectId: id.project, id: mailId });
const endpointKey = { projectId: id.project, id: id.endpoint, ordered: false, batchSize: 1 };
const CLAIM = { claimId: id.claim, calls: 10, leaseSeconds: 60, mostBytes: 1_000 };
const DELIVERED = {
  projectId: id.project,
  endpointId: id.endpoint,
  ids: [id.delivery],
  claimId: id.claim,
  waitSeconds: 0,
  status: 200,
  body: "Thanks, Ada",
  error: null,
  durationMs: 1,
};
const campaignKey = { projectId: id.project, campaignId: id.campaign };
const claimOf = { senderId: id.sender, projectId: id.project, limit: 10, withoutDomains: [] };

const HOLDING: Holding[] = [
  {
    lock: "projects/queries.ts lockProject",
    row: rowOf("projects", id.project),
    strength: "no key update",
    take: (tx) => lockProject(tx, id.project),
  },
  {
    lock: "stream/delivery-queries.ts updateAttempt",
    row: rowOf("webhook_endpoints", id.endpoint),
    strength: "key share",
    take: (tx) => updateAttempt(tx, DELIVERED, 3),
  },
  {
    lock: "stream/delivery-queries.ts claimDeliveries",
    row: rowOf("webhook_endpoints", id.endpoint),
    strength: "no key update",
    take: (tx) => claimDeliveries(tx, endpointKey, CLAIM),
  },
  {
    lock: "stream/replay-queries.ts lockEndpoint",
    row: rowOf("webhook_endpoints", id.endpoint),
    strength: "update",
    take: (tx) => lockEndpoint(tx, endpointKey),
  },
  {
    lock: "projects/queries.ts countOwnedProjects",
    row: rowOf("users", id.user),
    strength: "no key update",
    take: (tx) => countOwnedProjects(tx, id.user),
  },
  {
    lock: "emails/lease/lease-queries.ts livingSender",
    row: rowOf("senders", id.sender),
    strength: "key share",
    take: (tx) => sql`with ${livingSender(id.sender)} select * from living`.execute(tx),
  },
  {
    lock: "emails/retention/retention-queries.ts lockEnded",
    row: rowOf("emails", id.ended),
    strength: "update",
    take: (tx) => lockEnded(tx, id.project, [id.ended]),
  },
  {
    lock: "emails/rows/lock-queries.ts lockRowsOf",
    row: rowOf("emails", id.ended),
    strength: "update",
    take: (tx) => lockEmailRows(tx, [mail(id.ended)]),
  },
  {
    lock: "emails/throttling/throttled-queries.ts deferEmails",
    row: ["paused_destinations", sql`destination = 'shop.example'`],
    strength: "share",
    take: (tx) => deferEmails(tx, deferring(), 1),
  },
  {
    lock: "emails/submission/submission-queries.ts livingSender",
    row: rowOf("senders", id.sender),
    strength: "no key update",
    take: (tx) => check(tx, { plain: [mail(id.plainMail)] }),
  },
  {
    lock: "emails/submission/submission-queries.ts plainEmails",
    row: rowOf("emails", id.plainMail),
    strength: "share",
    take: (tx) => check(tx, { plain: [mail(id.plainMail)] }),
  },
  {
    lock: "emails/submission/submission-queries.ts plainEmails",
    row: rowOf("emails", id.plainMail),
    strength: "share",
    take: (tx) => check(tx, { projectId: id.project, plain: [mail(id.plainMail)] }),
  },
  {
    lock: "emails/submission/submission-queries.ts bulkEmails",
    row: rowOf("emails", id.bulkMail),
    strength: "share",
    take: (tx) => check(tx, { list: { projectId: id.project, ids: [id.bulkMail] } }),
  },
  {
    lock: "emails/submission/submission-queries.ts bulkEmails",
    row: rowOf("emails", id.bulkMail),
    strength: "share",
    take: (tx) => check(tx, { projectId: id.project, list: { projectId: id.project, ids: [id.bulkMail] } }),
  },
  {
    lock: "users/account-queries.ts isPasswordCurrent",
    row: rowOf("users", id.user),
    strength: "share",
    take: (tx) => isPasswordCurrent(tx, id.user, "hash"),
  },
  {
    lock: "users/second-factor/queries.ts lockFactor",
    row: ["second_factors", sql`user_id = ${id.user}`],
    strength: "update",
    take: (tx) => lockFactor(tx, id.user),
  },
  {
    lock: "users/queries.ts holdsSession",
    row: rowOf("sessions", id.session),
    strength: "share",
    take: (tx) => holdsSession(tx, id.user, id.session),
  },
  {
    lock: "platform/stamp/stamp-queries.ts lockStamp",
    row: ["installation", sql`true`],
    strength: "update",
    take: lockStamp,
  },
  {
    lock: "platform/background/job-queries.ts findClaimedForUpdate",
    row: rowOf("jobs", id.claimedJob),
    strength: "update",
    take: (tx) => findClaimedForUpdate(tx, { projectId: id.project, id: id.claimedJob }, id.claim),
  },
  {
    lock: "users/account-queries.ts lockUser",
    row: rowOf("users", id.user),
    strength: "update",
    take: (tx) => lockUser(tx, id.user),
  },
  {
    lock: "segments/queries.ts findSegmentForUpdate",
    row: rowOf("segments", id.segment),
    strength: "update",
    take: (tx) => findSegmentForUpdate(tx, id.project, id.segment),
  },
  {
    lock: "templates/queries.ts findTemplateForUpdate",
    row: rowOf("templates", id.template),
    strength: "update",
    take: (tx) => findTemplateForUpdate(tx, id.project, id.template),
  },
  {
    lock: "contacts/queries.ts findContactForUpdate",
    row: rowOf("contacts", id.ada),
    strength: "update",
    take: (tx) => findContactForUpdate(tx, id.project, id.ada),
  },
  {
    lock: "campaigns/queries.ts findCampaignForUpdate",
    row: rowOf("campaigns", id.campaign),
    strength: "update",
    take: (tx) => findCampaignForUpdate(tx, id.project, id.campaign),
  },
  {
    lock: "segments/member-queries.ts lockSegmentsOf",
    row: rowOf("segments", id.segment),
    strength: "no key update",
    take: (tx) => lockSegmentsOf(tx, id.project, [id.ada]),
  },
  {
    lock: "segments/member-queries.ts countStoredMembers",
    row: rowOf("segments", id.segment),
    strength: "no key update",
    take: (tx) => countStoredMembers(tx, id.project, id.segment),
  },
  {
    lock: "audit/queries.ts lockHeads",
    row: ofProject("audit_heads"),
    strength: "update",
    take: (tx) => lockHeads(tx, [id.project], HASH),
  },
  {
    lock: "domains/queries.ts lockDomain",
    row: ofProject("domains"),
    strength: "key share",
    take: (tx) => lockDomain(tx, { projectId: id.project, domain: "shop.example" }),
  },
  {
    lock: "workflows/reference-queries.ts lockTemplates",
    row: rowOf("templates", id.template),
    strength: "key share",
    take: (tx) => lockTemplates(tx, id.project, [id.template]),
  },
  {
    lock: "workflows/reference-queries.ts lockSegments",
    row: rowOf("segments", id.segment),
    strength: "key share",
    take: (tx) => lockSegments(tx, id.project, [id.segment]),
  },
  {
    lock: "workflows/executions/list-queries.ts lockCancelMark",
    row: rowOf("workflows", id.workflow),
    strength: "no key update",
    take: (tx) => lockCancelMark(tx, id.project, id.workflow),
  },
  {
    lock: "workflows/executions/pause-queries.ts lockPause",
    row: rowOf("workflows", id.workflow),
    strength: "no key update",
    take: (tx) => lockPause(tx, id.project, id.workflow),
  },
  {
    lock: "workflows/executions/move-queries.ts lockCurrentVersion",
    row: rowOf("workflows", id.workflow),
    strength: "share",
    take: (tx) => lockCurrentVersion(tx, id.project, id.workflow),
  },
  {
    lock: "workflows/executions/move-queries.ts lockMovable",
    row: rowOf("workflow_executions", id.waiting),
    strength: "update",
    take: (tx) => lockMovable(tx, id.project, MOVABLE, [id.waiting]),
  },
  {
    lock: "workflows/executions/move-queries.ts lockMovedBy",
    row: rowOf("workflow_executions", id.waiting),
    strength: "update",
    take: (tx) =>
      lockMovedBy(tx, id.project, { workflowId: id.workflow, moveId: id.job, after: null, limit: 10 }),
  },
  {
    lock: "workflows/executions/list-queries.ts listFailedForUpdate",
    row: rowOf("workflow_executions", id.failed),
    strength: "update",
    take: (tx) =>
      listFailedForUpdate(tx, {
        projectId: id.project,
        workflowId: id.workflow,
        by: { id: id.failed },
        limit: 10,
      }),
  },
  {
    lock: "workflows/executions/contact-queries.ts lockExecutionRowsOf",
    row: rowOf("workflow_executions", id.waiting),
    strength: "update",
    take: (tx) => lockExecutionRowsOf(tx, id.project, [id.ada]),
  },
  {
    lock: "workflows/executions/exit-queries.ts claimLeavingExecutions",
    row: rowOf("workflow_executions", id.due),
    strength: "update",
    take: (tx) =>
      claimLeavingExecutions(tx, id.project, {
        versions: [{ workflowId: id.workflow, version: 1 }],
        contactIds: [id.bob],
        after: null,
        limit: 10,
      }),
  },
  {
    lock: "workflows/executions/entry-queries.ts findEnterableForShare",
    row: rowOf("workflows", id.workflow),
    strength: "share",
    take: (tx) => findEnterableForShare(tx, id.project, { ids: [id.workflow] }),
  },
  {
    lock: "workflows/executions/entry-queries.ts findEnterableForShare",
    row: ofProject("workflow_versions"),
    strength: "key share",
    take: (tx) => findEnterableForShare(tx, id.project, { ids: [id.workflow] }),
  },
  {
    lock: "workflows/dates/date-queries.ts lockDatedWorkflows",
    row: rowOf("workflows", id.workflow),
    strength: "key share",
    take: (tx) => lockDatedWorkflows(tx, id.project, id.workflow),
  },
  {
    lock: "workflows/dates/date-queries.ts lockDatedContacts",
    row: rowOf("contacts", id.ada),
    strength: "share",
    take: (tx) => lockDatedContacts(tx, id.project, ["plan"], [id.ada]),
  },
  {
    lock: "workflows/queries.ts lockWorkflow",
    row: rowOf("workflows", id.workflow),
    strength: "no key update",
    take: (tx) => lockWorkflow(tx, id.project, id.workflow),
  },
  {
    lock: "workflows/queries.ts lockWorkflowToDelete",
    row: rowOf("workflows", id.workflow),
    strength: "update",
    take: (tx) => lockWorkflowToDelete(tx, id.project, id.workflow),
  },
  {
    lock: "workflows/queries.ts lockVersion",
    row: ofProject("workflow_versions"),
    strength: "update",
    take: (tx) => lockVersion(tx, id.project, id.workflow, 1),
  },
  {
    lock: "events/count-queries.ts lockPosition",
    row: ofProject("count_positions"),
    strength: "update",
    take: (tx) => lockPosition(tx, id.project),
  },
  {
    lock: "contacts/recipient-queries.ts subscribedHeld",
    row: rowOf("contacts", id.ada),
    strength: "share",
    take: (tx) => subscribedHeld(id.project, sql`array[${id.ada}]::uuid[]`, false).execute(tx),
  },
  {
    lock: "contacts/recipient-queries.ts subscribedHeld",
    row: rowOf("contacts", id.ada),
    strength: "share",
    take: (tx) => subscribedHeld(id.project, sql`array[${id.ada}]::uuid[]`, true).execute(tx),
  },
  {
    lock: "stream/log-queries.ts insertNumbered",
    row: rowOf("contacts", id.ada),
    strength: "key share",
    take: (tx) =>
      insertNumbered(tx, id.project, 1, [
        {
          id: newId(),
          contactId: id.ada,
          eventName: "test",
          eventId: null,
          emailId: null,
          data: null,
          at: new Date(),
        },
      ]),
  },
  {
    lock: "contacts/consent-chain/queries.ts lockHead",
    row: rowOf("projects", id.project),
    strength: "share",
    take: (tx) => lockHead(tx, id.project, HASH),
  },
  {
    lock: "contacts/repeated-opt-out-queries.ts lockImported",
    row: rowOf("contacts", id.ada),
    strength: "no key update",
    take: (tx) => lockImported(tx, id.project, [id.ada]),
  },
  {
    lock: "contacts/queries.ts lockContacts",
    row: rowOf("contacts", id.ada),
    strength: "update",
    take: (tx) => lockContacts(tx, id.project, [id.ada], "deleting"),
  },
  {
    lock: "contacts/queries.ts lockContacts",
    row: rowOf("contacts", id.ada),
    strength: "no key update",
    take: (tx) => lockContacts(tx, id.project, [id.ada], "changing"),
  },
  {
    lock: "contacts/queries.ts lockContactOf",
    row: rowOf("contacts", id.ada),
    strength: "no key update",
    take: (tx) => lockContactOf(tx, id.project, ADA),
  },
  {
    lock: "contacts/opt-out-queries.ts lockHolders",
    row: rowOf("contacts", id.ada),
    strength: "no key update",
    take: (tx) => lockHolders(tx, id.project, [ADA]),
  },
  {
    lock: "contacts/fields/queries.ts lockContactsWithKey",
    row: rowOf("contacts", id.ada),
    strength: "no key update",
    take: (tx) => lockContactsWithKey(tx, id.project, "plan", { after: null, last: id.ada }),
  },
  {
    lock: "billing/caps-queries.ts lockCapsRow",
    row: ofProject("billing_limits"),
    strength: "update",
    take: (tx) => lockCapsRow(tx, id.project),
  },
  {
    lock: "billing/queries.ts recordCheckout",
    row: rowOf("projects", id.project),
    strength: "share",
    take: (tx) => recordCheckout(tx, id.project),
  },
];

const SKIPPING: Skipping[] = [
  {
    lock: "projects/scoped-keys/queries.ts updateLastUsed",
    row: rowOf("scoped_keys", id.key),
    claim: async (tx) => {
      await updateLastUsed(tx, [{ projectId: id.project, id: id.key }]);
      return (await sql`select 1 from scoped_keys where last_used_at is not null`.execute(tx)).rows;
    },
  },
  {
    lock: "emails/sending/sender-queries.ts claimEmails",
    row: rowOf("emails", id.campaignMail),
    claim: (tx) => claimEmails(tx, { ...claimOf, campaignId: id.campaign, priority: 3 }),
  },
  {
    lock: "emails/sending/sender-queries.ts claimBatch",
    row: rowOf("recipient_batches", id.batch),
    claim: (tx) =>
      claimBatch(tx, { ...claimOf, campaignId: id.campaign, contactsThere: CONTACT_CHECKS.contactsThere }),
  },
  {
    lock: "segments/queries.ts lockDueSegment",
    row: rowOf("segments", id.tracked),
    claim: async (tx) => listOf(await lockDueSegment(tx, id.project, id.tracked)),
  },
  {
    lock: "segments/queries.ts lockTrackedSegments",
    row: rowOf("segments", id.tracked),
    claim: (tx) => lockTrackedSegments(tx, id.project),
  },
  {
    lock: "emails/retention/retention-queries.ts lockRetention",
    row: ofProject("email_retentions"),
    claim: async (tx) => listOf(await lockRetention(tx, id.project)),
  },
  {
    lock: "emails/throttling/throttled-queries.ts updateDue",
    row: rowOf("emails", id.queued),
    claim: async (tx) => listOf(await deferEmails(tx, deferring(), 10)),
  },
  {
    lock: "emails/throttling/throttled-queries.ts claimTry",
    row: ["paused_destinations", sql`destination = 'shop.example'`],
    claim: async (tx) => listOf(await claimTry(tx, deferring())),
  },
  {
    lock: "emails/throttling/throttled-queries.ts findTrial",
    row: ["paused_destinations", sql`destination = 'test.example'`],
    claim: async (tx) => listOf(await findTrial(tx, tested(), 60)),
  },
  {
    lock: "emails/outbox/campaign-queries.ts skipCampaignEmails",
    row: rowOf("emails", id.campaignMail),
    claim: async (tx) => listOf(await skipCampaignEmails(tx, campaignKey, FOR_TEST, 10)),
  },
  {
    lock: "emails/outbox/batch-queries.ts skipBatches",
    row: rowOf("recipient_batches", id.batch),
    claim: async (tx) =>
      listOf(
        await skipBatches(tx, campaignKey, FOR_TEST, {
          limit: 10,
          contactsThere: CONTACT_CHECKS.contactsThere,
        }),
      ),
  },
  {
    lock: "emails/submission/submission-queries.ts suppressedMails",
    row: rowOf("emails", id.suppressedMail),
    claim: (tx) => check(tx, { plain: [mail(id.suppressedMail)], watched: [mail(id.suppressedMail)] }),
  },
  {
    lock: "emails/submission/submission-queries.ts suppressedMails",
    row: rowOf("emails", id.suppressedMail),
    claim: (tx) =>
      check(tx, {
        projectId: id.project,
        plain: [mail(id.suppressedMail)],
        watched: [mail(id.suppressedMail)],
      }),
  },
  {
    lock: "emails/submission/submission-queries.ts plainEmails",
    row: rowOf("emails", id.plainMail),
    claim: (tx) => check(tx, { plain: [mail(id.plainMail)] }),
  },
  {
    lock: "emails/submission/submission-queries.ts plainEmails",
    row: rowOf("emails", id.plainMail),
    claim: (tx) => check(tx, { projectId: id.project, plain: [mail(id.plainMail)] }),
  },
  {
    lock: "emails/submission/submission-queries.ts bulkEmails",
    row: rowOf("emails", id.bulkMail),
    claim: (tx) => check(tx, { list: { projectId: id.project, ids: [id.bulkMail] } }),
  },
  {
    lock: "emails/submission/submission-queries.ts bulkEmails",
    row: rowOf("emails", id.bulkMail),
    claim: (tx) => check(tx, { projectId: id.project, list: { projectId: id.project, ids: [id.bulkMail] } }),
  },
  {
    lock: "contacts/recipient-queries.ts subscribedHeld",
    row: rowOf("contacts", id.ada),
    claim: async (tx) =>
      (await subscribedHeld(id.project, sql`array[${id.ada}]::uuid[]`, false).execute(tx)).rows,
  },
  {
    lock: "platform/background/job-queries.ts claimJob",
    row: rowOf("jobs", id.job),
    claim: async (tx) =>
      listOf(
        await claimJob(tx, { projectId: id.project, kinds: ["test"], claimId: id.claim, leaseMs: 1000 }),
      ),
  },
  {
    lock: "deliveries/queries.ts claimNotices",
    row: rowOf("notices", id.notice),
    claim: (tx) => claimNotices(tx, "sns", { limit: 10, mostBytes: 1 }, null),
  },
  {
    lock: "workflows/seal-queries.ts listVersionsToSeal",
    row: ofProject("workflow_versions"),
    claim: (tx) => listVersionsToSeal(tx, id.project, id.workflow),
  },
  {
    lock: "workflows/executions/pause-queries.ts updateToPausedUnlessLocked",
    row: rowOf("workflows", id.workflow),
    async claim(tx) {
      const reason = { stepId: id.step, stepName: "Call", contacts: 5, error: FOR_TEST };
      return listOf(await updateToPausedUnlessLocked(tx, id.project, id.workflow, reason));
    },
  },
  {
    lock: "workflows/executions/pause-queries.ts lockPausesUnlessLocked",
    row: rowOf("workflows", id.workflow),
    claim: (tx) => lockPausesUnlessLocked(tx, id.project, [id.workflow]),
  },
  {
    lock: "workflows/executions/execution-queries.ts claimDueExecutions",
    row: rowOf("workflow_executions", id.due),
    claim: (tx) => claimDueExecutions(tx, id.project, { limit: 10 }),
  },
  {
    lock: "workflows/executions/entry-queries.ts claimScheduled",
    row: rowOf("workflows", id.workflow),
    claim: (tx) => claimScheduled(tx, 10),
  },
  {
    lock: "workflows/executions/entry-queries.ts claimScheduledOfCluster",
    row: rowOf("workflows", id.workflow),
    claim: (tx) => claimScheduledOfCluster(tx, 10),
  },
  {
    lock: "workflows/dates/date-queries.ts claimDueDates",
    row: ["workflow_dates", sql`workflow_id = ${id.workflow}`],
    claim: (tx) => claimDueDates(tx, id.project, 10),
  },
  {
    lock: "workflows/dates/date-queries.ts lockValuesUnlessLocked",
    row: rowOf("contacts", id.ada),
    claim: async (tx) => [...(await lockValuesUnlessLocked(tx, id.project, ["plan"], [id.ada]))],
  },
  {
    lock: "contacts/consent-chain/queries.ts lockCheckpointed",
    row: ["consent_sealed", sql`true`],
    claim: async (tx) => ((await lockCheckpointed(tx)) === undefined ? [] : ["locked"]),
  },
  {
    lock: "billing/usage-queries.ts claimUsage",
    row: ofProject("billing_usage"),
    claim: (tx) => claimUsage(tx, id.project, { seconds: 60, limit: 10 }),
  },
  {
    lock: "requests/queries.ts deleteOldRequests",
    row: rowOf("api_requests", id.request),
    claim: async (tx) => listOf(await deleteOldRequests(tx, 1, 10)),
  },
  {
    lock: "reactions/queries.ts takeOutboxEvents",
    row: rowOf("event_reactions", id.outboxEvent),
    claim: (tx) => takeOutboxEvents(tx, id.project, "test", 10),
  },
  {
    lock: "stream/delivery-queries.ts claimDeliveries",
    row: rowOf("event_deliveries", id.delivery),
    claim: (tx) => claimDeliveries(tx, endpointKey, CLAIM),
  },
  {
    lock: "stream/delivery-queries.ts lockEndpointProgress",
    row: rowOf("webhook_endpoints", id.endpoint),
    claim: async (tx) => listOf(await lockEndpointProgress(tx, endpointKey, 10)),
  },
  {
    lock: "stream/log-queries.ts lockStream",
    row: ofProject("event_streams"),
    claim: async (tx) => ((await lockStream(tx, id.project)) === undefined ? [] : ["locked"]),
  },
  {
    lock: "webhooks/queries.ts claimCalls",
    row: rowOf("webhook_calls", id.call),
    claim: (tx) => claimCalls(tx, { projectId: id.project, claimId: id.claim, limit: 10, leaseSeconds: 60 }),
  },
];

const resolve = (tx: Tx, as: "sent" | "failed") =>
  updateResolved(
    tx,
    { projectId: id.project, campaignId: null, ids: [id.doubtful] },
    { as, by: null, failedReason: FOR_TEST },
    10,
  );
const cancel = (tx: Tx) =>
  cancelExecutionRows(
    tx,
    { projectId: id.project, workflowId: id.workflow, id: id.cancelled, limit: 10 },
    FOR_TEST,
  );
const takeOut = (tx: Tx) =>
  takeOutRecipients(tx, id.project, { by: "id", ids: [id.alsoBatched] }, CONTACT_CHECKS.contactsThere);
const erase = (tx: Tx) =>
  eraseRecipients(tx, id.project, [{ id: id.eve, email: "eve@shop.example", addressHash: newId() }]);

const WAITING: Waiting[] = [
  {
    lock: "emails/reading/resolve-queries.ts updateResolved",
    first: (tx) => resolve(tx, "sent"),
    second: (tx) => resolve(tx, "failed"),
    after: { read: sql`select status from emails where id = ${id.doubtful}`, is: { status: "SENT" } },
  },
  {
    lock: "emails/results/late-queries.ts updateLateSent",
    first: (tx) =>
      sql`update emails set status = 'UNCONFIRMED', template_id = ${id.template} where id = ${id.doubtful}`.execute(
        tx,
      ),
    second: (tx) => updateLateSent(tx, [{ attempt: 0, outcome: acceptedOutcome(id.project, id.doubtful) }]),
    after: {
      read: sql`select sent::integer, unconfirmed::integer from email_counts where subject_id = ${id.template}`,
      is: { sent: 1, unconfirmed: -1 },
    },
  },
  {
    lock: "workflows/executions/list-queries.ts cancelExecutionRows",
    first: cancel,
    second: cancel,
    after: {
      read: sql`select cancelled from workflow_step_counts where step_id = ${id.step}`,
      is: { cancelled: 1 },
    },
  },
  {
    lock: "contacts/deletion-queries.ts redactChangesOf",
    first: (tx) => redactChangesOf(tx, id.project, [id.ada]),
    second: (tx) => redactChangesOf(tx, id.project, [id.bob]),
    after: { read: sql`select cardinality(contact_ids) as left from import_changes`, is: { left: 0 } },
  },
  {
    lock: "stream/delivery-queries.ts updateAttempt",
    first: (tx) => redactLogOf(tx, id.project, [id.ada]),
    second: (tx) => updateAttempt(tx, DELIVERED, 3),
    after: {
      read: sql`select state, response_body as body from event_deliveries where id = ${id.delivery}`,
      is: { state: "done", body: null },
    },
  },
  {
    lock: "emails/outbox/batch-queries.ts takeOutRecipients",
    first: takeOut,
    second: takeOut,
    after: { read: sql`select count(*) as rows from emails where id = ${id.alsoBatched}`, is: { rows: 1 } },
  },
  {
    lock: "emails/outbox/erase-queries.ts eraseRecipients",
    // A sender passes the pre-send check: it holds the email and marks it in its own row.
    first: async (tx) => {
      await sql`select 1 from emails where id = ${id.tried} for share`.execute(tx);
      await sql`update senders set in_doubt = array[${id.tried}]::uuid[] where id = ${id.sender}`.execute(tx);
    },
    second: erase,
    after: { read: sql`select status from emails where id = ${id.tried}`, is: { status: "CLAIMED" } },
  },
];

const ADVISORY: Array<{
  lock: string;
  take: (tx: Tx) => Promise<unknown>;
  other?: (tx: Tx) => Promise<unknown>;
}> = [
  {
    lock: "domains/queries.ts lockDomainName",
    take: (tx) => lockDomainName(tx, "a.example"),
    other: (tx) => lockDomainName(tx, "b.example"),
  },
  {
    lock: "link-domains/queries.ts lockLinkDomainName",
    take: (tx) => lockLinkDomainName(tx, "a.example"),
    other: (tx) => lockLinkDomainName(tx, "b.example"),
  },
  {
    lock: "domains/queries.ts lockProjectDomains",
    take: (tx) => lockProjectDomains(tx, id.project),
    other: (tx) => lockProjectDomains(tx, id.user),
  },
  {
    lock: "workflows/executions/public-key-queries.ts lockFirstEmails",
    take: (tx) => lockFirstEmails(tx, id.project),
    other: (tx) => lockFirstEmails(tx, id.user),
  },
  { lock: "instance/queries.ts lockBootstrap", take: lockBootstrap },
  {
    lock: "reactions/queries.ts lockSubscriptions",
    take: (tx) => lockSubscriptions(tx, id.project, "a"),
    other: (tx) => lockSubscriptions(tx, id.project, "b"),
  },
];

const LOCKS =
  /\bfor (?:no key )?update\b|\bfor (?:key )?share\b|\bpg_(?:try_)?advisory\w*lock\b|\.for(?:No)?(?:Key)?(?:Update|Share)\(/g;
/** Locks without a row above, with the reason. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  "emails/results/email-count-queries.ts countChanges":
    "email-counts.test.ts counts beside a transaction that has not committed",
  "platform/database/migrations.ts takeLock": "has its own test below",
  "platform/database/migrations.ts migrate": "releases the lock of takeLock",
  "platform/database/partitions.ts makePartition": "partitions.test.ts makes the same months twice",
  "uploads/queries.ts lockUpload": "uploads.test.ts deletes an image while it becomes the logo",
  "segments/member-queries.ts insertMembers": "the foreign key takes the same lock; only the order differs",
};

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  database = createDatabase(testDatabase.pool);
  await addSampleRows(database);
  const { rows } = await sql<PausedRow>`select * from paused_destinations order by destination`.execute(
    database,
  );
  Object.assign(paused, { deferring: rows[0], tested: rows[1] });
});
afterAll(async () => testDatabase?.drop());

const probe = async (tx: Database, [table, where]: Row, strength: string, otherwise = "skip locked") =>
  (
    await sql`select 1 from ${sql.table(table)} where ${where} for ${sql.raw(`${strength} ${otherwise}`)}`.execute(
      tx,
    )
  ).rows.length;
const waitingForLock = sql`
  select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
const withShortWait = async <T>(work: (tx: Tx) => Promise<T>): Promise<T> =>
  undone(database, async (tx) => {
    await sql`set local lock_timeout = '250ms'`.execute(tx);
    return work(tx);
  });

test.each(HOLDING)("$lock holds its row ($strength)", async ({ row, strength, take }) => {
  const { collides, passes } = STRENGTHS[strength];
  expect(await probe(database, row, "update"), "the row exists and is free").toBe(1);
  await undone(database, async (tx) => {
    await take(tx);
    expect(await probe(database, row, collides), `a lock for ${collides} beside it`).toBe(0);
    const free = passes === null ? 1 : await probe(database, row, passes);
    expect(free, `a lock for ${passes} beside it`).toBe(1);
  });
});

test.each(SKIPPING)("$lock skips rows that another transaction has locked", async ({ row, claim }) => {
  await undone(database, async (rival) => {
    expect(await probe(rival, row, "update", ""), "the row exists").toBe(1);
    expect(await withShortWait(claim)).toEqual([]);
  });
  expect(await withShortWait(claim)).not.toEqual([]);
});

test.each(WAITING)(
  "$lock waits for the other transaction and sees its change",
  async ({ first, second, after }) => {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const one = transaction(database, async (tx) => {
      await first(tx);
      begin();
      await ended;
    });
    await begun;
    const other = transaction(database, second);
    await expect
      .poll(async () => (await waitingForLock.execute(database)).rows.length)
      .toBe(1)
      .finally(end);
    await one;
    await other;
    expect((await after.read.execute(database)).rows).toEqual([after.is]);
  },
);

test.each(ADVISORY)("$lock excludes only the same name", async ({ take, other }) => {
  await undone(database, async (tx) => {
    await take(tx);
    await expect(withShortWait(take)).rejects.toMatchObject({ code: "55P03" });
    if (other !== undefined) await withShortWait(other);
  });
});

test("migrates in one process at a time", async () => {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const holder = transaction(database, async (tx) => {
    await sql`lock table schema_migrations in access exclusive mode`.execute(tx);
    begin();
    await ended;
  });
  await begun;
  // Without the lock timeout of the program.
  const pool = new Pool(testDatabase.connection);
  const both = [1, 2].map(() => migrate(pool));
  const polling = sql`
    select 1 from pg_stat_activity where datname = current_database() and state = 'idle' and query like '%pg_try_advisory_lock%'
      and pid <> pg_backend_pid()`;
  const stateOf = async () => [
    (await waitingForLock.execute(database)).rows.length,
    (await polling.execute(database)).rows.length,
  ];
  await expect.poll(stateOf).toEqual([1, 1]).finally(end);
  expect(await Promise.all([...both, holder])).toEqual([[], [], undefined]);
  await pool.end();
});

test("tests every lock of the server", () => {
  const covered = Map.groupBy([...HOLDING, ...SKIPPING, ...WAITING, ...ADVISORY], ({ lock }) => lock);
  const found = Map.groupBy(placesOf(LOCKS), (lock) => lock);
  const missing = [...found].filter(
    ([lock, places]) => !(lock in ELSEWHERE) && (covered.get(lock)?.length ?? 0) < places.length,
  );
  expect(missing.map(([lock]) => lock)).toEqual([]);
  expect([...covered.keys(), ...Object.keys(ELSEWHERE)].filter((lock) => !found.has(lock))).toEqual([]);
});
