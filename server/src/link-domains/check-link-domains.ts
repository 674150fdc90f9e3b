// Checks link domains: DNS must prove them and lead here, and the domain must respond. On request and on a schedule.
import { isIP } from "node:net";
import { startLoop, type Loop } from "../platform/background/background.ts";
import { transaction, type Database, type Tx } from "../platform/database/database.ts";
import type { Dns } from "../platform/dns.ts";
import type { Log } from "../platform/log.ts";
import type { Metrics } from "../platform/metrics.ts";
import { notify } from "../platform/notify.ts";
import { SYSTEM_PROJECT_ID } from "../emails/rows/system-project.ts";
import { nextCheckMs } from "../domains/rules.ts";
import { notificationMail } from "../projects/members/notification-mails.ts";
import { notifyMembers } from "../projects/members/notifications.ts";
import { createWebhookCaller } from "../webhooks/call-webhook.ts";
import { parseNetworks, type CallTargets } from "../webhooks/networks.ts";
import {
  claimDueLinkDomains,
  findLinkDomain,
  findLinkDomainOwner,
  listDueLinkDomains,
  lockLinkDomainName,
  updateLinkDomainCheck,
  type LinkDomainCheck,
  type LinkDomainRow,
} from "./queries.ts";
import {
  afterDns,
  afterReach,
  aliasRecord,
  originAt,
  proofRecord,
  REACH_PATH,
  type CheckResult,
  type LinkDomainState,
} from "./rules.ts";

/** Domains claimed per batch. With a dead DNS and hanging servers a batch takes up to 135 s, which is less than the lease. */
const BATCH_SIZE = 50;
const CHECKS_AT_ONCE = 10;
const MAX_BATCHES = 200;
const CLAIM_LEASE_MS = 3 * 60_000;
const POLL_EVERY_MS = 30_000;

export interface LinkDomainParts {
  database: Database;
  dns: Dns;
  webhookTargets: CallTargets;
  publicIdOf: (projectId: string) => string;
  baseUrl: () => string;
  log: Log;
}

/**
 * Returns the text at `REACH_PATH`, which is the same for every process of the installation. With another host the proxy doesn't pass on the
 * name, and the installation couldn't tell projects apart.
 */
export function installationMark(publicIdOf: LinkDomainParts["publicIdOf"], host: string): string {
  return `postloft ${publicIdOf(SYSTEM_PROJECT_ID)} ${host}`;
}

/** Checks the domain of a project now, if it has one. Never throws because of DNS or the domain's server. */
export async function checkLinkDomain(parts: LinkDomainParts, projectId: string): Promise<void> {
  const row = await findLinkDomain(parts.database, projectId);
  if (row === undefined) return;
  const { checked, found, addresses } = await askDns(parts, row);
  const status = await transaction(parts.database, (tx) =>
    recordCheck(tx, parts, row, { checked, found, next: afterDns }),
  );
  if (status === "PENDING" || status === undefined || checked.result !== "ok") return;
  const reached = await reach(parts, row.domain, addresses);
  await transaction(parts.database, (tx) =>
    recordCheck(tx, parts, row, { checked: reached, next: afterReach }),
  );
}

/** Checks due domains on a schedule until stopped. Any number of processes may run this. */
export function startLinkDomainChecks(parts: LinkDomainParts & { metrics: Metrics }): Loop {
  const { database, log, metrics } = parts;

  async function checkClaimed(projectId: string): Promise<void> {
    await checkLinkDomain(parts, projectId).catch((error: unknown) =>
      log.warn({ err: error, projectId }, "failed to check a link domain, retrying soon"),
    );
  }

  async function checkBatch(signal: AbortSignal): Promise<number> {
    const due = await listDueLinkDomains(database, BATCH_SIZE);
    if (due.length === 0) return 0;
    const claimed = await transaction(database, (tx) => claimDueLinkDomains(tx, due, CLAIM_LEASE_MS));
    const count = claimed.length;
    await Promise.all(
      Array.from({ length: CHECKS_AT_ONCE }, async () => {
        for (let id = claimed.shift(); id !== undefined && !signal.aborted; id = claimed.shift())
          await checkClaimed(id);
      }),
    );
    return count;
  }

  return startLoop({
    name: "link domain checks",
    async runOnce(signal) {
      for (let batch = 0; batch < MAX_BATCHES && !signal.aborted; batch++)
        if ((await checkBatch(signal)) === 0) return;
    },
    everyMs: POLL_EVERY_MS,
    delayMs: POLL_EVERY_MS,
    log,
    metrics,
  });
}

/** Looks up both records. `addresses`: those of the installation, which the domain may have. */
async function askDns({ dns, baseUrl, publicIdOf }: LinkDomainParts, { domain, projectId }: LinkDomainRow) {
  const alias = aliasRecord(domain, baseUrl());
  const proof = proofRecord(domain, publicIdOf(projectId));
  const [proofs, names, own, ours] = await Promise.all([
    dns.txt(proof.name),
    dns.records(domain, "CNAME"),
    addressesOf(dns, domain),
    isIP(alias.value) === 0 ? addressesOf(dns, alias.value) : { values: [alias.value], trouble: null },
  ]);
  const cname = names.kind === "records" ? names.records : [];
  const isNamed = cname.some((name) => sameName(name, alias.value));
  const leadsHere =
    isNamed || (own.values.length > 0 && own.values.every((one) => ours.values.includes(one)));
  const foundAlias = cname.length > 0 ? cname : own.values;
  const trouble = [
    troubleOf(proofs),
    // Without an address the domain can't be reached, whatever its alias is.
    leadsHere ? own.trouble : (troubleOf(names) ?? own.trouble ?? ours.trouble),
  ];
  const foundProof = proofs.kind === "records" ? proofs.records : [];
  const detail = trouble.find((one) => one !== null) ?? null;
  const isProven = foundProof.some((value) => value.trim() === proof.value);
  const checked: CheckResult =
    detail !== null
      ? { result: "unknown", problem: "DNS_UNANSWERED", detail }
      : isProven && leadsHere
        ? { result: "ok", problem: null, detail: null }
        : {
            result: "failed",
            problem: foundAlias.length > 0 && !leadsHere ? "DNS_ELSEWHERE" : "DNS_MISSING",
            detail: null,
          };
  // A record without a response keeps its last value.
  const found = {
    ...(trouble[0] === null && { foundProof }),
    ...(trouble[1] === null && { foundAlias, leadsHere }),
  };
  return { checked, found, addresses: ours.values };
}

const sameName = (a: string, b: string) => a.replace(/\.$/, "").toLowerCase() === b.toLowerCase();

type DnsResponse = Awaited<ReturnType<Dns["txt"]>>;

const troubleOf = (response: DnsResponse) => (response.kind === "unanswered" ? response.reason : null);

async function addressesOf(dns: Dns, name: string): Promise<{ values: string[]; trouble: string | null }> {
  const responses = await Promise.all([dns.records(name, "A"), dns.records(name, "AAAA")]);
  const values = responses.flatMap((one) => (one.kind === "records" ? one.records : []));
  return {
    values,
    trouble: values.length > 0 ? null : (responses.map(troubleOf).find((one) => one !== null) ?? null),
  };
}

/**
 * Requests a page at the domain. `unknown`: the installation's own address doesn't respond either, so the domain is not the cause. Only the
 * public internet, the operator's targets and the installation's own addresses are called.
 */
async function reach(
  { dns, webhookTargets, publicIdOf, baseUrl }: LinkDomainParts,
  domain: string,
  addresses: readonly string[],
): Promise<CheckResult> {
  const port = Number(new URL(baseUrl()).port);
  const call = createWebhookCaller({
    dns,
    targets: {
      networks: [...webhookTargets.networks, ...parseNetworks(addresses)],
      ports: port === 0 ? webhookTargets.ports : [...webhookTargets.ports, [port, port]],
    },
  });
  const get = async (origin: string) =>
    call({ url: `${origin}${REACH_PATH}`, method: "GET", headers: {}, body: null });
  const { status, body, error } = await get(originAt(domain, baseUrl()));
  if (status === 200 && body === installationMark(publicIdOf, domain))
    return { result: "ok", problem: null, detail: null };
  const problem = status === null ? "UNREACHABLE" : "OTHER_SERVER";
  const isOurs = status === null && (await get(baseUrl())).status !== 200;
  return { result: isOurs ? "unknown" : "failed", problem, detail: error };
}

interface CheckToRecord {
  checked: CheckResult;
  found?: LinkDomainCheck["found"];
  next: (state: LinkDomainState, checked: CheckResult, now: Date) => LinkDomainState;
}

/** Stores a result, if the project still has this domain. Returns the status after it, or undefined. */
async function recordCheck(
  tx: Tx,
  { baseUrl }: LinkDomainParts,
  { projectId, domain }: LinkDomainRow,
  { checked, found, next }: CheckToRecord,
): Promise<LinkDomainRow["status"] | undefined> {
  await lockLinkDomainName(tx, domain);
  const row = await findLinkDomain(tx, projectId);
  if (row?.domain !== domain) return undefined;
  const state = next(row, checked, row.now);
  const isTaken = row.status === "PENDING" && state.status !== "PENDING" && (await isOfAnother(tx, row));
  const { status, failedChecks, failedAt } = isTaken ? row : state;
  const hasChanged = status !== row.status;
  const isStored = await updateLinkDomainCheck(tx, row, {
    status,
    failedChecks,
    failedAt,
    problem: isTaken ? "TAKEN" : checked.problem,
    problemDetail: isTaken ? null : checked.detail,
    ...(found !== undefined && { found }),
    hasChanged,
    nextCheckMs: nextCheckMs(status, hasChanged ? row.now : row.statusChangedAt, row.now),
  });
  if (!isStored) return undefined;
  if (hasChanged) notify(tx, "link-domains");
  if (row.status === "ACTIVE" && hasChanged) {
    const mail = notificationMail(
      (texts) => texts.lostLinkDomain({ domain }),
      `${baseUrl()}/app/${projectId}/domains`,
    );
    await notifyMembers(tx, { projectId, kind: "domain-lost", facts: { domainId: null, domain } }, mail);
  }
  return status;
}

async function isOfAnother(tx: Tx, { projectId, domain }: LinkDomainRow): Promise<boolean> {
  const owner = await findLinkDomainOwner(tx, domain);
  return owner !== undefined && owner !== projectId;
}
