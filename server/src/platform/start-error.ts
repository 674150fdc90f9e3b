// Explains why the program cannot start, with the setting in question and what to do. Pure.
import type { Config } from "./settings/config.ts";
import { databaseErrorCode, DISK_FULL } from "./database/database.ts";

/** An error whose message is complete, so that its stack trace is not printed. */
export class StartError extends Error {
  override name = "StartError";
}

type Settings = Pick<Config, "HOST" | "PORT" | "SMTP_PORT" | "DATABASE_URL">;

/** Messages by system error code; `{name}` is the setting of the port. */
const LISTENING: Readonly<Record<string, string>> = {
  EADDRINUSE:
    "Port {port} is in use at {host}: another program listens there, or Postloft runs already. Stop it, or set {name} to another port.",
  EADDRNOTAVAIL:
    "{host} is no address of this machine. Set HOST to one of its addresses: 127.0.0.1 for this machine alone, 0.0.0.0 for all.",
  ENOTFOUND: "HOST {host} has no address. Set it to an address of this machine, such as 127.0.0.1.",
  EACCES: "No permission to listen on port {port}. Set {name} to a port from 1024 up.",
};

const NO_ROOM = "has no room left: its disk is full. Free some space, then try again.";

/** Messages by system error code or SQLSTATE. */
const DATABASE: Readonly<Record<string, string>> = {
  ECONNREFUSED: "does not answer: nothing listens there. Is it running, and are host and port right?",
  ENOTFOUND: "has a host name that does not exist. Is it spelled right?",
  EAI_AGAIN: "has a host name that could not be looked up. Does DNS work here?",
  ETIMEDOUT: "does not answer. Are host and port right, and does a firewall let us through?",
  "08006": "does not answer. Are host and port right, and does a firewall let us through?",
  "28P01": "refuses user and password. Are they right? Special characters in them are percent-encoded.",
  "28000": "refuses this user. pg_hba.conf must let it in from this machine.",
  "3D000": "has no such database. Create it first: createdb.",
  "42501":
    "does not let this user create tables. Make it the owner of the database, or grant it CREATE on the database and on schema public.",
  [DISK_FULL]: NO_ROOM,
  "53300": "has no connection left. Raise max_connections, or let others use fewer.",
  "57P03": "is starting up. Try again in a moment.",
};

/** Returns the error to show instead, or null for unknown errors, which are probably bugs. */
export function explainStartError(error: unknown, settings: Settings): StartError | null {
  const { syscall, port } = Object(error) as { syscall?: unknown; port?: unknown };
  const code = databaseErrorCode(error) ?? "";
  // The host name is resolved before listening.
  if (syscall === "listen" || syscall === "bind" || (code === "ENOTFOUND" && isHost(error, settings.HOST))) {
    const name = port === settings.SMTP_PORT ? "SMTP_PORT" : "PORT";
    const values = { port: String(port), host: settings.HOST, name };
    return madeFrom(
      LISTENING[code]?.replace(/\{(port|host|name)\}/g, (_, key: keyof typeof values) => values[key]),
    );
  }
  if (settings.DATABASE_URL === undefined)
    return code === DISK_FULL ? new StartError(`The database of DATA_DIR ${NO_ROOM}`) : null;
  const said = DATABASE[code];
  return madeFrom(said && `The database of DATABASE_URL (${placeOf(settings.DATABASE_URL)}) ${said}`);
}

function madeFrom(text: string | undefined): StartError | null {
  return text === undefined ? null : new StartError(text);
}

function isHost(error: unknown, host: string): boolean {
  return (Object(error) as { hostname?: unknown }).hostname === host;
}

/** Returns host, port and database, without user and password. */
export function placeOf(databaseUrl: string): string {
  const { hostname, port, pathname } = new URL(databaseUrl);
  return `${hostname || "a socket"}:${port || "5432"}${pathname}`;
}
