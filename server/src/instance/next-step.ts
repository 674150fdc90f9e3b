// What whoever runs the installation does next, as far as it has come: account → key → first mail → where to read it, or a domain first.
import type { Database } from "../platform/database/database.ts";
import { SANDBOX_DOMAIN } from "../transports/mailbox.ts";
import { hasUsers } from "../users/users.ts";
import { hasEmails, hasProvenDomain } from "./queries.ts";
import type { InstanceFacts } from "./facts.ts";

/** How far an installation has come. */
export interface Progress {
  hasAccount: boolean;
  hasMail: boolean;
  /** One of somebody's own. */
  hasDomain: boolean;
}

export interface NextStep {
  title: string;
  text: string;
  /** For a shell, one after the other. */
  commands: readonly string[];
  /** Where to go on, within this service; null: nowhere. */
  link: { path: string; text: string } | null;
}

export type Place = Pick<InstanceFacts, "baseUrl" | "transportName" | "signupsDisabled">;

const JSON_TYPE = "-H 'Content-Type: application/json'";

/** Looks whether there is anything at all: an account, a mail, a domain. */
export async function readProgress(database: Database): Promise<Progress> {
  return {
    hasAccount: await hasUsers(database),
    hasMail: await hasEmails(database),
    hasDomain: await hasProvenDomain(database, SANDBOX_DOMAIN),
  };
}

/** Null: it works, and nothing has to be done. */
export function nextStep({ hasAccount, hasMail, hasDomain }: Progress, place: Place): NextStep | null {
  if (!hasAccount) return makeAccount(place);
  const url = place.baseUrl();
  if (place.transportName === "mailbox")
    return hasMail ? readMail : sendFirstMail(url, `hello@${SANDBOX_DOMAIN}`);
  if (!hasDomain) return proveDomain(url);
  return hasMail ? null : sendFirstMail(url, "hello@your-domain.example");
}

function makeAccount({ baseUrl, signupsDisabled, transportName }: Place): NextStep {
  const title = "There is no account yet";
  if (signupsDisabled)
    return {
      title,
      text: "Signing up is closed (DISABLE_SIGNUPS). Set BOOTSTRAP_EMAIL and BOOTSTRAP_PASSWORD and start again: that makes the first account and its project.",
      commands: [],
      link: null,
    };
  if (transportName !== "mailbox")
    return {
      title,
      text: "Sign up in the dashboard: the link we send creates your account. Without working email, create it in the terminal.",
      commands: ["npm run admin -- create-user you@example.com"],
      link: { path: "/app/sign-up", text: "Open the dashboard" },
    };
  return {
    title,
    text: "Create the first one, then a project, in the dashboard or here. The second answer has its keys: the one that begins with sk_ sends mail.",
    commands: [
      `curl -c cookies ${JSON_TYPE} -d '{"email":"you@example.com","password":"a password of your own"}' ${baseUrl()}/auth/signup`,
      `curl -b cookies ${JSON_TYPE} -d '{"name":"My project"}' ${baseUrl()}/users/@me/projects`,
    ],
    link: { path: "/app/sign-up", text: "Open the dashboard" },
  };
}

function sendFirstMail(url: string, from: string): NextStep {
  return {
    title: "Send the first mail",
    text: "With the secret key of your project: that of BOOTSTRAP_SECRET_KEY, or as the dashboard shows it under API keys.",
    commands: [
      `curl -H 'Authorization: Bearer sk_…' ${JSON_TYPE} -d '{"to":"ada@example.com","from":"${from}","subject":"Hello","body":"<p>It works.</p>"}' ${url}/v1/send`,
    ],
    link: from.endsWith(`@${SANDBOX_DOMAIN}`)
      ? { path: "/mailbox", text: "Then read it in the local mailbox" }
      : null,
  };
}

const readMail: NextStep = {
  title: "Read your mail",
  text: "Nothing leaves this machine: each mail is kept in the local mailbox. To send for real, set MAIL_TRANSPORT (docs/self-hosting.md).",
  commands: [],
  link: { path: "/mailbox", text: "Open the local mailbox" },
};

function proveDomain(url: string): NextStep {
  return {
    title: "Prove a domain",
    text: "Mail leaves only from domains that are yours. This answers the DNS records to create; once they are there, the domain verifies by itself.",
    commands: [
      `curl -H 'Authorization: Bearer sk_…' ${JSON_TYPE} -d '{"domain":"your-domain.example"}' ${url}/domains`,
    ],
    link: null,
  };
}
