// Assembles the HTTP side from every `routes.ts` and the pages that people open in a browser.
import type { FastifyInstance } from "fastify";
import { isSameSecret, type Sealer } from "./platform/crypto.ts";
import type { Database } from "./platform/database/database.ts";
import type { Dns } from "./platform/dns.ts";
import { JOB_CONSTRAINTS } from "./platform/background/jobs.ts";
import { createHttp } from "./platform/http/http.ts";
import type { Route } from "./platform/http/route.ts";
import type { Credentials } from "./platform/http/caller.ts";
import { guardedPages, type Access } from "./platform/http/guards.ts";
import type { Log } from "./platform/log.ts";
import type { Metrics } from "./platform/metrics.ts";
import type { RecoveryParticipant } from "./platform/stamp/stamp.ts";
import { createRateLimiter, type RateLimiter } from "./platform/http/rate-limit.ts";
import { addressOfUser } from "./users/users.ts";
import { emailRoutes } from "./emails/reading/routes.ts";
import { createAskedRenderer } from "./rendering/asked-renderer.ts";
import { addLateSent } from "./events/counts.ts";
import { listEventsOfEmail } from "./events/events.ts";
import { eventRoutes } from "./events/routes.ts";
import { accountRoutes } from "./users/account-routes.ts";
import { createGuessing } from "./users/guesses.ts";
import { createPasswords, type Passwords } from "./users/passwords.ts";
import { createPasskeyVerifier, type PasskeyVerifier } from "./users/passkeys/verifier.ts";
import { userRoutes } from "./users/routes.ts";
import type { Sessions } from "./users/sessions.ts";
import { auditRoutes } from "./audit/routes.ts";
import { createKeyFinder } from "./projects/keys.ts";
import { findMembership, projectNames } from "./projects/projects.ts";
import { accountDeletionRoutes } from "./projects/members/account-routes.ts";
import { isInvited } from "./projects/members/invitations.ts";
import { memberRoutes } from "./projects/members/routes.ts";
import { notificationRoutes } from "./projects/members/notification-routes.ts";
import { removalRoutes } from "./projects/removal/routes.ts";
import { scopedKeyRoutes } from "./projects/scoped-keys/routes.ts";
import { projectRoutes } from "./projects/routes.ts";
import { createRequestLog } from "./requests/request-log.ts";
import { requestRoutes } from "./requests/routes.ts";
import { paymentOf } from "./billing/billing.ts";
import { billingRoutes } from "./billing/routes.ts";
import type { Billing } from "./billing/stripe.ts";
import type { Domains } from "./domains/domains.ts";
import { domainRoutes } from "./domains/routes.ts";
import { projectTransportRoutes, type ProjectServers } from "./own-transports/routes.ts";
import { contactBulkRoutes } from "./contacts/bulk/routes.ts";
import { CONTACT_CONSTRAINTS } from "./contacts/constraint-errors.ts";
import { contactExists } from "./contacts/contacts.ts";
import { inferFieldType } from "./contacts/rules.ts";
import { contactFieldRoutes } from "./contacts/fields/routes.ts";
import { contactFileRoutes } from "./contacts/import/routes.ts";
import type { LinkParts } from "./contacts/links.ts";
import { pageRoutes } from "./contacts/pages/routes.ts";
import { createSubscriptionPages } from "./contacts/pages/subscription-pages.ts";
import { contactRoutes } from "./contacts/routes.ts";
import { suppressionRoutes } from "./suppressions/routes.ts";
import { createExplainer } from "./segments/filters/explain-apart.ts";
import { segmentRoutes } from "./segments/routes.ts";
import { listSegmentsWithEvent, findMeantContacts, segmentsNamingField } from "./segments/usage.ts";
import { createLinter } from "./templates/linter.ts";
import { templateRoutes } from "./templates/routes.ts";
import { templateFrom } from "./templates/usage.ts";
import type { CallTargets } from "./webhooks/networks.ts";
import type { LinkOrigins } from "./link-domains/link-origins.ts";
import { linkDomainRoutes } from "./link-domains/routes.ts";
import { memberWebhookRoutes } from "./webhooks/member-routes.ts";
import { createWebhookVault } from "./webhooks/webhook-vault.ts";
import { webhookSecretRoutes } from "./webhooks/routes.ts";
import { createLiveStream } from "./stream/live-stream.ts";
import { eventStreamRoutes } from "./stream/routes.ts";
import { createOpenConnections } from "./projects/connections/open-connections.ts";
import { campaignRoutes } from "./campaigns/routes.ts";
import { campaignFrom, campaignNames, campaignsNamingField, campaignsOfSegments } from "./campaigns/usage.ts";
import { ownImagePath } from "./uploads/rules.ts";
import { openUploads } from "./uploads/open-uploads.ts";
import type { StorageSettings } from "./uploads/storage.ts";
import { lockOwnImage } from "./uploads/uploads.ts";
import { executionRoutes } from "./workflows/executions/routes.ts";
import { workflowRoutes } from "./workflows/routes.ts";
import {
  contactFiles,
  dependents,
  listWorkflowsWithEvent,
  workflowOfSegment,
  workflowStartedBy,
  workflowsNamingField,
  workflowStepsOf,
  executionsSending,
} from "./workflows/usage.ts";
import { receivedOfContact } from "./received/received-emails.ts";
import { receivedRoutes } from "./received/routes.ts";
import { securityRoutes, webhookRoutes } from "./deliveries/routes.ts";
import type { SnsEndpoint } from "./deliveries/sns.ts";
import { linkStatsOfCampaign } from "./deliveries/tracking/link-stats.ts";
import type { MailTokens } from "./deliveries/tracking/mail-tokens.ts";
import { trackingRoutes } from "./deliveries/tracking/routes.ts";
import { createTrackingEndpoint } from "./deliveries/tracking/tracking-endpoint.ts";
import { openV1 } from "./v1/open-v1.ts";
import { openSubmission, type OpenSubmission } from "./smtp-submission/open-submission.ts";
import type { SubmissionSettings } from "./smtp-submission/settings.ts";
import { analyticsRoutes } from "./reports/analytics-routes.ts";
import { createLiveActivity } from "./reports/live-activity.ts";
import { deliverabilityRoutes } from "./reports/deliverability-routes.ts";
import { activityRoutes } from "./reports/activity-routes.ts";
import { addPages } from "./instance/pages.ts";
import { instanceRoutes, mailboxRoutes, setupRoutes, type InstanceParts } from "./instance/routes.ts";
import type { InstanceFacts } from "./instance/facts.ts";

export interface ApiDependencies extends LinkParts, ProjectServers, Pick<InstanceParts, "watches"> {
  database: Database;
  sealer: Sealer;
  dns: Dns;
  sessions: Sessions;
  domains: Domains;
  publicIdOf: (projectId: string) => string;
  links: LinkOrigins;
  /** Null: it is off. */
  billing: Billing | null;
  sns: SnsEndpoint;
  mailTokens: MailTokens;
  facts: InstanceFacts;
  /** Tells where the files of uploaded images are stored. */
  storageSettings: StorageSettings;
  submissionSettings: SubmissionSettings;
  /** The name of this installation over SMTP. */
  smtpName: string;
  /** Prints a line for the instance admin. */
  say: (line: string) => void;
  inboundDomain: string | null;
  /** Networks outside the public internet that webhooks may call. */
  webhookTargets: CallTargets;
  /** Registers a component to be asked for recovery after a failover to a different database. */
  addRecoveryParticipant: (participant: RecoveryParticipant) => void;
  requestsPerMinute: number;
  trustedProxies: readonly string[];
  docsAccess: Access;
  metricsAccess: Access;
  log: Log;
  metrics: Metrics;
}

export async function createApi(deps: ApiDependencies): Promise<FastifyInstance> {
  const { database, sealer, sessions, facts, log } = deps;
  const rateLimiter = createRateLimiter(database);
  const renderer = createAskedRenderer();
  const explainer = createExplainer();
  const linter = createLinter();
  const people = { passwords: createPasswords(), verifier: createPasskeyVerifier() };
  const tracking = createTrackingEndpoint({ database, tokens: deps.mailTokens, log });
  const images = await openUploads({ ...deps, baseUrl: facts.baseUrl });
  const requestLog = createRequestLog(deps);
  const streams = openStreams(deps, rateLimiter);
  let submission: OpenSubmission = { address: null, stop: async () => undefined };
  const sending = openV1({ ...deps, renderer, origin: () => originOf(deps) });
  const routes = [
    ...sending.routes,
    ...routesOfContacts(deps, rateLimiter),
    ...suppressionRoutes(deps),
    ...segmentRoutes({ ...deps, explainer, ...campaignsOfSegments, workflowOfSegment, workflowStartedBy }),
    ...templateRoutes({ ...deps, renderer, rateLimiter, linter, workflowStepsOf, executionsSending }),
    ...images.routes,
    ...campaignRoutes({
      ...deps,
      renderer,
      linter,
      rateLimiter,
      linkStats: (projectId, campaignId) => linkStatsOfCampaign(database, projectId, campaignId),
    }),
    ...executionRoutes({ ...deps, renderer }),
    ...workflowRoutes({ database, targets: deps.webhookTargets, vault: createWebhookVault(sealer) }),
    ...eventRoutes({
      database,
      contactExists: (projectId, contactId) => contactExists(database, projectId, contactId),
      users: { segments: listSegmentsWithEvent, workflows: listWorkflowsWithEvent },
      inferType: inferFieldType,
    }),
    ...streams.reportRoutes,
    ...emailRoutes({ ...deps, listEventsOfEmail, addLateSent, addressOfUser }),
    ...receivedRoutes({ ...deps, send: sending.sendNoted }),
    ...mailboxRoutes({ database, facts }),
    ...routesOfTenants(deps, { ...people, rateLimiter }),
    ...webhookSecretRoutes({ database, sealer }),
    ...streams.eventRoutes,
    ...webhookRoutes({ sns: deps.sns }),
    ...trackingRoutes(tracking),
    ...instanceRoutes({ ...deps, rateLimiter, submissionAddress: () => submission.address }),
  ];
  const credentials = credentialsOf(deps);
  const app = await createHttp(
    {
      ...deps,
      credentials,
      rateLimiter,
      access: guardedPages(deps),
      checkHost: deps.links.checkHost,
      sessionCookie: sessions.cookie,
      origin: () => originOf(deps),
      onResponded: requestLog.note,
      constraintErrors: new Map([...JOB_CONSTRAINTS, ...CONTACT_CONSTRAINTS]),
    },
    routes,
  );
  app.addHook("preClose", async () => streams.close());
  closeAfter(app, [renderer, explainer, linter, ...Object.values(people), tracking.book, images, requestLog]);
  await addPages(app, deps);
  submission = await openSubmission({ ...deps, ...sending, credentials, rateLimiter });
  app.addHook("preClose", () => submission.stop());
  return app;
}

const originOf = ({ facts }: ApiDependencies) => new URL(facts.baseUrl()).origin;

/** Closes the given parts after all requests have been answered. */
function closeAfter(app: FastifyInstance, all: ReadonlyArray<{ close: () => unknown }>): void {
  for (const one of all) app.addHook("onClose", async () => void (await one.close()));
}

/** Returns how http.ts identifies the caller of a request. */
function credentialsOf({ database, sessions, facts }: ApiDependencies): Credentials {
  return {
    findKey: createKeyFinder(database),
    findSession: (cookie) => sessions.find(cookie),
    async findMembership(userId, projectId) {
      const membership = await findMembership(database, userId, projectId);
      const mayNotSend = facts.verificationRequired && membership?.isVerified === false;
      return membership && { ...membership, mayNotSend };
    },
    isOperatorToken: (token) => facts.operatorToken !== null && isSameSecret(token, facts.operatorToken),
  };
}

/**
 * Opens the event stream, activity and reports. Live responses never end on their own, so they are closed before the server waits for open
 * requests.
 */
function openStreams(deps: ApiDependencies, rateLimiter: RateLimiter) {
  const { database, log } = deps;
  const connections = createOpenConnections({ database, log });
  const live = createLiveActivity({ database, log, connections });
  const liveStream = createLiveStream({ database, log, connections });
  return {
    eventRoutes: eventStreamRoutes({ ...deps, rateLimiter, live: liveStream }),
    reportRoutes: [
      ...activityRoutes({ database, live }),
      ...analyticsRoutes({ database }),
      ...deliverabilityRoutes(deps),
    ],
    close() {
      live.close();
      liveStream.close();
    },
  };
}

function routesOfContacts(deps: ApiDependencies, rateLimiter: RateLimiter): Route[] {
  const { database } = deps;
  const whoNamesFields = { segmentsNamingField, campaignsNamingField, workflowsNamingField };
  return [
    ...contactRoutes({ database, linksOf: deps.linksOf, dependents, ...findMeantContacts, campaignNames }),
    ...contactBulkRoutes({ database, ...findMeantContacts }),
    ...contactFieldRoutes({ database, ...whoNamesFields }),
    ...contactFileRoutes({
      database,
      ...findMeantContacts,
      ...contactFiles,
      receivedOfContact,
      campaignNames,
    }),
    ...pageRoutes({ pages: createSubscriptionPages({ ...deps, ownImagePath, rateLimiter }) }),
  ];
}

function routesOfTenants(
  deps: ApiDependencies,
  input: { passwords: Passwords; verifier: PasskeyVerifier; rateLimiter: RateLimiter },
): Route[] {
  const shared = { ...input, ...deps.facts, checkGuess: createGuessing(input.rateLimiter) };
  return [
    ...userRoutes({ ...deps, ...shared }),
    ...accountRoutes({ ...deps, ...shared, isInvited, projectNames }),
    ...projectRoutes({ ...deps, lockOwnImage }),
    ...projectTransportRoutes({ ...deps, ...shared, ...deps.projectServers }),
    ...setupRoutes(deps),
    ...removalRoutes({ ...deps, ...paymentOf(deps) }),
    ...domainRoutes({ ...deps, templateFrom, campaignFrom }),
    ...linkDomainRoutes({ ...deps, ...shared }),
    ...memberRoutes({ ...deps, ...shared }),
    ...accountDeletionRoutes({ ...deps, ...shared }),
    ...notificationRoutes(deps),
    ...memberWebhookRoutes({ ...deps, ...shared }),
    ...auditRoutes(deps),
    ...scopedKeyRoutes(deps),
    ...requestRoutes(deps),
    ...securityRoutes(deps),
    ...billingRoutes({ ...deps, ...deps.facts }),
  ];
}
