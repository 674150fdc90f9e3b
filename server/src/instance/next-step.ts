// Chooses the next step of a new installation: create an account, send the first email, read it, or verify a domain.
import type { Database } from "../platform/database/database.ts";
import { SANDBOX_DOMAIN } from "../transports/mailbox.ts";
import { hasUsers } from "../users/users.ts";
import { hasEmails, hasProvenDomain } from "./queries.ts";
import type { InstanceFacts } from "./facts.ts";

/** The progress of an installation's setup. */
export interface Progress {
  hasAccount: boolean;
  hasMail: boolean;
  /** A verified domain other than the sandbox. */
  hasDomain: boolean;
}

export interface NextStep {
  title: string;
  text: string;
  /** A page of this service, shown before the commands. */
  link: { path: string; text: string } | null;
  /** Shell commands that do the step by API, after a sentence that introduces them. */
  api: { text: string; commands: readonly string[] } | null;
}

export type Place = Pick<InstanceFacts, "baseUrl" | "transportName" | "signupsDisabled">;

const JSON_TYPE = "-H 'Content-Type: application/json'";

/** Reads whether there is an account, an email and a verified domain. */
export async function readProgress(database: Database): Promise<Progress> {
  return {
    hasAccount: await hasUsers(database),
    hasMail: await hasEmails(database),
    hasDomain: await hasProvenDomain(database, SANDBOX_DOMAIN),
  };
}

/** Returns the next step, or null when the setup is complete. */
export function nextStep({ hasAccount, hasMail, hasDomain }: Progress, place: Place): NextStep | null {
  if (!hasAccount) return makeAccount(place);
  const url = place.baseUrl();
  if (place.transportName === "mailbox")
    return hasMail ? readMail : sendFirstMail(url, `hello@${SANDBOX_DOMAIN}`);
  if (!hasDomain) return proveDomain(url);
  return hasMail ? null : sendFirstMail(url, "hello@your-domain.example");
}

function makeAccount({ baseUrl, signupsDisabled, transportName }: Place): NextStep {
  const title = "No account yet";
  const link = { path: "/app/sign-up", text: "Create your account" };
  if (signupsDisabled)
    return {
      title,
      text: "Sign-up is disabled (DISABLE_SIGNUPS). Set BOOTSTRAP_EMAIL and BOOTSTRAP_PASSWORD and restart to create the first account and its project.",
      link: null,
      api: null,
    };
  if (transportName !== "mailbox")
    return {
      title,
      text: "Sign up and open the link we send you.",
      link,
      api: {
        text: "Email not working yet? Create the account in the terminal:",
        commands: ["npm run admin -- create-user you@example.com"],
      },
    };
  return {
    title,
    text: "Sign up, then create a project.",
    link,
    api: {
      text: "Prefer the API? The second response has the keys of the project; the key that begins with sk_ sends email.",
      commands: [
        `curl -c cookies ${JSON_TYPE} -d '{"email":"you@example.com","password":"a password of your own"}' ${baseUrl()}/auth/signup`,
        `curl -b cookies ${JSON_TYPE} -d '{"name":"My project"}' ${baseUrl()}/users/@me/projects`,
      ],
    },
  };
}

function sendFirstMail(url: string, from: string): NextStep {
  return {
    title: "Send the first email",
    text: "Use the secret key of your project: the dashboard shows it under API keys, or you set it as BOOTSTRAP_SECRET_KEY.",
    link: from.endsWith(`@${SANDBOX_DOMAIN}`)
      ? { path: "/mailbox", text: "The email arrives in the local mailbox" }
      : null,
    api: {
      text: "Send it from a terminal:",
      commands: [
        `curl -H 'Authorization: Bearer sk_…' ${JSON_TYPE} -d '{"to":"ada@example.com","from":"${from}","subject":"Hello","body":"<p>It works.</p>"}' ${url}/v1/send`,
      ],
    },
  };
}

const readMail: NextStep = {
  title: "Read your email",
  text: "Nothing leaves this machine: every email is kept in the local mailbox. To send for real, set MAIL_TRANSPORT (docs/self-hosting.md).",
  link: { path: "/mailbox", text: "Open the local mailbox" },
  api: null,
};

function proveDomain(url: string): NextStep {
  return {
    title: "Verify a domain",
    text: "You can send only from domains you own. Add yours, then create the DNS records it shows. We verify the domain automatically.",
    link: { path: "/app", text: "Open the dashboard" },
    api: {
      text: "Prefer the API?",
      commands: [
        `curl -H 'Authorization: Bearer sk_…' ${JSON_TYPE} -d '{"domain":"your-domain.example"}' ${url}/domains`,
      ],
    },
  };
}
