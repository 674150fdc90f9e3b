// Creates a transport from the setting MAIL_TRANSPORT: a single one, or a list of them for failover.
import { ConfigError, type Config } from "../platform/settings/config.ts";
import type { Database } from "../platform/database/database.ts";
import type { Log } from "../platform/log.ts";
import { createFailoverTransport } from "./failover.ts";
import { createMailboxTransport } from "./mailbox.ts";
import { parseSesUrl, type SesServer } from "./ses-url.ts";
import { createSmtpTransport } from "./smtp.ts";
import { parseSmtpUrl, type SmtpServer } from "./smtp-url.ts";
import { DEFAULT_CONNECTIONS, type Transport } from "./transport.ts";
import { watchTransport, type TransportWatch } from "./transport-watch.ts";

export type TransportSettings = Pick<
  Config,
  "MAIL_TRANSPORT" | "SES_ACCESS_KEY_ID" | "SES_SECRET_ACCESS_KEY"
>;

export interface TransportDependencies {
  database: Database;
  log: Log;
  /** The name in SMTP's EHLO. */
  heloName: string;
}

interface Entry {
  transport: Transport;
  /** Shown in logs and timelines, without user and password. */
  label: string;
  connections: number;
  weight?: number;
}

/** The transports created from the setting. */
export interface CreatedTransport {
  transport: Transport;
  /** For email that stays on this machine regardless of the setting. Equals `transport` if the setting is `mailbox`. */
  mailbox: Transport;
  /** Maximum number of concurrent submissions. */
  connections: number;
  /** One for each transport that sends email off this machine. */
  watches: readonly TransportWatch[];
}

const MAX_WEIGHT = 1000;
const WEIGHT = /^weight=(.*)$/;

/** A parsed entry of the setting. */
type ParsedEntry = { weight?: number } & (
  | { kind: "smtp"; server: SmtpServer }
  | { kind: "ses"; server: SesServer; key: SesKey }
);
type SesKey = { accessKeyId: string; secretAccessKey: string };

/** Returns the problems of the setting. The texts never quote it because it may contain passwords. */
export function faultsOfTransports(settings: Partial<TransportSettings>): string[] {
  const { MAIL_TRANSPORT: setting = "mailbox" } = settings;
  if (setting === "mailbox") return [];
  const texts = textsOf(setting);
  if (texts.includes("mailbox"))
    return [
      "MAIL_TRANSPORT: `mailbox` keeps all email on this machine, so it cannot be combined with other transports",
    ];
  return texts.flatMap((text, at) => {
    const place = texts.length === 1 ? "" : `, entry ${at + 1} of ${texts.length}`;
    try {
      parseEntry(text, settings);
      return [];
    } catch (error) {
      return [`MAIL_TRANSPORT${place}: ${error instanceof Error ? error.message : "faulty"}`];
    }
  });
}

/**
 * Creates a transport from `mailbox`, `smtp://…`, `smtps://…` or `ses://…`.
 * Several of the last three may be listed with commas, each with an optional `?weight=`.
 * @throws ConfigError that names the faulty entry and the reason, without quoting the setting because it may contain passwords.
 */
export async function createTransport(
  settings: TransportSettings,
  dependencies: TransportDependencies,
): Promise<CreatedTransport> {
  const faults = faultsOfTransports(settings);
  if (faults.length > 0) throw new ConfigError(faults.join("\n"));
  const mailbox = createMailboxTransport(dependencies.database);
  if (settings.MAIL_TRANSPORT === "mailbox")
    return { transport: mailbox, mailbox, connections: DEFAULT_CONNECTIONS, watches: [] };
  const entries: Entry[] = [];
  for (const text of textsOf(settings.MAIL_TRANSPORT))
    entries.push(await createEntry(parseEntry(text, settings), dependencies.heloName));
  const followed = entries.map((entry, at) => follow(entry, at, entries.length, dependencies.log));
  const watches = followed.map(({ watch }) => watch);
  const [first] = followed;
  if (followed.length === 1 && first !== undefined)
    return { transport: first.transport, mailbox, connections: first.connections, watches };
  return {
    mailbox,
    transport: createFailoverTransport(followed, dependencies),
    connections: connectionsOf(entries),
    watches,
  };
}

function textsOf(setting: string): string[] {
  return setting.split(",").map((text) => text.trim());
}

function follow(entry: Entry, at: number, count: number, log: Log): Entry & { watch: TransportWatch } {
  const { transport, label } = entry;
  const place = count === 1 ? transport.name : `${transport.name}, entry ${at + 1} of ${count},`;
  const watch = watchTransport(transport, { log, label, place });
  return { ...entry, transport: watch.transport, watch };
}

/** Returns the number of connections the traffic may use: all weighted transports together, or one of the standby transports. */
function connectionsOf(entries: readonly Entry[]): number {
  const shared = entries.filter(({ weight }) => weight !== undefined);
  const standBy = entries.filter(({ weight }) => weight === undefined);
  const sharedSum = shared.reduce((sum, { connections }) => sum + connections, 0);
  return Math.max(sharedSum, ...standBy.map(({ connections }) => connections));
}

/** @throws Error with the reason */
function parseEntry(text: string, settings: Partial<TransportSettings>): ParsedEntry {
  const { url, ...weight } = takeWeight(text);
  if (/^smtps?:\/\//.test(url)) return { kind: "smtp", server: parseSmtpUrl(url), ...weight };
  if (!url.startsWith("ses://"))
    throw new Error(
      "must be `mailbox` or begin with smtp://, smtps:// or ses:// (write a comma in a password as %2C)",
    );
  const server = parseSesUrl(url);
  const { SES_ACCESS_KEY_ID: accessKeyId, SES_SECRET_ACCESS_KEY: secretAccessKey } = settings;
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw new Error("ses:// needs the settings SES_ACCESS_KEY_ID and SES_SECRET_ACCESS_KEY");
  return { kind: "ses", server, key: { accessKeyId, secretAccessKey }, ...weight };
}

async function createEntry(entry: ParsedEntry, heloName: string): Promise<Entry> {
  const weight = entry.weight === undefined ? {} : { weight: entry.weight };
  const connections = entry.server.connections ?? DEFAULT_CONNECTIONS;
  if (entry.kind === "smtp") {
    const { server } = entry;
    const transport = createSmtpTransport({ url: server, heloName });
    return { transport, label: `smtp ${server.host}:${server.port}`, connections, ...weight };
  }
  // Loaded only when used because the AWS SDK costs 30 MB of memory and a tenth of a second.
  const { createSesTransport } = await import("./ses.ts");
  const transport = createSesTransport({ url: entry.server, ...entry.key });
  return { transport, label: `ses ${entry.server.region}`, connections, ...weight };
}

/** Splits off the weight, which belongs to the list and is unknown to the parsers of single transports. */
function takeWeight(text: string): { url: string; weight?: number } {
  const [base = "", ...rest] = text.split("?");
  const options = rest.join("?").split("&");
  const weights = options.flatMap((option) => WEIGHT.exec(option)?.[1] ?? []);
  const [weight] = weights;
  if (weight === undefined) return { url: text };
  if (weights.length > 1) throw new Error("option weight is set twice");
  const value = /^\d{1,4}$/.test(weight) ? Number(weight) : 0;
  if (value < 1 || value > MAX_WEIGHT)
    throw new Error(`option weight must be a whole number from 1 to ${MAX_WEIGHT}`);
  const others = options.filter((option) => !WEIGHT.test(option));
  return { url: others.length === 0 ? base : `${base}?${others.join("&")}`, weight: value };
}
