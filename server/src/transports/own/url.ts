// Parses, masks and completes the URL of a project's transport, which contains its credentials. Pure.
import { parseSesUrl, type SesServer } from "../ses-url.ts";
import { parseSmtpUrl, type SmtpServer } from "../smtp-url.ts";

/** The server of a project's transport with its credentials. */
export type ProjectServer =
  | { kind: "smtp"; server: SmtpServer }
  | { kind: "ses"; server: SesServer; key: { accessKeyId: string; secretAccessKey: string } };

/** The bounds on connections of one project's transport in one process. */
export const PROJECT_CONNECTIONS = 10;

/** The context of the encrypted URL. */
export const contextOfTransport = (projectId: string, id: string): string =>
  `project transport ${projectId} ${id}`;

/** Scheme, credentials and the rest. The secret of an AWS key may contain slashes. */
const SES_PARTS = /^(ses:\/\/)([^@?#]*)@(.*)$/;
const SMTP_PARTS = /^(smtps?:\/\/)([^/?#]*)@(.*)$/;
/** Host and port, up to the options. */
const AUTHORITY = /^[^/?#]*/;

interface Parts {
  scheme: string;
  /** `user:password` as written, or null. */
  login: string | null;
  rest: string;
}

/**
 * Parses `smtp://user:password@host:587`, `smtps://…` or `ses://accessKeyId:secretAccessKey@region`.
 * @throws Error with the reason, never with the credentials
 */
export function parseProjectUrl(text: string): ProjectServer {
  if (/^smtps?:\/\//.test(text)) return { kind: "smtp", server: parseSmtpUrl(text) };
  if (!text.startsWith("ses://")) throw new Error("It must begin with smtp://, smtps:// or ses://.");
  const { scheme, login, rest } = partsOf(text);
  const [accessKeyId = "", ...secret] = (login ?? "").split(":");
  if (accessKeyId === "" || secret.join(":") === "")
    throw new Error("ses:// needs an access key, as in ses://accessKeyId:secretAccessKey@region.");
  return {
    kind: "ses",
    server: parseSesUrl(scheme + rest),
    key: { accessKeyId: decode(accessKeyId), secretAccessKey: decode(secret.join(":")) },
  };
}

/** Returns the URL with a mask for user and password, because some services use their key as the user. */
export function maskProjectUrl(text: string, mask: string): string {
  const { scheme, login, rest } = partsOf(text);
  return login === null ? text : `${scheme}${mask}:${mask}@${rest}`;
}

/**
 * Replaces masked credentials by those in `stored`, or returns null if they belong to another server, so that no one sends a password that
 * they cannot read to a server of their choice.
 */
export function fillMaskedLogin(text: string, stored: string | null, mask: string): string | null {
  const given = partsOf(text);
  const login = given.login === null ? null : decode(given.login);
  if (login === null || !login.includes(mask)) return text;
  if (stored === null || login !== `${mask}:${mask}`) return null;
  const known = partsOf(stored);
  const isSame = given.scheme === known.scheme && authorityOf(given) === authorityOf(known);
  return isSame && known.login !== null ? `${given.scheme}${known.login}@${given.rest}` : null;
}

function partsOf(text: string): Parts {
  const [, scheme, login, rest] = (text.startsWith("ses:") ? SES_PARTS : SMTP_PARTS).exec(text) ?? [];
  if (scheme !== undefined && login !== undefined && rest !== undefined) return { scheme, login, rest };
  const at = text.indexOf("://") + "://".length;
  return { scheme: text.slice(0, at), login: null, rest: text.slice(at) };
}

/** Returns what decides where the credentials go: host and port, or the region and the endpoint of SES. */
const authorityOf = ({ rest }: Parts): string => {
  const endpoint = new URLSearchParams(rest.split("?")[1]).get("endpoint") ?? "";
  return `${AUTHORITY.exec(rest)?.[0] ?? ""} ${endpoint}`.toLowerCase();
};

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // not percent-encoded
  }
}
