// Assembles the background work, which is the sender and everything that is checked and swept on a schedule.
import { startLoop, type Loop } from "./platform/background/background.ts";
import type { Sealer } from "./platform/crypto.ts";
import type { Database } from "./platform/database/database.ts";
import type { Dns } from "./platform/dns.ts";
import { sweepKeys } from "./platform/http/idempotency.ts";
import { startJobs, sweepJobs, type JobRunner } from "./platform/background/jobs.ts";
import type { Log } from "./platform/log.ts";
import type { Metrics } from "./platform/metrics.ts";
import { sweepRateWindows } from "./platform/http/rate-limit.ts";
import type { RecoveryParticipant } from "./platform/stamp/stamp.ts";
import { startEventLoops } from "./events/event-loops.ts";
import { DELETE_EVENTS_JOB, deleteEventsStep } from "./events/event-names.ts";
import type { OwnTransports } from "./emails/sending/own-transports.ts";
import { createPreparer } from "./emails/sending/prepare-emails.ts";
import type { Transport } from "./transports/transport.ts";
import type { TransportWatch } from "./transports/transport-watch.ts";
import type { Renderer } from "./rendering/renderer.ts";
import { startRedactingEmails } from "./emails/retention/retention.ts";
import { startSender } from "./emails/sending/sender.ts";
import { sweepPlatformEmails } from "./emails/platform-email/platform-email.ts";
import type { SystemAddress } from "./emails/platform-email/prepare-platform-email.ts";
import type { Sessions } from "./users/sessions.ts";
import { startNotifyingCaps } from "./billing/tell-caps.ts";
import { sweepStripeEvents } from "./billing/follow-subscriptions.ts";
import { startBillingLoops } from "./billing/billing-loops.ts";
import type { Billing } from "./billing/stripe.ts";
import { startDomainChecks } from "./domains/check-domains.ts";
import type { Domains } from "./domains/domains.ts";
import { renderingDataOf } from "./contacts/rendering-data.ts";
import { startCheckpointingConsent } from "./contacts/consent-chain/checkpoint-consent.ts";
import { keepOptOutsOfProject } from "./contacts/opt-outs.ts";
import { contactJobs } from "./contacts/jobs.ts";
import type { LinkParts } from "./contacts/links.ts";
import { SUPPRESSION_IMPORT, suppressionImportStep } from "./suppressions/import-suppressions.ts";
import { RECIPIENT_CHECKS } from "./suppressions/recipients.ts";
import { findSuppressed } from "./suppressions/suppressions.ts";
import { importConsequences } from "./segments/import-consequences.ts";
import { enqueueExpiredEvents, startFollowingChanges } from "./segments/sync-members.ts";
import { readFooters } from "./templates/footers.ts";
import { createWebhookCaller } from "./webhooks/call-webhook.ts";
import type { CallTargets } from "./webhooks/networks.ts";
import { callMembersStep } from "./webhooks/member-webhooks.ts";
import { startWebhookCalls } from "./webhooks/run-calls.ts";
import { listAllProjects } from "./projects/list-all-projects.ts";
import { DELETION_JOB, removalStep, RESET_JOB } from "./projects/removal/removal.ts";
import { sweepTokens } from "./users/account.ts";
import { sweepInvitations } from "./projects/members/invitations.ts";
import { CALL_MEMBERS_JOB } from "./projects/members/notifications.ts";
import { sweepDomainReports } from "./domains/reports/domain-reports.ts";
import { createFailureNotifier } from "./reports/failed-jobs.ts";
import { startWeeklySummaries } from "./reports/weekly-summary.ts";
import { sweepRequests } from "./requests/request-log.ts";
import { sweepWebhookCalls } from "./webhooks/webhook-calls.ts";
import { createWebhookSecrets } from "./webhooks/webhook-secrets.ts";
import { startLinkDomainChecks } from "./link-domains/check-link-domains.ts";
import type { LinkOrigins } from "./link-domains/link-origins.ts";
import { startEventStream, sweepStream } from "./stream/loops.ts";
import { createHoldRedacted } from "./campaigns/held-campaigns.ts";
import type { PauseDependencies } from "./campaigns/pause-automatically.ts";
import { createPauseInDoubt } from "./campaigns/pause-in-doubt.ts";
import { startAuditingCampaigns, startSettlingCampaigns } from "./campaigns/settle-campaigns.ts";
import { pauseUnresolved } from "./campaigns/pause-unresolved.ts";
import { SNAPSHOT_JOB } from "./campaigns/send-campaign.ts";
import { createSnapshotStep } from "./campaigns/snapshot-recipients.ts";
import { startDates } from "./workflows/dates/enter-by-dates.ts";
import { startEngine, type EngineDependencies } from "./workflows/executions/engine.ts";
import { startFailureDigests } from "./workflows/executions/notify-failures.ts";
import { takeResponses } from "./workflows/executions/webhook-calls.ts";
import { workflowJobs } from "./workflows/executions/jobs.ts";
import { startSchedules } from "./workflows/executions/schedule-runs.ts";
import { sealStoredSteps } from "./workflows/seal-stored-steps.ts";
import { contactContext } from "./workflows/usage.ts";
import { startDeletingReceived } from "./received/retention.ts";
import { createDeliveries } from "./deliveries/deliveries.ts";
import { sweepReturnedMessages } from "./emails/returned/returned-messages.ts";
import { sweepNotices } from "./deliveries/notices.ts";
import { startNotices } from "./deliveries/start-notices.ts";
import type { Guard } from "./deliveries/reputation.ts";
import { startWatchingRates } from "./deliveries/watch-rates.ts";
import { createReturnPathOf, type ReturnPaths } from "./deliveries/return-path.ts";
import type { MailTokens } from "./deliveries/tracking/mail-tokens.ts";

export interface WorkerDependencies extends Pick<LinkParts, "linksOf"> {
  database: Database;
  transport: Transport;
  mailbox: Transport;
  /** The transports of projects. */
  ownTransports: OwnTransports;
  /** One watch for each transport that sends mail to other machines. */
  watches: readonly TransportWatch[];
  connections: number;
  pace: { projectSendsPerSecond: number; destinationConnections?: number };
  publicKeyLimits: EngineDependencies["publicKeyLimits"];
  systemFrom: SystemAddress;
  renderer: Renderer;
  domains: Domains;
  sealer: Sealer;
  dns: Dns;
  /** Networks outside the public internet that webhooks may call. */
  webhookTargets: CallTargets;
  sessions: Sessions;
  returnPaths: ReturnPaths;
  mailTokens: MailTokens;
  /** The domain that receives returned mail, or null if there is none. */
  bounceDomain: string | null;
  inboundDomain: string | null;
  /** The address that gets messages to postmaster@ and abuse@. */
  operator: string | null;
  publicIdOf: (projectId: string) => string;
  links: LinkOrigins;
  guard: Guard;
  /** The public address of the installation. */
  address: { readonly url: string };
  /** Registers a component to be asked for recovery after a failover to a different database. */
  addRecoveryParticipant: (participant: RecoveryParticipant) => void;
  /** Null when billing is off. */
  billing: Billing | null;
  log: Log;
  metrics: Metrics;
}

export interface Worker {
  stop(): Promise<void>;
}

const SWEEP_MS = 10 * 60_000;

export async function startWorker(deps: WorkerDependencies): Promise<Worker> {
  const { database, transport, domains, log, metrics } = deps;
  const pauses = { baseUrl: () => deps.address.url, log, metrics };
  const deliveries = createDeliveries({ guard: deps.guard });
  const sender = await startSender({
    database,
    transport,
    mailbox: deps.mailbox,
    prepare: preparerOf(deps),
    applyFeedback: deliveries.applyFeedback,
    recipients: RECIPIENT_CHECKS,
    listProjects: listAllProjects,
    connections: deps.connections,
    pauseInDoubt: createPauseInDoubt(database, pauses),
    ...deps.pace,
    addRecoveryParticipant: deps.addRecoveryParticipant,
    holdCampaigns: createHoldRedacted(pauses),
    outages: () => deps.watches.flatMap((watch) => watch.outage() ?? []),
    log,
    metrics,
  });
  const jobs = startAllJobs(deps, pauses);
  const settler = { ...pauses, database, domains };
  const campaigns = startSettlingCampaigns(settler);
  const workflows = startWorkflows(deps);
  const notices = startNotices({ ...deps, deliveries });
  for (const watch of deps.watches) watch.start(metrics);
  const loops = [
    sender,
    jobs,
    notices,
    startDomainChecks({ checkDue: domains.checkDue, log, metrics }),
    startLinkDomainChecks({ ...deps, baseUrl: () => deps.address.url }),
    startRedactingEmails({ database, log, metrics }),
    startDeletingReceived({ database, log, metrics }),
    ...startEventLoops({ database, onExpired: enqueueExpiredEvents, log, metrics }),
    startCheckpointingConsent({ database, log, metrics }),
    startFollowingChanges({ database, log, metrics }),
    ...startEventStream({ ...deps, baseUrl: () => deps.address.url }),
    campaigns,
    ...workflows,
    startAuditingCampaigns(settler),
    ...startNotifyingMembers(deps),
    ...startBillingLoops(deps),
    ...startSweeps(deps),
  ];
  return {
    async stop() {
      // A check of a transport may take long, so the stop does not wait for it.
      for (const watch of deps.watches) void watch.stop();
      await Promise.all(loops.map((loop) => loop.stop()));
      await Promise.all([transport.close(), deps.mailbox.close(), deps.ownTransports.close()]);
    },
  };
}

function startAllJobs({ database, log, metrics }: WorkerDependencies, pauses: PauseDependencies): JobRunner {
  const notifyOfFailure = createFailureNotifier(pauses);
  return startJobs({
    database,
    kinds: {
      ...contactJobs(contactContext, importConsequences),
      [SUPPRESSION_IMPORT]: suppressionImportStep,
      [SNAPSHOT_JOB]: createSnapshotStep(pauses),
      ...workflowJobs(),
      [DELETE_EVENTS_JOB]: deleteEventsStep,
      [RESET_JOB]: removalStep("RESET", keepOptOutsOfProject),
      [DELETION_JOB]: removalStep("DELETE"),
      [CALL_MEMBERS_JOB]: callMembersStep,
    },
    async onFailed(tx, job) {
      // Members who are notified of the pause aren't notified of its job as well.
      if (!(await pauseUnresolved(tx, pauses, job))) await notifyOfFailure(tx, job);
    },
    log,
    metrics,
  });
}

/** Returns what builds the messages of claimed emails, with data on recipients and senders from later folders. */
function preparerOf(deps: WorkerDependencies) {
  const { database, domains } = deps;
  return createPreparer({
    ...deps,
    installation: deps.transport,
    ports: {
      ...renderingDataOf(database),
      findSuppressed: (addresses) => findSuppressed(database, addresses),
      findSigningKeys: (names) => domains.findSigningKeys(names),
      linksOf: deps.linksOf,
      imagesOf: (projectId) => ({ from: deps.address.url, to: deps.links.originOf(projectId) }),
      returnPathOf: createReturnPathOf(deps),
      publicIdOf: deps.publicIdOf,
      trackingOf: deps.mailTokens.trackingOf,
      readFooters: (recipients) => readFooters(database, recipients),
    },
  });
}

/** Starts the workflow engine, its webhook calls, schedules and dates. */
function startWorkflows(deps: WorkerDependencies) {
  const { database, sealer, dns, webhookTargets, log, metrics } = deps;
  const common = { database, log, metrics };
  const baseUrl = () => deps.address.url;
  const engine = startEngine({ ...deps, baseUrl });
  const calls = startWebhookCalls({
    ...common,
    secrets: createWebhookSecrets(sealer),
    sealer,
    call: createWebhookCaller({ dns, targets: webhookTargets }),
    async onEnded(tx, ended) {
      const ofWorkflows = ended.filter(({ ownerKind }) => ownerKind === "workflow");
      if (ofWorkflows.length > 0) await takeResponses(tx, ofWorkflows);
    },
  });
  return [
    engine,
    calls,
    startSchedules(common),
    startDates(common),
    startFailureDigests({ ...common, baseUrl }),
  ];
}

/** Judges projects while they send, looks at their caps, and sums up their weeks. */
function startNotifyingMembers({ database, guard, address, log, metrics }: WorkerDependencies): Loop[] {
  const common = { database, log, metrics };
  const mails = { ...common, baseUrl: () => address.url };
  return [startWatchingRates({ ...common, guard }), startNotifyingCaps(mails), startWeeklySummaries(mails)];
}

/** Each deletes what nobody needs any more; small and safe to run in several processes at once. */
function startSweeps({ database, sealer, sessions, log, metrics }: WorkerDependencies) {
  const sweeps = {
    "sweep of keys": () => sweepKeys(database),
    "sweep of rate windows": () => sweepRateWindows(database),
    "sweep of jobs": () => sweepJobs(database),
    "sweep of system mail": () => sweepPlatformEmails(database),
    "sweep of notices": () => sweepNotices(database),
    "sweep of returned messages": () => sweepReturnedMessages(database),
    "sweep of account tokens": () => sweepTokens(database),
    "sweep of invitations": () => sweepInvitations(database),
    "sweep of domain reports": () => sweepDomainReports(database),
    "sweep of requests": () => sweepRequests(database),
    "sweep of sessions": () => sessions.sweep(),
    "sweep of events of Stripe": () => sweepStripeEvents(database),
    "sweep of webhook calls": () => sweepWebhookCalls(database),
    "sweep of numbered events": () => sweepStream(database),
    "sweep of stored credentials": () => sealStoredSteps(database, sealer),
  };
  return Object.entries(sweeps).map(([name, sweep]) =>
    startLoop({
      name,
      // A sweep returns a count, which is not a wait time.
      runOnce: async () => void (await sweep()),
      everyMs: SWEEP_MS,
      delayMs: SWEEP_MS,
      log,
      metrics,
    }),
  );
}
