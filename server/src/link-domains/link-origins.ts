// Knows the link domain of every project in memory, because each email, link and request needs it.
import { startLoop, type Loop } from "../platform/background/background.ts";
import type { Database } from "../platform/database/database.ts";
import { AppError } from "../platform/app-error.ts";
import { FONT_PATH, ICON_PATH } from "../platform/http/public-page.ts";
import { NO_ONE } from "../platform/ids.ts";
import type { Log } from "../platform/log.ts";
import type { Metrics } from "../platform/metrics.ts";
import { listServedLinkDomains } from "./queries.ts";
import { originAt, projectOfPath, REACH_PATH } from "./rules.ts";

const REFRESH_MS = 30_000;
const PAGE_ROWS = 10_000;

export interface LinkOrigins {
  /** Returns the address at which links, images and pages of a project are: its active link domain, or the installation. */
  originOf(projectId: string): string;
  /**
   * Returns why a request does not belong on this host, or null. A link domain serves only links, images and pages of its project, because
   * other projects could harm its reputation, and accounts belong to the installation's own address.
   */
  checkHost(host: string, path: string): AppError | null;
  /** Returns whether a host is a link domain, current or former. */
  isServed(host: string): boolean;
  /** Reads the domains, and follows their changes from then on. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** What every domain serves: the proof that it leads here, and the icon and font of the pages. */
const OF_ALL: ReadonlySet<string> = new Set([REACH_PATH, ICON_PATH, FONT_PATH]);

/** Returns a host name in the form in which it is stored. Browsers keep a final dot, which names the same host. */
export const nameOf = (host: string): string => host.replace(/\.$/, "").toLowerCase();

export function createLinkOrigins(options: {
  database: Database;
  baseUrl: () => string;
  log: Log;
  metrics: Metrics;
}): LinkOrigins {
  const { database, baseUrl, log, metrics } = options;
  let domains = new Map<string, string>();
  let hosts = new Map<string, string>();
  let loop: Loop | null = null;

  async function refresh(): Promise<void> {
    const active = new Map<string, string>();
    const served = new Map<string, string>();
    for (let after = { projectId: NO_ONE, domain: "" }; ;) {
      const rows = await listServedLinkDomains(database, { after, limit: PAGE_ROWS });
      for (const { projectId, domain, status } of rows) {
        // A project that has verified a domain comes before one that only used it once.
        if (status !== "PENDING" || !served.has(domain)) served.set(domain, projectId.replaceAll("-", ""));
        if (status === "ACTIVE") active.set(projectId, domain);
      }
      const last = rows.at(-1);
      if (rows.length < PAGE_ROWS || last === undefined) break;
      after = last;
    }
    [domains, hosts] = [active, served];
  }

  return {
    originOf(projectId) {
      const domain = domains.get(projectId);
      return domain === undefined ? baseUrl() : originAt(domain, baseUrl());
    },
    isServed: (host) => hosts.has(nameOf(host)),
    checkHost(host, path) {
      if (hosts.size === 0) return null;
      const name = nameOf(host);
      const owner = hosts.get(name);
      // The address of the installation may have been a link domain before.
      if (name === new URL(baseUrl()).hostname) return null;
      if (owner === undefined || OF_ALL.has(path) || projectOfPath(path) === owner) return null;
      return new AppError("RESOURCE_NOT_FOUND");
    },
    async start() {
      await refresh();
      loop = startLoop({
        name: "link domains",
        runOnce: refresh,
        everyMs: REFRESH_MS,
        delayMs: REFRESH_MS,
        notifiedBy: { database, topic: "link-domains" },
        log,
        metrics,
      });
    },
    async stop() {
      await loop?.stop();
    },
  };
}
