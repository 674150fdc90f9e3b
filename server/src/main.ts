// Reads the settings, builds each part of the program once, starts the configured roles and stops them in order.
import { hostname } from "node:os";
import type { AddressInfo } from "node:net";
import { setAddressKey } from "./platform/address-hash.ts";
import { followClock } from "./platform/clock.ts";
import { ConfigError, readConfig, type Config } from "./platform/settings/config.ts";
import { createSealer } from "./platform/crypto.ts";
import { createDatabase, type Database } from "./platform/database/database.ts";
import { createDns } from "./platform/dns.ts";
import { EmbeddedPostgresError } from "./platform/embedded-postgres/embedded-postgres.ts";
import { armFailpoints } from "./platform/failpoints.ts";
import { createHints } from "./platform/background/hints.ts";
import { createLog, type Log } from "./platform/log.ts";
import { createMetrics } from "./platform/metrics.ts";
import { migrate } from "./platform/database/migrations.ts";
import { openDatabase, startPatiently, type OpenDatabase } from "./platform/database/open-database.ts";
import { createRateLimiter } from "./platform/http/rate-limit.ts";
import { explainStartError, StartError } from "./platform/start-error.ts";
import { createTransport } from "./transports/create-transport.ts";
import { tryAll } from "./transports/transport-watch.ts";
import { createRenderer } from "./rendering/renderer.ts";
import { smtpNameOf } from "./transports/smtp-name.ts";
import { paceOf } from "./emails/sending/pace.ts";
import { defaultSystemAddress } from "./emails/platform-email/prepare-platform-email.ts";
import { findAddresses } from "./webhooks/find-addresses.ts";
import { openProjectServers } from "./own-transports/open-servers.ts";
import { createSessions } from "./users/sessions.ts";
import { hasUsers } from "./users/users.ts";
import { createPublicIds } from "./projects/public-ids.ts";
import { openBilling } from "./billing/stripe.ts";
import { createDomains } from "./domains/domains.ts";
import { createContactLinks, createLinkReader } from "./contacts/links.ts";
import { createLinkOrigins } from "./link-domains/link-origins.ts";
import { parseNetworks } from "./webhooks/networks.ts";
import { createNoticeStore, type NoticeStore } from "./deliveries/notices.ts";
import { createGuard } from "./deliveries/reputation.ts";
import { createReturnPaths } from "./deliveries/return-path.ts";
import { openSnsEndpoint } from "./deliveries/open-sns.ts";
import { createMailTokens } from "./deliveries/tracking/mail-tokens.ts";
import { bootstrap, explainIgnored } from "./instance/bootstrap.ts";
import { factsOf } from "./instance/facts.ts";
import { greet, warnAboutRoot } from "./instance/greeting.ts";
import { SETTING_CHECKS } from "./instance/setting-checks.ts";
import { startRecords } from "./instance/start-records.ts";
import { openStatusServer } from "./instance/status-server.ts";
import { watchDatabase } from "./instance/watch-database.ts";
import { startWorker } from "./worker.ts";

const RENDER_THREADS = 1;
const FORCED_STOP_MS = 19_000;

export interface Running {
  /** The address of the HTTP server, or null without the role `api`. */
  url: string | null;
  /** The address of the status endpoints in a process without the role `api`, otherwise null. */
  statusUrl: string | null;
  /** Drains the process, which finishes what is in flight and accepts nothing new. */
  stop(): Promise<void>;
}

/**
 * Starts the configured roles and resolves when all of them are up.
 * @param signal aborts a start that is waiting for its database
 */
export async function startPostloft(
  config: Config,
  log: Log,
  say: (line: string) => void,
  signal: AbortSignal = new AbortController().signal,
): Promise<Running> {
  const opened = await openDatabase(config, log, say);
  const { pool } = opened;
  // Created once for all tries because connections keep its statements prepared by name.
  const database = createDatabase(pool);
  const closing: Array<() => Promise<void>> = [];
  const closeParts = async () => {
    for (const close of closing.splice(0).toReversed()) await close();
  };
  const start = async () => {
    try {
      const applied = await migrate(pool, say);
      if (applied.length > 0) say(`Database migrated (migrations applied: ${applied.length}).`);
      const secret = await opened.readSecret(() => hasUsers(database));
      setAddressKey(secret);
      return await startRoles(config, { database, pool, secret, log, say, closing });
    } catch (error) {
      await closeParts().catch((failure: unknown) =>
        log.debug({ err: failure }, "failed to close a component after a failed start"),
      );
      throw error;
    }
  };
  try {
    const listening = await startPatiently(start, { databaseUrl: config.DATABASE_URL, say, signal });
    return {
      ...listening,
      async stop() {
        await closeParts();
        await opened.close();
      },
    };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

interface Ground extends Pick<OpenDatabase, "pool"> {
  secret: string;
  database: Database;
  log: Log;
  say: (line: string) => void;
  /** Close functions in the order in which the parts were opened. */
  closing: Array<() => Promise<void>>;
}

/** Builds the parts that all roles share. */
async function buildParts(config: Config, { database, secret, log, closing }: Ground) {
  const metrics = createMetrics();
  const sealer = createSealer(secret);
  const smtpName = smtpNameOf(config.SMTP_NAME, config.BASE_URL, hostname());
  const sending = await createTransport(config, { database, log, heloName: smtpName });
  const { transport } = sending;
  const renderer = createRenderer({ threads: RENDER_THREADS, startsAhead: config.ROLES.includes("worker") });
  closing.push(() => renderer.close());
  const dns = createDns(config.DNS_SERVERS);
  // With PORT=0 the public address is only known after the port.
  const address = { url: config.BASE_URL ?? "http://localhost" };
  const domains = createDomains({
    database,
    sealer,
    dns,
    log,
    staysHere: transport.name === "mailbox",
    returnPath: transport.name === "smtp" ? (config.BOUNCE_DOMAIN ?? null) : null,
    inboundHost: config.INBOUND_DOMAIN === undefined ? null : smtpName,
    baseUrl: () => address.url,
  });
  const networks = parseNetworks(config.WEBHOOK_ALLOW_PRIVATE);
  const secure = address.url.startsWith("https:");
  const sessions = createSessions({ database, applicationSecret: secret, secure });
  const links = createLinkOrigins({ database, baseUrl: () => address.url, log, metrics });
  await links.start();
  closing.push(() => links.stop());
  return {
    billing: await openBilling(config, log),
    database,
    metrics,
    sealer,
    ...sending,
    smtpName,
    ...openProjectServers({ database, sealer, log, transport, heloName: smtpName }, (host) =>
      findAddresses(host, { dns, networks }),
    ),
    renderer,
    dns,
    webhookTargets: { networks, ports: config.WEBHOOK_ALLOW_PORTS },
    domains,
    address,
    sessions,
    links,
    linksOf: createContactLinks(secret, links.originOf),
    pace: paceOf(config),
    systemFrom: config.SYSTEM_FROM ?? defaultSystemAddress(address.url),
    readLink: createLinkReader(secret),
    returnPaths: createReturnPaths(secret),
    mailTokens: createMailTokens(secret, links.originOf),
    bounceDomain: config.BOUNCE_DOMAIN ?? null,
    inboundDomain: config.INBOUND_DOMAIN ?? null,
    operator: config.OPERATOR_EMAIL?.address ?? config.BOOTSTRAP_EMAIL ?? null,
    publicIdOf: createPublicIds(secret),
    guard: createGuard({ isOn: config.REPUTATION_GUARD, baseUrl: () => address.url }),
    log,
  };
}

async function startRoles(config: Config, ground: Ground): Promise<Pick<Running, "url" | "statusUrl">> {
  const { closing, say } = ground;
  // A process loads only the code of its roles. It does so before loops run, because on a slow machine their connections would time out meanwhile.
  const http = config.ROLES.includes("api") ? await import("./api.ts") : null;
  const parts = await buildParts(config, ground);
  const clock = await followClock(parts);
  closing.push(() => clock.stop());
  const { addRecoveryParticipant } = await watchDatabase(parts, ground, config.DATA_DIR);
  const accounts = await bootstrap(parts.database, parts.sealer, config);
  if (accounts === "has accounts") (await explainIgnored(parts.database, config)).forEach(say);
  const { address, transport } = parts;
  const facts = factsOf(config, { transportName: transport.name, baseUrl: () => address.url });
  await startRecords(parts, facts, closing);
  const hints = createHints({ ...parts, pool: ground.pool });
  closing.push(() => hints.stop());
  if (config.ROLES.includes("worker")) {
    const worker = await startWorker({ ...parts, publicKeyLimits: config, addRecoveryParticipant });
    closing.push(() => worker.stop());
    tryAll(parts.watches, say);
  }
  hints.start();
  const notices = createNoticeStore(parts.database);
  await openSmtp(config, parts, notices, ground);
  if (http === null) {
    const status = await openStatusServer({
      ...parts,
      dataDir: facts.dataDir,
      host: config.HOST,
      port: config.STATUS_PORT ?? null,
      metricsAccess: config.METRICS_ACCESS,
      trustsProxies: config.TRUST_PROXY.length > 0,
      origin: () => config.BASE_URL,
    });
    closing.push(() => status.stop());
    const roles = config.ROLES.join(",");
    say(`Postloft is ready (ROLES=${roles}). HTTP serves only ${status.url}/health, /ready and /metrics.`);
    return { url: null, statusUrl: status.url };
  }
  const { closeHttp } = await import("./platform/http/http.ts");
  const api = await http.createApi({
    ...parts,
    facts,
    storageSettings: config,
    submissionSettings: config,
    say,
    addRecoveryParticipant,
    sns: openSnsEndpoint({ ...parts, notices, topics: config.SNS_TOPIC_ARNS }),
    requestsPerMinute: config.API_RATE_LIMIT_PER_MINUTE,
    trustedProxies: config.TRUST_PROXY,
    docsAccess: config.DOCS_ACCESS,
    metricsAccess: config.METRICS_ACCESS,
  });
  closing.push(() => closeHttp(api));
  await api.listen({ port: config.PORT, host: config.HOST });
  const { port } = api.server.address() as AddressInfo;
  address.url = config.BASE_URL ?? `http://localhost:${port}`;
  await greet({ database: parts.database, facts, accounts, config }, say);
  return { url: `http://${config.HOST}:${port}`, statusUrl: null };
}

type Parts = Awaited<ReturnType<typeof buildParts>>;

/** Listens for SMTP if there is a domain to receive for. */
async function openSmtp(
  config: Config,
  parts: Parts,
  notices: NoticeStore,
  { closing, say }: Ground,
): Promise<void> {
  if (!config.ROLES.includes("smtp") || (parts.bounceDomain ?? parts.inboundDomain) === null) return;
  const { startSmtp } = await import("./smtp.ts");
  const endpoint = await startSmtp({
    ...parts,
    notices,
    rateLimiter: createRateLimiter(parts.database),
    host: config.HOST,
    port: config.SMTP_PORT,
    name: parts.smtpName,
  });
  closing.push(() => endpoint.stop());
  for (const line of endpoint.description) say(line);
}

function printLine(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function main(): Promise<void> {
  // Read the settings before creating anything, so that an invalid setting leaves no half-finished state.
  const config = readConfig(undefined, SETTING_CHECKS);
  const log = createLog({ level: config.LOG_LEVEL, ...(config.LOG_FORMAT && { format: config.LOG_FORMAT }) });
  armFailpoints(config.FAILPOINTS);
  // The reader of our output may be gone or its disk full. Keep working regardless.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
  const stopped = Promise.withResolvers<string>();
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => stopped.resolve(signal));
  // Once the parent process is gone, no one could stop this one.
  process.on("disconnect", () => stopped.resolve("parent process ended"));
  process.on("unhandledRejection", (error) =>
    log.error({ err: error }, "unhandled promise rejection, which is a bug"),
  );
  warnAboutRoot(config, printLine);
  const ending = new AbortController();
  void stopped.promise.then(() => ending.abort());
  const running = await startPostloft(config, log, printLine, ending.signal).catch((error: unknown) => {
    // The start is no longer wanted.
    if (ending.signal.aborted) process.exit(0);
    throw explainStartError(error, config) ?? error;
  });
  const reason = await stopped.promise;
  printLine(`Stopping (${reason}). Finishing work in flight first.`);
  setTimeout(() => process.exit(1), FORCED_STOP_MS).unref();
  await running.stop();
  process.exit(0);
}

if (import.meta.main) {
  main().catch((error: unknown) => {
    const isExpected = [ConfigError, EmbeddedPostgresError, StartError].some((kind) => error instanceof kind);
    const { message, stack } = error instanceof Error ? error : new Error(String(error));
    process.stderr.write(`${isExpected ? message : stack}\n`);
    process.exit(1);
  });
}
