// The table of contents of the HTTP side: every endpoint there is, in the order of the documentation.
// After it: tools/generate writes openapi.json and docs/api.md; server/src/api.ts must answer each of them.
import * as contacts from "./contacts.ts";
import * as domains from "./domains.ts";
import * as emails from "./emails.ts";
import type { Endpoint } from "./endpoint.ts";
import * as events from "./events.ts";
import * as instance from "./instance.ts";
import * as mailbox from "./mailbox.ts";
import * as projects from "./projects.ts";
import * as users from "./users.ts";
import * as v1 from "./v1.ts";
import * as verify from "./verify.ts";

export const ENDPOINTS: readonly Endpoint[] = [
  v1.track,
  v1.send,
  verify.verify,
  contacts.listContacts,
  contacts.upsertContact,
  contacts.getContact,
  contacts.updateContact,
  contacts.deleteContact,
  contacts.lookUpContacts,
  events.listEvents,
  events.listContactEvents,
  emails.listEmails,
  emails.getEmail,
  mailbox.listMessages,
  mailbox.getMessage,
  mailbox.getRawMessage,
  mailbox.deleteMessages,
  domains.listDomains,
  domains.createDomain,
  domains.verifyDomain,
  domains.rotateDomainKey,
  domains.deleteDomain,
  users.signUp,
  users.logIn,
  users.logOut,
  users.getMe,
  projects.listProjects,
  projects.createProject,
  projects.updateProject,
  projects.regenerateKeys,
  instance.getConfig,
  instance.getHealth,
  instance.getReadiness,
  instance.getMetrics,
  instance.getOpenApi,
];
