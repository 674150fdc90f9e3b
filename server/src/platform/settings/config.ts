// Defines all settings and is the only reader of the environment. docs/settings.md and .env.example are generated from the names, defaults
// and meanings here.
import { z } from "zod";
import {
  access,
  count,
  domain,
  flag,
  key,
  list,
  mailbox,
  namedFailpoint,
  network,
  portRange,
  port,
  proxy,
  smtpName,
  topicArn,
  webAddress,
  word,
  words,
} from "./forms.ts";
import { OAUTH_SETTINGS } from "./oauth.ts";
import { PUBLIC_KEY_SETTINGS } from "./public-key.ts";
import { readGiven } from "./read-setting.ts";
import { STRIPE_SETTINGS } from "./stripe.ts";

interface Setting {
  readonly schema: z.ZodType;
  /** As shown in the documentation. */
  readonly default: string;
  readonly meaning: string;
}

function setting<T extends z.ZodType>(schema: T, defaultText: string, meaning: string) {
  return { schema, default: defaultText, meaning } satisfies Setting;
}

const ROLES = ["api", "worker", "smtp"] as const;

/** All settings, in the order of the documentation. */
export const SETTINGS = {
  PORT: setting(port.default(3000), "3000", "Port where HTTP listens; 0 takes a free one."),
  HOST: setting(z.string().default("127.0.0.1"), "127.0.0.1", "Address where HTTP listens."),
  BASE_URL: setting(
    webAddress
      .refine((text) => /^\/*$/.test(new URL(text).pathname) && !/[?#]/.test(text), {
        error:
          "must have no path: give Postloft a host name of its own, such as https://mail.example.com, and let the proxy forward all of it",
        when: ({ issues }) => issues.length === 0,
      })
      .optional(),
    "http://localhost:PORT",
    "Public address without a path: links in mails, cookies, docs.",
  ),
  TRUST_PROXY: setting(
    list.pipe(z.array(proxy)).default([]),
    "",
    "Comma-separated addresses or ranges (`10.0.0.0/8`, `loopback`) of reverse proxies: what they write into X-Forwarded-For is believed. Empty: the address of a visitor is that of whoever connects.",
  ),
  DATA_DIR: setting(
    z.string().default("./data"),
    "./data",
    "Embedded database, uploaded images and generated secrets.",
  ),
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
    z.string().min(16, "must have at least 16 characters").optional(),
    "",
    "Signs sessions and links, encrypts keys. Generated into DATA_DIR with the embedded database; required with DATABASE_URL.",
  ),
  ROLES: setting(
    words(ROLES).default(["api", "worker", "smtp"]),
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
  S3_BUCKET: setting(
    z.string().optional(),
    "",
    "A bucket for uploaded images, which stays private. Empty: they are stored in the folder `uploads` of DATA_DIR, which all processes with the role `api` then share.",
  ),
  S3_ENDPOINT: setting(webAddress.optional(), "", "A server that speaks S3. Empty: Amazon's own."),
  S3_REGION: setting(z.string().default("us-east-1"), "us-east-1", "The region of the bucket."),
  S3_ACCESS_KEY_ID: setting(
    z.string().optional(),
    "",
    "The access key for the bucket; it needs s3:GetObject, s3:PutObject, s3:DeleteObject and s3:ListBucket.",
  ),
  S3_ACCESS_KEY_SECRET: setting(z.string().optional(), "", "Its secret."),
  S3_FORCE_PATH_STYLE: setting(
    flag.default(true),
    "true",
    "Names the bucket in the path and not in the host name, as most servers other than Amazon's want it.",
  ),
  PROJECT_SENDS_PER_SECOND: setting(
    count.default(0),
    "0",
    "Mails of one project that leave a second, all processes together; what is over it waits. 0: as many as go.",
  ),
  DESTINATION_CONNECTIONS: setting(
    count.default(0),
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
    "A domain whose MX is this process: mail to the address of a project there becomes the event `email.received` of whoever wrote it.",
  ),
  OPERATOR_EMAIL: setting(
    mailbox.optional(),
    "",
    "Who gets what is written to `postmaster@` and `abuse@` of BOUNCE_DOMAIN and INBOUND_DOMAIN. Empty: BOOTSTRAP_EMAIL; without both it stays in the table `notices` for 30 days.",
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
    count.default(1000),
    "1000",
    "Requests per minute and project; 0 turns the limit off.",
  ),
  ...PUBLIC_KEY_SETTINGS,
  DOCS_ACCESS: setting(
    access.default("anyone"),
    "anyone",
    "Who may read `/docs` and `/openapi.json`: `anyone`, `loopback` (this machine), or `token:` and a text of at least 16 characters, which is then the Bearer token or the password.",
  ),
  METRICS_ACCESS: setting(
    access.default("loopback"),
    "loopback",
    "The same for `/metrics`, whose numbers tell how much is sent. With TRUST_PROXY, `loopback` lets nobody in: set a token.",
  ),
  STATUS_PORT: setting(
    port.optional(),
    "",
    "Port where a process without the role `api` answers `/health`, `/ready` and `/metrics`, at HOST; 0 takes a free one. Empty: 3001, or a free one where that is taken.",
  ),
  ...STRIPE_SETTINGS,
  ...OAUTH_SETTINGS,
  DISABLE_SIGNUPS: setting(
    flag.default(false),
    "false",
    "Nobody can create an account; the one from BOOTSTRAP_EMAIL is made all the same.",
  ),
  REQUIRE_EMAIL_VERIFICATION: setting(
    flag.default(false),
    "false",
    "Who has not proved the address of their account sends nothing from the dashboard. API keys are not asked.",
  ),
  DNS_SERVERS: setting(
    list.default([]),
    "",
    "Resolvers for domain checks, /v1/verify and webhooks (`127.0.0.1:5353`); the system's when empty.",
  ),
  WEBHOOK_ALLOW_PRIVATE: setting(
    list.pipe(z.array(network)).default([]),
    "",
    "Comma-separated addresses or ranges (`10.1.0.0/16`) outside the public internet that webhooks may call; every project may call them then. Empty: none.",
  ),
  WEBHOOK_ALLOW_PORTS: setting(
    list.pipe(z.array(portRange)).default([]),
    "",
    "Comma-separated ports or ranges (`3000,9000-9099`) that webhooks may name beside 80, 443 and 8000–8999. Empty: none.",
  ),
  LOG_LEVEL: setting(
    word(["debug", "info", "warn", "error", "silent"]).default("info"),
    "info",
    "How much is logged. A line for each request belongs to `info`.",
  ),
  LOG_FORMAT: setting(
    word(["json", "pretty"]).optional(),
    "",
    "`json`: one object a line, for programs; `pretty`: for people. Empty: `pretty` in a terminal, else `json`.",
  ),
  SYSTEM_MAILBOX: setting(
    flag.default(false),
    "false",
    "With the local mailbox as the transport: mail of the installation itself, secrets of others included, can be read at `/mailbox` (`GET /mailbox/system`) by the account made from BOOTSTRAP_EMAIL, and with a token that is printed at start.",
  ),
  BOOTSTRAP_EMAIL: setting(
    z.string().optional(),
    "",
    "On an empty database: the address of the first account.",
  ),
  BOOTSTRAP_PASSWORD: setting(z.string().optional(), "", "Its password, at least 10 characters."),
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
  /** Without a trailing slash. Null until the port is known (PORT=0). */
  BASE_URL: string | null;
}

export class ConfigError extends Error {}

/** Returns the problems that only one part of the program can find, as sentences that begin with the setting's name. */
export type MoreChecks = (config: Partial<Values>) => readonly string[];

/**
 * Reads and checks all settings. An empty variable counts as unset. `NAME_FILE` names a file with the value of NAME, as containers provide
 * secrets.
 * @throws ConfigError with the name of each invalid variable but without its value, which may be a secret
 */
export function readConfig(
  environment: Readonly<Record<string, string | undefined>> = process.env,
  checks: readonly MoreChecks[] = [],
): Config {
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  let hasSecret = true;
  for (const [name, { schema }] of Object.entries(SETTINGS) as Array<[string, Setting]>) {
    const given = readGiven(environment, name);
    if (given instanceof Error) {
      problems.push(given.message);
      continue;
    }
    if (name === "APP_SECRET") hasSecret = given !== undefined;
    const parsed = schema.safeParse(given);
    if (parsed.success) values[name] = parsed.data;
    else
      problems.push(
        `${name}: ${[...new Set(parsed.error.issues.map((problem) => problem.message))].join("; ")}`,
      );
  }
  const config = values as Values;
  if (config.DATABASE_URL !== undefined && !hasSecret)
    problems.push("APP_SECRET: required with DATABASE_URL; make one with `openssl rand -hex 32` and keep it");
  for (const check of checks) problems.push(...check(values as Partial<Values>));
  if (problems.length > 0) throw new ConfigError(`These settings are not valid:\n  ${problems.join("\n  ")}`);
  const base = config.BASE_URL ?? (config.PORT === 0 ? null : `http://localhost:${config.PORT}`);
  return { ...config, BASE_URL: base?.replace(/\/+$/, "") ?? null };
}
