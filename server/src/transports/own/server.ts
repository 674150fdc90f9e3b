// Creates the transport of a project, which connects only to addresses that the instance admin allows.
import { isIP, type LookupFunction } from "node:net";
import type { Log } from "../../platform/log.ts";
import { createFailoverTransport, outageOf } from "../failover.ts";
import { PROJECT_CONNECTIONS, type ProjectServer } from "./url.ts";
import { createSmtpTransport } from "../smtp.ts";
import type { SesTimeouts } from "../ses-connections.ts";
import type { SmtpTimeouts } from "../smtp-timeouts.ts";
import { rejectionOutcome, type Transport } from "../transport.ts";

/** Resolves a host. @throws Error with a text for users if the host has no address, or one that must not be connected to */
export type FindAddresses = (host: string) => Promise<readonly string[]>;

export interface ProjectTransportOptions {
  heloName: string;
  findAddresses: FindAddresses;
  log: Log;
  /** Called at the third outage in a row with its reply, and with null when a server replies again. */
  onOutage?: (reply: string | null) => void;
}

/** Shorter than those of the installation's server, so that a dead server soon frees its connections for other projects. */
const SMTP_TIMEOUTS: Partial<SmtpTimeouts> = {
  connectMs: 10_000,
  greetingMs: 15_000,
  helloMs: 15_000,
  tlsMs: 10_000,
  authMs: 15_000,
  mailMs: 60_000,
};
const SES_TIMEOUTS: Partial<SesTimeouts> = { connectMs: 10_000 };
const OUTAGES_TO_REPORT = 3;

/** Returns the location of a server for timelines, without credentials. */
function labelOfServer({ kind, server }: ProjectServer): string {
  return kind === "smtp" ? `smtp ${server.host}:${server.port}` : `ses ${server.region}`;
}

/** Creates the transport of a server without a circuit breaker. Connects with the first message. */
export async function openProjectServer(
  target: ProjectServer,
  { heloName, findAddresses }: Pick<ProjectTransportOptions, "heloName" | "findAddresses">,
): Promise<Transport> {
  const connections = Math.min(target.server.connections ?? PROJECT_CONNECTIONS, PROJECT_CONNECTIONS);
  const lookup = lookupWith(findAddresses);
  if (target.kind === "smtp") {
    const url = { ...target.server, connections };
    return withCheckedHost(
      createSmtpTransport({ url, heloName, lookup, timeouts: SMTP_TIMEOUTS }),
      url.host,
      findAddresses,
    );
  }
  // Loaded only when used because the AWS SDK costs 30 MB of memory and a tenth of a second.
  const { createSesTransport } = await import("../ses.ts");
  const url = { ...target.server, connections };
  const host = url.endpoint === undefined ? "" : new URL(url.endpoint).hostname.replace(/^\[(.*)\]$/, "$1");
  return withCheckedHost(
    createSesTransport({ url, ...target.key, lookup, timeouts: SES_TIMEOUTS }),
    host,
    findAddresses,
  );
}

/**
 * Creates a transport that is skipped for growing pauses after repeated outages, so that the email of its project is deferred without a
 * connection. Each outcome names the server.
 */
export async function createProjectTransport(
  target: ProjectServer,
  options: ProjectTransportOptions,
): Promise<Transport> {
  const label = labelOfServer(target);
  const single = await openProjectServer(target, options);
  const watched = reportOutages(single, options.onOutage ?? (() => undefined));
  return named(createFailoverTransport([{ transport: watched, label }], { log: options.log }), label);
}

/** Returns a transport that defers every email with a reason, for a transport whose URL cannot be read. */
export function createBrokenTransport(reason: string): Transport {
  const broken: Transport = {
    name: "unavailable",
    send: async () => rejectionOutcome("unavailable", reason),
    close: async () => undefined,
  };
  return named(broken, broken.name);
}

/** Names the server in outages too, in which failover names none. */
function named(transport: Transport, label: string): Transport {
  return {
    ...transport,
    async send(message, mayLeave) {
      const outcome = await transport.send(message, mayLeave);
      return outcome.kind === "withdrawn" ? outcome : { ...outcome, by: label };
    },
  };
}

function reportOutages(transport: Transport, onOutage: (reply: string | null) => void): Transport {
  let outages = 0;
  /** Null until the first reply, because an earlier process may have stored an outage. */
  let isOut: boolean | null = null;
  return {
    ...transport,
    async send(message, mayLeave) {
      const outcome = await transport.send(message, mayLeave);
      const outage = outageOf(outcome);
      if (outage === undefined) return outcome;
      outages = outage === null ? 0 : outages + 1;
      const isReported = outage === null ? isOut !== false : isOut !== true && outages >= OUTAGES_TO_REPORT;
      if (isReported) {
        isOut = outage !== null;
        onOutage(outage);
      }
      return outcome;
    },
  };
}

/** Checks a host that is an address, because Node does not look addresses up. */
function withCheckedHost(transport: Transport, host: string, findAddresses: FindAddresses): Transport {
  if (isIP(host) === 0) return transport;
  const { reach } = transport;
  return {
    ...transport,
    async send(message, mayLeave) {
      try {
        await findAddresses(host);
      } catch (error) {
        return rejectionOutcome("unavailable", `CONNECT: ${textOf(error)}`);
      }
      return transport.send(message, mayLeave);
    },
    ...(reach === undefined
      ? {}
      : {
          async reach() {
            await findAddresses(host);
            return reach();
          },
        }),
  };
}

/** Returns a lookup function for sockets, so that a connection uses the addresses that were checked. */
function lookupWith(findAddresses: FindAddresses): LookupFunction {
  return (host, { all }, callback) => {
    void callbackWith(findAddresses(host), (error, addresses) => {
      const found = addresses.map((address) => ({ address, family: isIP(address) }));
      if (error !== null || all !== true) callback(error, found[0]?.address ?? "", found[0]?.family);
      else callback(null, found);
    });
  };
}

async function callbackWith(
  finding: Promise<readonly string[]>,
  callback: (error: Error | null, addresses: readonly string[]) => void,
): Promise<void> {
  const [found] = await Promise.allSettled([finding]);
  if (found.status === "fulfilled") callback(null, found.value);
  else callback(found.reason instanceof Error ? found.reason : new Error(String(found.reason)), []);
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
