// Titles and descriptions of the groups of endpoints in the documentation.

/** Title (unless it follows from the noun) and description of each noun in the documentation. */
export const NOUNS: Readonly<Record<string, { title?: string; about: string }>> = {
  v1: {
    title: "Track and send",
    about: "The quickest start: track an event, send an email, check an address.",
  },
  contacts: { about: "Recipients: one address per project, each with custom data." },
  uploads: {
    title: "Images",
    about: "Images for template bodies, stored here and shown in emails.",
  },
  billing: { about: "Billing of projects through Stripe, if the installation uses it." },
  suppressions: { title: "Suppression list", about: "Addresses that get no email, with the reason." },
  segments: { about: "Groups of contacts, defined by a filter or by hand." },
  templates: { about: "Reusable email content with an id." },
  campaigns: { about: "One message to many contacts, now or later." },
  workflows: { about: "Graphs of steps for contacts." },
  executions: { about: "Contacts in workflows: start, watch, explain and end executions." },
  events: { about: "Events of contacts." },
  activity: {
    title: "Activity feed",
    about: "Activity of emails, contacts, campaigns and workflows in one list.",
  },
  analytics: { about: "Reports over a period, by days in the viewer's time zone." },
  deliverability: {
    title: "Deliverability",
    about: "Reputation of a project's email, as reported by receivers.",
  },
  emails: { about: "Emails to single recipients, with their status." },
  received: {
    title: "Received emails",
    about: "Messages that people send to a project's inbound address.",
  },
  mailbox: {
    title: "Local mailbox",
    about: "Messages that the transport `mailbox` kept instead of sending them.",
  },
  tracking: { title: "Opens and clicks", about: "The pixel and the links in emails." },
  oauth: {
    title: "Other services",
    about: "Sign-in through GitHub, Google or an OpenID Connect provider.",
  },
  accountPages: { title: "Account pages", about: "Pages behind the links in account emails." },
  pages: { title: "Public pages", about: "Pages behind the links in emails, for people without an account." },
  domains: { title: "Sender domains", about: "Verified sender domains and their DNS records." },
  auth: { title: "Signing in", about: "Accounts and sessions." },
  users: { title: "Account", about: "The signed-in account." },
  projects: { about: "Tenants with their keys, settings and rates." },
  keys: { title: "Scoped keys", about: "Secret keys for a part of a project's API." },
  notifications: { title: "Notifications", about: "Notifications of members by email." },
  members: { about: "The people of a project and their roles." },
  invitations: { about: "Pending invitations to a project." },
  audit: { title: "Audit log", about: "Changes of a project with author, time and origin." },
  requests: { title: "API requests", about: "Recent API requests and their responses." },
  webhooks: { about: "Endpoints that receive events, and the secret that signs other calls." },
  installation: {
    title: "Instance admins",
    about: "The state of the installation and its projects, for the accounts in `ADMIN_EMAILS`.",
  },
  instance: { title: "Installation", about: "Features and health of this installation." },
};

/** `contacts` → `Contacts`. */
export function nounTitle(noun: string): string {
  return NOUNS[noun]?.title ?? noun.charAt(0).toUpperCase() + noun.slice(1);
}
