// Opens what sends through the servers of projects, with the checks of addresses that webhooks use.
import type { Sealer } from "../platform/crypto.ts";
import type { Database } from "../platform/database/database.ts";
import type { Log } from "../platform/log.ts";
import {
  createOwnTransports,
  NO_OWN_TRANSPORTS,
  type OwnTransports,
} from "../emails/sending/own-transports.ts";
import type { FindAddresses } from "../transports/own/server.ts";
import type { Transport } from "../transports/transport.ts";
import type { ProjectServers } from "./routes.ts";

interface Parts {
  database: Database;
  sealer: Sealer;
  log: Log;
  /** The transport of the installation. */
  transport: Transport;
  heloName: string;
}

/** Email that stays on this machine must not leave through a project, for example in a copy of a live installation. */
export function openProjectServers(
  parts: Parts,
  findAddresses: FindAddresses,
): ProjectServers & { ownTransports: OwnTransports } {
  const { transport, heloName } = parts;
  return {
    projectServers: { heloName, findAddresses },
    ownTransports:
      transport.name === "mailbox" ? NO_OWN_TRANSPORTS : createOwnTransports({ ...parts, findAddresses }),
  };
}
