// The settings: the only reader of the environment. Each has a name, a default and a meaning; docs/settings.md and .env.example are made from here.
// After it: main.ts builds everything from the Config it answers.
import { isIP } from "node:net";
import { z } from "zod";
import { parseMailbox } from "@postloft/contract/address.ts";
import { parseFailpoint } from "./failpoints.ts";

interface Setting {
  readonly schema: z.ZodType;
  /** As it stands in the documentation. */
  readonly default: string;
  readonly meaning: string;
}

function setting<T extends z.ZodType>(schema: T, defaultText: string, meaning: string) {
  return { schema, default: defaultText, meaning } satisfies Setting;
}

const flag = z.enum(["true", "false", "1", "0"]).transform((text) => text === "true" || text === "1");
const port = z.coerce.number().int().min(0).max(65535);
const key = (prefix: string) =>
  z.string().regex(new RegExp(`^${prefix}_[A-Za-z0-9_-]{1,200}$`), `must begin with ${prefix}_`);
const list = z.string().transform((text) =>
  text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== ""),
);
const mailbox = z.string().transform((text, context) => {
  const parsed = parseMailbox(text);
  if (parsed.ok) return { address: parsed.address, ...(parsed.name ? { name: parsed.name } : {}) };
  context.addIssue({ code: "custom", message: "must be an address, or `Name <address>`" });
  return z.NEVER;
});
const domain = z
  .string()
  .toLowerCase()
  .regex(
    /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}$/,
    "must be a domain such as in.example.com",
  )
  .optional();
const smtpName = z
  .string()
  .regex(
    /^(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[a-z0-9:.]{1,64}\])$/i,
    "must be a host name such as mail.example.com, or an address in brackets",
  )
  .max(255, "must be at most 255 characters");
const proxy = z
  .string()
  .refine(
    isProxy,
    "must be addresses or ranges such as 10.0.0.0/8, or the words loopback, linklocal, uniquelocal",
  );
const namedFailpoint = z.string().transform((text, context) => {
  const parsed = parseFailpoint(text);
  if (parsed !== null) return parsed;
  context.addIssue({ code: "custom", message: "must be name:action[:turn] with names we know" });
  return z.NEVER;
});
const topicArn = z
  .string()
  .regex(
    /^arn:aws(-[a-z]+)*:sns:[a-z0-9-]+:\d{12}:[A-Za-z0-9_-]{1,256}(\.fifo)?$/,
    "must be the ARN of an SNS topic such as arn:aws:sns:eu-west-1:123456789012:mail",
  );

function isProxy(text: string): boolean {
  if (["loopback", "linklocal", "uniquelocal"].includes(text)) return true;
  const [, address = "", bits = "1"] = /^([^/]*)(?:\/([1-9]\d{0,2}))?$/.exec(text) ?? [];
  return Number(bits) <= ({ 4: 32, 6: 128 }[isIP(address)] ?? 0);
}

const ROLES = ["api", "worker", "smtp"] as const;

/** Every setting there is, in the order of the documentation. */
export const SETTINGS = {
  PORT: setting(port.default(3000), "3000", "Port where HTTP listens; 0 takes a free one."),
  HOST: setting(z.string().default("127.0.0.1"), "127.0.0.1", "Address where HTTP listens."),
  BASE_URL: setting(
    z.url({ protocol: /^https?$/ }).optional(),
    "http://localhost:PORT",
    "Public address: links in mails, cookies, docs.",
  ),
  TRUST_PROXY: setting(
    list.pipe(z.array(proxy)).default([]),
    "",
    "Comma-separated addresses or ranges (`10.0.0.0/8`, `loopback`) of reverse proxies: what they write into X-Forwarded-For is believed. Empty: the address of a visitor is that of whoever connects.",
  ),
  DATA_DIR: setting(z.string().default("./data"), "./data", "Embedded database and generated secrets."),
  DATABASE_URL: setting(
    z
      .string()
      .refine(
        (text) => /^postgres(ql)?:\/\//.test(text) && URL.canParse(text),
        "must be a URL such as postgres://user:password@host:5432/database, special characters in it percent-encoded",
      )
      .optional(),
    "",
    "An external PostgreSQL (15 or newer) instead of the embedded one.",
  ),
  APP_SECRET: setting(
    z.string().min(16).optional(),
    "",
    "Signs sessions and links, encrypts keys. Generated into DATA_DIR with the embedded database; required with DATABASE_URL.",
  ),
  ROLES: setting(
    list.pipe(z.array(z.enum(ROLES)).min(1)).default(["api", "worker", "smtp"]),
    "api,worker,smtp",
    "What this process does; any number of processes may run on one database.",
  ),
  MAIL_TRANSPORT: setting(
    z.string().default("mailbox"),
    "mailbox",
    "`mailbox` keeps mail in the local mailbox, nothing leaves; `smtp://user:pass@host:port` (or `smtps://`) hands it to a mail server, `ses://region` to Amazon SES; several, comma-separated, for failover.",
  ),
  SES_ACCESS_KEY_ID: setting(
    z.string().optional(),
    "",
    "The access key for `ses://`; it needs the permission ses:SendEmail (for raw mail also ses:SendRawEmail).",
  ),
  SES_SECRET_ACCESS_KEY: setting(z.string().optional(), "", "Its secret."),
  PROJECT_SENDS_PER_SECOND: setting(
    z.coerce.number().int().min(0).default(0),
    "0",
    "Mails of one project that leave a second, all processes together; what is over it waits. 0: as many as go.",
  ),
  DESTINATION_CONNECTIONS: setting(
    z.coerce.number().int().min(0).default(0),
    "0",
    "Mails one process hands over at once to one destination (a domain, or a provider such as Gmail with all of its domains). 0: as many as the transport takes.",
  ),
  SYSTEM_FROM: setting(
    mailbox.optional(),
    "",
    "Whom mail of the installation itself comes from (`Name <address>`); your mail server must let it pass. Empty: postloft@ the host of BASE_URL.",
  ),
  SNS_TOPIC_ARNS: setting(
    list.pipe(z.array(topicArn)).default([]),
    "",
    "Comma-separated SNS topics that may tell at `/webhooks/sns` what came of mail through SES. Empty: every notice is refused.",
  ),
  BOUNCE_DOMAIN: setting(
    domain,
    "",
    "A domain whose MX is this process: mail over SMTP leaves with an envelope sender there, one for each mail, so that bounces come back to it.",
  ),
  INBOUND_DOMAIN: setting(
    domain,
    "",
    "A domain whose MX is this process: mail to `<project id>@INBOUND_DOMAIN` becomes the event `email.received` of whoever wrote it.",
  ),
  SMTP_PORT: setting(
    port.default(2525),
    "2525",
    "Port where the role `smtp` takes mail for BOUNCE_DOMAIN and INBOUND_DOMAIN; without both it does not listen.",
  ),
  SMTP_NAME: setting(
    smtpName.optional(),
    "",
    "What this installation calls itself over SMTP: in EHLO to other servers and in the greeting of its own. Empty: the host of BASE_URL; where that is this machine alone (localhost), the name of the machine.",
  ),
  REPUTATION_GUARD: setting(
    flag.default(true),
    "true",
    "A project with a critical rate of bounces or complaints is disabled, and its members are told.",
  ),
  API_RATE_LIMIT_PER_MINUTE: setting(
    z.coerce.number().int().min(0).default(1000),
    "1000",
    "Requests per minute and project; 0 turns the limit off.",
  ),
  DISABLE_SIGNUPS: setting(
    flag.default(false),
    "false",
    "Nobody can create an account; the one from BOOTSTRAP_EMAIL is made all the same.",
  ),
  DNS_SERVERS: setting(
    list.default([]),
    "",
    "Resolvers for domain checks and /v1/verify (`127.0.0.1:5353`); the system's when empty.",
  ),
  LOG_LEVEL: setting(
    z.enum(["debug", "info", "warn", "error", "silent"]).default("info"),
    "info",
    "How much is logged.",
  ),
  BOOTSTRAP_EMAIL: setting(
    z.string().optional(),
    "",
    "On an empty database: the address of the first account.",
  ),
  BOOTSTRAP_PASSWORD: setting(z.string().optional(), "", "Its password, at least 8 characters."),
  BOOTSTRAP_PROJECT: setting(z.string().optional(), "", "The name of its project."),
  BOOTSTRAP_PUBLIC_KEY: setting(
    key("pk").optional(),
    "",
    "The project's public key (pk_…); made when empty.",
  ),
  BOOTSTRAP_SECRET_KEY: setting(
    key("sk").optional(),
    "",
    "The project's secret key (sk_…); made when empty.",
  ),
  FAILPOINTS: setting(
    list.pipe(z.array(namedFailpoint)).default([]),
    "",
    "For tests of crashes only: places where this process dies, throws or waits, as `dot.after:kill:3`. Leave it empty.",
  ),
} as const satisfies Record<string, Setting>;

type Values = { [Name in keyof typeof SETTINGS]: z.infer<(typeof SETTINGS)[Name]["schema"]> };

export interface Config extends Omit<Values, "BASE_URL"> {
  /** Without a slash at the end; null until the port is known (PORT=0). */
  BASE_URL: string | null;
}

export class ConfigError extends Error {}

/**
 * Reads and checks all settings. An empty variable counts as unset.
 * @throws ConfigError that names each faulty variable, never its value: it may be a secret.
 */
export function readConfig(environment: Readonly<Record<string, string | undefined>> = process.env): Config {
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, { schema }] of Object.entries(SETTINGS) as Array<[string, Setting]>) {
    const given = environment[name]?.trim();
    const parsed = schema.safeParse(given === "" ? undefined : given);
    if (parsed.success) values[name] = parsed.data;
    else problems.push(`${name}: ${parsed.error.issues.map((problem) => problem.message).join("; ")}`);
  }
  const config = values as Values;
  if (problems.length === 0 && config.DATABASE_URL !== undefined && config.APP_SECRET === undefined)
    problems.push("APP_SECRET: required with DATABASE_URL; make one with `openssl rand -hex 32` and keep it");
  if (problems.length > 0) throw new ConfigError(`These settings are not valid:\n  ${problems.join("\n  ")}`);
  const base = config.BASE_URL ?? (config.PORT === 0 ? null : `http://localhost:${config.PORT}`);
  return { ...config, BASE_URL: base?.replace(/\/+$/, "") ?? null };
}
