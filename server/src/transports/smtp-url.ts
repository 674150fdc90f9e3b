// Parses the `smtp://` URL from the setting MAIL_TRANSPORT.
import { isIP } from "node:net";

/** An SMTP server that accepts email from us. */
export interface SmtpServer {
  /** Name or IP address, without brackets. */
  host: string;
  port: number;
  /** TLS from the first byte (RFC 8314); otherwise STARTTLS if offered. */
  secure: boolean;
  user?: string;
  password?: string;
  /** Sends nothing without encryption, not even the sender's address. */
  requireTls?: boolean;
  /** `false` accepts any certificate. Default: true. */
  rejectUnauthorized?: boolean;
  /** Maximum number of connections. */
  connections?: number;
  /** `sender` uses the address in From as the envelope sender, for servers that accept no other one. */
  returnPath?: "sender";
}

/** RFC 6409 submission; RFC 8314 submission over TLS. */
const SUBMISSION_PORT = 587;
const IMPLICIT_TLS_PORT = 465;
export const MAX_SMTP_CONNECTIONS = 200;

const HOST_NAME = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?$/i;
const OPTION_NAMES = ["requireTls", "rejectUnauthorized", "connections", "returnPath"];

/**
 * Parses `smtp://user:password@host:587?requireTls=true&rejectUnauthorized=false&connections=20`.
 * `smtps://…` or port 465 selects implicit TLS. User and password are percent-decoded.
 * @throws Error with the reason, never with the password
 */
export function parseSmtpUrl(text: string): SmtpServer {
  if (/[\p{Cc}\p{Z}]/u.test(text)) throw badUrl("it contains a space or control character");
  // The parser's error includes the whole input with the password, so it must not become a cause.
  if (!URL.canParse(text)) throw badUrl("it is not a URL of the form smtp://user:password@host:port");
  const url = new URL(text);
  if (url.protocol !== "smtp:" && url.protocol !== "smtps:")
    throw badUrl("it must begin with smtp:// or smtps://");
  if ((url.pathname !== "" && url.pathname !== "/") || url.hash !== "")
    throw badUrl("only options may follow the port; percent-encode / # ? @ : in user and password");
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  if (isIP(host) === 0 && !HOST_NAME.test(host)) throw badUrl("its host is neither a name nor an IP address");
  const port =
    url.port === "" ? (url.protocol === "smtps:" ? IMPLICIT_TLS_PORT : SUBMISSION_PORT) : Number(url.port);
  if (port === 0) throw badUrl("its port is 0");
  return {
    host,
    port,
    secure: url.protocol === "smtps:" || port === IMPLICIT_TLS_PORT,
    ...parseLogin(url),
    ...parseOptions(url.searchParams),
  };
}

function parseLogin(url: URL): Pick<SmtpServer, "user" | "password"> {
  if (url.username === "" && url.password === "") return {};
  if (url.username === "" || url.password === "") throw badUrl("the user or the password is missing");
  return { user: decodePart(url.username), password: decodePart(url.password) };
}

function decodePart(encoded: string): string {
  const escapesAreComplete = !/%(?![0-9a-f]{2})/i.test(encoded);
  const bytes = escapesAreComplete ? tryDecode(encoded) : undefined;
  if (bytes === undefined) throw badUrl("user or password has a % that starts no escape; write it as %25");
  // RFC 4616 separates the parts of PLAIN by NUL. Other control characters are not part of any password either.
  if (/\p{Cc}/u.test(bytes)) throw badUrl("user or password contains a control character");
  return bytes;
}

function tryDecode(encoded: string): string | undefined {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined; // escapes that are not UTF-8; the caller reports them without the text
  }
}

function parseOptions(
  options: URLSearchParams,
): Pick<SmtpServer, "requireTls" | "rejectUnauthorized" | "connections" | "returnPath"> {
  const seen = new Set<string>();
  for (const name of options.keys()) {
    if (!OPTION_NAMES.includes(name))
      throw badUrl(`unknown option; valid options are ${OPTION_NAMES.join(", ")}`);
    if (seen.has(name)) throw badUrl(`option ${name} is set twice`);
    seen.add(name);
  }
  const requireTls = parseSwitch("requireTls", options);
  const rejectUnauthorized = parseSwitch("rejectUnauthorized", options);
  const connections = parseConnections(options);
  const returnPath = options.get("returnPath");
  if (returnPath !== null && returnPath !== "sender") throw badUrl("option returnPath must be sender");
  return {
    ...(requireTls === undefined ? {} : { requireTls }),
    ...(rejectUnauthorized === undefined ? {} : { rejectUnauthorized }),
    ...(connections === undefined ? {} : { connections }),
    ...(returnPath === null ? {} : { returnPath }),
  };
}

function parseSwitch(name: string, options: URLSearchParams): boolean | undefined {
  const value = options.get(name);
  if (value === null) return undefined;
  if (value !== "true" && value !== "false") throw badUrl(`option ${name} must be true or false`);
  return value === "true";
}

function parseConnections(options: URLSearchParams): number | undefined {
  const value = options.get("connections");
  if (value === null) return undefined;
  const connections = /^\d{1,3}$/.test(value) ? Number(value) : 0;
  if (connections < 1 || connections > MAX_SMTP_CONNECTIONS)
    throw badUrl(`option connections must be a number from 1 to ${MAX_SMTP_CONNECTIONS}`);
  return connections;
}

function badUrl(reason: string): Error {
  return new Error(`The SMTP URL cannot be used: ${reason}.`);
}
