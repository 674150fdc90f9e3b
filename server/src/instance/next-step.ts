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
  /** A page of this service, shown before the commands. It does the step if `isAction` is set; the commands are then a second way. */
  link: { path: string; text: string; isAction: boolean } | null;
  /** Shell commands that do the step by API, after a text that introduces them. */
  api: { text: string; note?: string; commands: readonly string[] } | null;
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
  const title = "Create your account";
  const link = { path: "/app/sign-up", text: "Sign up", isAction: true };
  if (signupsDisabled)
    return {
      title: "No account yet",
      text: "Sign-up is disabled (DISABLE_SIGNUPS). Set BOOTSTRAP_EMAIL and BOOTSTRAP_PASSWORD and restart to create the first account and its project.",
      link: null,
      api: null,
    };
  if (transportName !== "mailbox")
    return {
      title,
      text: "We'll send you a link to choose your password.",
      link,
      api: {
        text: "Email not working yet?",
        note: "Create the account in the terminal:",
        commands: ["npm run admin -- create-user you@example.com"],
      },
    };
  return {
    title,
    text: "Then name your first project.",
    link,
    api: {
      text: "Prefer the API?",
      note: "The second response has the keys of the project. The key that begins with sk_ sends email.",
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
      ? { path: "/mailbox", text: "The email arrives in the local mailbox", isAction: false }
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
  link: { path: "/mailbox", text: "Open the local mailbox", isAction: true },
  api: null,
};

function proveDomain(url: string): NextStep {
  return {
    title: "Verify a domain",
    text: "You can send only from domains you own. Add yours, then create the DNS records it shows. We verify the domain automatically.",
    link: { path: "/app", text: "Open the dashboard", isAction: true },
    api: {
      text: "Prefer the API?",
      commands: [
        `curl -H 'Authorization: Bearer sk_…' ${JSON_TYPE} -d '{"domain":"your-domain.example"}' ${url}/domains`,
      ],
    },
  };
}
