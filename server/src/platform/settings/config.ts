// Defines all settings and is the only reader of the environment. docs/settings.md and .env.example are generated from the names, defaults
// and meanings here.
import { z } from "zod";
import { BOOTSTRAP_SETTINGS } from "./bootstrap.ts";
import {
  access,
  addresses,
  count,
  domain,
  flag,
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
import { readSettingValue } from "./read-setting.ts";
import { STRIPE_SETTINGS } from "./stripe.ts";
import { SUBMISSION_SETTINGS } from "./submission.ts";

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
  PORT: setting(port.default(3000), "3000", "Port of the HTTP server. 0 picks a free port."),
  HOST: setting(z.string().default("127.0.0.1"), "127.0.0.1", "Address of the HTTP server."),
  BASE_URL: setting(
    webAddress
      .refine((text) => /^\/*$/.test(new URL(text).pathname) && !/[?#]/.test(text), {
        error:
          "must have no path; give Postloft its own host name, such as https://mail.example.com, and let the proxy forward all requests to it",
        when: ({ issues }) => issues.length === 0,
      })
      .optional(),
    "http://localhost:PORT",
    "Public address without a path, used for links in emails, cookies and docs.",
  ),
  TRUST_PROXY: setting(
    list.pipe(z.array(proxy)).default([]),
    "",
    "Comma-separated addresses or ranges (`10.0.0.0/8`, `loopback`) of reverse proxies with a trusted X-Forwarded-For header. Empty: the address of the connection counts as the visitor's.",
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
        "must be a URL such as postgres://user:password@host:5432/database, with special characters percent-encoded",
      )
      .optional(),
    "",
    "An external PostgreSQL (15 or newer) that replaces the embedded one.",
  ),
  APP_SECRET: setting(
    z.string().min(16, "must have at least 16 characters").optional(),
    "",
    "Signs sessions and links and encrypts keys. Generated in DATA_DIR with the embedded database, required with DATABASE_URL.",
  ),
  ROLES: setting(
    words(ROLES).default(["api", "worker", "smtp"]),
    "api,worker,smtp",
    "The roles of this process. Any number of processes may share one database.",
  ),
  MAIL_TRANSPORT: setting(
    z.string().default("mailbox"),
    "mailbox",
    "`mailbox` keeps email in the local mailbox and sends nothing. `smtp://user:pass@host:port` (or `smtps://`) uses a mail server and `ses://region` Amazon SES. Separate several with commas for failover.",
  ),
  SES_ACCESS_KEY_ID: setting(
    z.string().optional(),
    "",
    "The access key for `ses://`. Needs the permission ses:SendEmail (for raw email also ses:SendRawEmail).",
  ),
  SES_SECRET_ACCESS_KEY: setting(z.string().optional(), "", "Its secret."),
  S3_BUCKET: setting(
    z.string().optional(),
    "",
    "A private bucket for uploaded images. Empty: images are stored in the folder `uploads` of DATA_DIR, which all processes with the role `api` must share.",
  ),
  S3_ENDPOINT: setting(
    webAddress.optional(),
    "",
    "The address of an S3-compatible server. Empty: Amazon S3.",
  ),
  S3_REGION: setting(z.string().default("us-east-1"), "us-east-1", "The region of the bucket."),
  S3_ACCESS_KEY_ID: setting(
    z.string().optional(),
    "",
    "The access key for the bucket. Needs s3:GetObject, s3:PutObject, s3:DeleteObject and s3:ListBucket.",
  ),
  S3_ACCESS_KEY_SECRET: setting(z.string().optional(), "", "Its secret."),
  S3_FORCE_PATH_STYLE: setting(
    flag.default(true),
    "true",
    "Puts the bucket in the path instead of the host name, as most servers other than Amazon S3 require.",
  ),
  PROJECT_SENDS_PER_SECOND: setting(
    count.default(0),
    "0",
    "Maximum emails per second and project, across all processes. Further emails wait. 0: no limit.",
  ),
  DESTINATION_CONNECTIONS: setting(
    count.default(0),
    "0",
    "Maximum concurrent submissions of one process to one destination (a domain, or a provider such as Gmail with all its domains). 0: as many as the transport allows.",
  ),
  SYSTEM_FROM: setting(
    mailbox.optional(),
    "",
    "The sender of platform email (`Name <address>`), which your mail server must accept. Empty: postloft@ the host of BASE_URL.",
  ),
  SNS_TOPIC_ARNS: setting(
    list.pipe(z.array(topicArn)).default([]),
    "",
    "Comma-separated SNS topics that may report deliveries of SES to `/webhooks/sns`. Empty: all reports are rejected.",
  ),
  BOUNCE_DOMAIN: setting(
    domain,
    "",
    "A domain with this process as its MX. Emails sent over SMTP use a separate envelope sender there, so that bounces return to this process.",
  ),
  INBOUND_DOMAIN: setting(
    domain,
    "",
    "A domain with this process as its MX. Email to a project's address there becomes the event `email.received` of its sender.",
  ),
  OPERATOR_EMAIL: setting(
    mailbox.optional(),
    "",
    "Receives messages to `postmaster@` and `abuse@` of BOUNCE_DOMAIN and INBOUND_DOMAIN. Empty: BOOTSTRAP_EMAIL. Without both, messages stay in the table `notices` for 30 days.",
  ),
  ADMIN_EMAILS: setting(
    addresses.default([]),
    "",
    "Comma-separated addresses of the accounts that may open the installation page. An account needs to confirm its address. Empty: no account may.",
  ),
  SMTP_PORT: setting(
    port.default(2525),
    "2525",
    "Port where the role `smtp` receives mail for BOUNCE_DOMAIN and INBOUND_DOMAIN. Without both it does not listen.",
  ),
  SMTP_NAME: setting(
    smtpName.optional(),
    "",
    "The name of this installation over SMTP, in EHLO to other servers and in its own greeting. Empty: the host of BASE_URL, or the name of the machine if that is localhost.",
  ),
  ...SUBMISSION_SETTINGS,
  REPUTATION_GUARD: setting(
    flag.default(true),
    "true",
    "Disables projects with a critical rate of bounces or complaints and notifies their members.",
  ),
  API_RATE_LIMIT_PER_MINUTE: setting(
    count.default(1000),
    "1000",
    "Maximum requests per minute and project. 0 turns the limit off.",
  ),
  ...PUBLIC_KEY_SETTINGS,
  DOCS_ACCESS: setting(
    access.default("anyone"),
    "anyone",
    "Access to `/docs` and `/openapi.json`: `anyone`, `loopback` (this machine), or `token:` followed by at least 16 characters, to use as the Bearer token or password.",
  ),
  METRICS_ACCESS: setting(
    access.default("loopback"),
    "loopback",
    "The same for `/metrics`, which reveals how much is sent. With TRUST_PROXY, `loopback` allows no access, so set a token.",
  ),
  STATUS_PORT: setting(
    port.optional(),
    "",
    "Port at HOST where a process without the role `api` serves `/health`, `/ready` and `/metrics`. 0 picks a free port. Empty: 3001, or a free port if 3001 is in use.",
  ),
  ...STRIPE_SETTINGS,
  ...OAUTH_SETTINGS,
  DISABLE_SIGNUPS: setting(
    flag.default(false),
    "false",
    "Turns sign-ups off. The account from BOOTSTRAP_EMAIL is still created.",
  ),
  REQUIRE_EMAIL_VERIFICATION: setting(
    flag.default(false),
    "false",
    "Users without a verified address cannot send from the dashboard. API keys are not affected.",
  ),
  DNS_SERVERS: setting(
    list.default([]),
    "",
    "DNS resolvers for domain checks, /v1/verify and webhooks (`127.0.0.1:5353`). Empty: the system's resolvers.",
  ),
  WEBHOOK_ALLOW_PRIVATE: setting(
    list.pipe(z.array(network)).default([]),
    "",
    "Comma-separated addresses or ranges (`10.1.0.0/16`) outside the public internet that webhooks of every project may call. Empty: none.",
  ),
  WEBHOOK_ALLOW_PORTS: setting(
    list.pipe(z.array(portRange)).default([]),
    "",
    "Comma-separated ports or ranges (`3000,9000-9099`) that webhooks may use in addition to 80, 443 and 8000–8999. Empty: none.",
  ),
  LOG_LEVEL: setting(
    word(["debug", "info", "warn", "error", "silent"]).default("info"),
    "info",
    "The lowest logged level. `info` includes a line for each request.",
  ),
  LOG_FORMAT: setting(
    word(["json", "pretty"]).optional(),
    "",
    "`json` for programs, one object per line, or `pretty` for people. Empty: `pretty` in a terminal, otherwise `json`.",
  ),
  SYSTEM_MAILBOX: setting(
    flag.default(false),
    "false",
    "With the local mailbox as the transport, shows platform email, including other users' secrets, at `/mailbox` (`GET /mailbox/system`) to the account of BOOTSTRAP_EMAIL and to requests with a token printed at the start.",
  ),
  ...BOOTSTRAP_SETTINGS,
  FAILPOINTS: setting(
    list.pipe(z.array(namedFailpoint)).default([]),
    "",
    "For crash tests only: places where this process dies, throws or waits, such as `dot.after:kill:3`. Leave it empty.",
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
    const input = readSettingValue(environment, name);
    if (input instanceof Error) {
      problems.push(input.message);
      continue;
    }
    if (name === "APP_SECRET") hasSecret = input !== undefined;
    const parsed = schema.safeParse(input);
    if (parsed.success) values[name] = parsed.data;
    else
      problems.push(
        `${name}: ${[...new Set(parsed.error.issues.map((problem) => problem.message))].join("; ")}`,
      );
  }
  const config = values as Values;
  if (config.DATABASE_URL !== undefined && !hasSecret)
    problems.push(
      "APP_SECRET: required with DATABASE_URL; generate it with `openssl rand -hex 32` and keep it",
    );
  for (const check of checks) problems.push(...check(values as Partial<Values>));
  if (problems.length > 0) throw new ConfigError(`These settings are not valid:\n  ${problems.join("\n  ")}`);
  const base = config.BASE_URL ?? (config.PORT === 0 ? null : `http://localhost:${config.PORT}`);
  return { ...config, BASE_URL: base?.replace(/\/+$/, "") ?? null };
}
