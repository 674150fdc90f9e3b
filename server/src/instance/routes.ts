// HTTP routes of the installation: config, health, metrics, documentation and the local mailbox.
import * as contract from "@postloft/contract/instance.ts";
import * as mailboxContract from "@postloft/contract/mailbox.ts";
import { openApiDocument } from "@postloft/contract/openapi/openapi.ts";
import { getSetupState } from "@postloft/contract/projects.ts";
import type { Database } from "../platform/database/database.ts";
import { isLoopback } from "../platform/http/loopback.ts";
import { noContent, ok, route, type Route } from "../platform/http/route.ts";
import type { Log } from "../platform/log.ts";
import type { Metrics } from "../platform/metrics.ts";
import { encodeFilename, FROM_OUTSIDE } from "../platform/http/foreign-files.ts";
import type { RateLimiter } from "../platform/http/rate-limit.ts";
import { readPage } from "../platform/http/page.ts";
import { AppError } from "../platform/app-error.ts";
import { listPlatformEmails } from "../emails/platform-email/platform-email.ts";
import {
  emptyMailbox,
  getAttachment,
  getMessage,
  getRawMessage,
  listMessages,
} from "../transports/kept-messages.ts";
import type { Domains } from "../domains/domains.ts";
import type { SubmissionAddress } from "../smtp-submission/open-submission.ts";
import { findFirstUser } from "../users/users.ts";
import type { InstanceFacts } from "./facts.ts";
import { installationRoutes } from "./installation-routes.ts";
import type { InstallationParts } from "./read-installation.ts";
import { shared } from "./shared-work.ts";
import { responseHealth, responseReady } from "./health.ts";
import { readSetupState } from "./setup-state.ts";

export interface InstanceParts extends InstallationParts {
  metrics: Metrics;
  rateLimiter: RateLimiter;
  log: Log;
  /** Null: it is off. */
  billing: object | null;
  /** Returns where programs submit over SMTP, or null if they can't. */
  submissionAddress: () => SubmissionAddress | null;
}

export function instanceRoutes(parts: InstanceParts): Route[] {
  const { database, metrics, facts, billing, submissionAddress } = parts;
  return [
    ...installationRoutes(parts),
    route(contract.getConfig, async () => ok(publicConfig(facts, billing !== null, submissionAddress()))),
    route(contract.getHealth, async () => ok(responseHealth())),
    route(
      contract.getReadiness,
      shared(async () => responseReady(database, facts.dataDir)),
    ),
    route(contract.getMetrics, async () => ({
      ...ok(await metrics.registry.metrics()),
      headers: { "content-type": metrics.registry.contentType },
    })),
    route(contract.getOpenApi, async () => ({
      ...ok(JSON.stringify(openApiDocument(facts.baseUrl(), facts.version))),
      headers: { "content-type": "application/json; charset=utf-8" },
    })),
  ];
}

function publicConfig(facts: InstanceFacts, hasBilling: boolean, submission: SubmissionAddress | null) {
  const { baseUrl, transportName, signupsDisabled, oauth } = facts;
  return {
    environment: "production",
    urls: { api: baseUrl(), dashboard: `${baseUrl()}/app`, docs: `${baseUrl()}/docs` },
    features: {
      signups: !signupsDisabled,
      billing: hasBilling,
      storage: true,
      authProviders: {
        github: oauth.github !== null,
        google: oauth.google !== null,
        oidc: oauth.oidc !== null,
      },
      email: { provider: transportName, trackingToggleEnabled: true },
      smtp: publicSubmission(submission, baseUrl()),
    },
  };
}

/** Returns the settings that programs need to submit. Other machines connect to the host of the installation. */
function publicSubmission(address: SubmissionAddress | null, baseUrl: string) {
  if (address === null) return { enabled: false, domain: null, ports: null, tls: false };
  const { host, port, tlsPort, hasCertificate } = address;
  return {
    enabled: true,
    domain: isLoopback(host) ? host : new URL(baseUrl).hostname,
    ports: { submission: port, secure: tlsPort },
    tls: hasCertificate,
  };
}

export function setupRoutes(parts: { database: Database; domains: Domains }): Route[] {
  return [route(getSetupState, async ({ projectId }) => ok(await readSetupState(parts, projectId)))];
}

export function mailboxRoutes({ database, facts }: { database: Database; facts: InstanceFacts }): Route[] {
  return [
    route(mailboxContract.listPlatformEmails, async ({ query, userId }) => {
      if (userId !== null && !(await isPlatformEmailReader(database, facts, userId)))
        throw new AppError("RESOURCE_NOT_FOUND");
      return ok(await listPlatformEmails(database, readPage("messages", query), query.search));
    }),
    route(mailboxContract.listMessages, async ({ projectId, query }) =>
      ok(await listMessages(database, projectId, query, readPage("messages", query))),
    ),
    route(mailboxContract.getMessage, async ({ projectId, params }) =>
      ok(await getMessage(database, projectId, params.id)),
    ),
    route(mailboxContract.getRawMessage, async ({ projectId, params }) => ({
      ...ok(await getRawMessage(database, projectId, params.id)),
      headers: {
        "content-type": "message/rfc822",
        "content-disposition": "inline",
        "content-security-policy": FROM_OUTSIDE,
      },
    })),
    route(mailboxContract.getAttachment, async ({ projectId, params }) => {
      const { filename, bytes } = await getAttachment(database, projectId, params);
      return {
        ...ok(bytes),
        headers: {
          "content-type": "application/octet-stream",
          "content-disposition": `attachment; filename*=UTF-8''${encodeFilename(filename)}`,
          "content-security-policy": FROM_OUTSIDE,
        },
      };
    }),
    route(mailboxContract.deleteMessages, async ({ projectId, commit }) =>
      commit(async (tx) => {
        await emptyMailbox(tx, projectId);
        return noContent();
      }),
    ),
  ];
}

/**
 * Only the first account may read platform email. Another account with the admin's address may belong to anyone, because addresses are not
 * verified.
 */
async function isPlatformEmailReader(
  database: Database,
  { platformEmailReader }: InstanceFacts,
  userId: string,
): Promise<boolean> {
  if (platformEmailReader === null) return false;
  const first = await findFirstUser(database);
  return first !== undefined && first.id === userId && first.email === platformEmailReader;
}
