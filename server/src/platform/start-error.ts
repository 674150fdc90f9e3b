// Explains why the program cannot start, with the setting in question and what to do. Pure.
import type { Config } from "./settings/config.ts";
import { databaseErrorCode, DISK_FULL } from "./database/database.ts";

/** An error with a complete message, so that its stack trace is not printed. */
export class StartError extends Error {
  override name = "StartError";
}

type Settings = Pick<Config, "HOST" | "PORT" | "SMTP_PORT" | "DATABASE_URL"> &
  Partial<Pick<Config, "SUBMISSION_HOST" | "SUBMISSION_PORT" | "SUBMISSION_TLS_PORT">>;

const PORTS = ["SMTP_PORT", "SUBMISSION_PORT", "SUBMISSION_TLS_PORT"] as const;

/** Messages by system error code; `{name}` is the setting of the port, and `{setting}` that of the address. */
const LISTENING: Readonly<Record<string, string>> = {
  EADDRINUSE:
    "Port {port} is in use at {host}: another program is listening there, or Postloft is already running. Stop it, or set {name} to another port.",
  EADDRNOTAVAIL:
    "{host} is not an address of this machine. Set {setting} to one of its addresses, such as 127.0.0.1 for this machine only or 0.0.0.0 for all.",
  ENOTFOUND: "{setting} {host} has no address. Set it to an address of this machine, such as 127.0.0.1.",
  EACCES: "No permission to listen on port {port}. Set {name} to a port from 1024 up.",
};

const NO_ROOM = "has no space left because its disk is full. Free some space, then try again.";

/** Messages by system error code or SQLSTATE. */
const DATABASE: Readonly<Record<string, string>> = {
  ECONNREFUSED:
    "does not respond because nothing listens there. Check that it is running and that host and port are correct.",
  ENOTFOUND: "has a host name that does not exist. Check its spelling.",
  EAI_AGAIN: "has a host name that could not be resolved. Check that DNS works here.",
  ETIMEDOUT: "does not respond. Check host, port and firewall.",
  "08006": "does not respond. Check host, port and firewall.",
  "28P01": "rejects the user or password. Check both, and percent-encode special characters in them.",
  "28000": "rejects this user. Allow it from this machine in pg_hba.conf.",
  "3D000": "does not exist. Create it first with createdb.",
  "42501":
    "does not let this user create tables. Make it the owner of the database, or grant it CREATE on the database and on schema public.",
  [DISK_FULL]: NO_ROOM,
  "53300": "has no connections left. Raise max_connections, or reduce the number of its other clients.",
  "57P03": "is starting up. Try again in a moment.",
};

/** Returns the error to show instead, or null for unknown errors, which are probably bugs. */
export function explainStartError(error: unknown, settings: Settings): StartError | null {
  const { syscall, port } = Object(error) as { syscall?: unknown; port?: unknown };
  const code = databaseErrorCode(error) ?? "";
  // The host name is resolved before listening.
  const isUnknownHost =
    code === "ENOTFOUND" &&
    [settings.HOST, settings.SUBMISSION_HOST].some((host) => host !== undefined && isHost(error, host));
  if (syscall === "listen" || syscall === "bind" || isUnknownHost) {
    const name = PORTS.find((one) => port !== undefined && port === settings[one]) ?? "PORT";
    const isOfSubmission = name.startsWith("SUBMISSION_") || (isUnknownHost && !isHost(error, settings.HOST));
    const setting = isOfSubmission ? "SUBMISSION_HOST" : "HOST";
    const values = { port: String(port), host: settings[setting] ?? "", name, setting };
    return madeFrom(
      LISTENING[code]?.replace(/\{(port|host|name|setting)\}/g, (_, key: keyof typeof values) => values[key]),
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
