// Contact endpoints (spec §2.1–2.2, 4.4; decisions §3).
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import {
  contactData,
  cursorList,
  emailAddress,
  id,
  instant,
  pageQuery,
  pathId,
  queryBoolean,
} from "./field.ts";
import { filter } from "./filters.ts";
import { LIMITS } from "./limits/limits.ts";

export const contact = z.object({
  id: z.uuid(),
  email: z.string(),
  subscribed: z.boolean(),
  data: z.record(z.string(), z.unknown()),
  createdAt: instant,
  updatedAt: instant,
});

const upsertedContact = contact.extend({ _meta: z.object({ isNew: z.boolean(), isUpdate: z.boolean() }) });
const byId = z.object({ id: pathId });

export const CONTACT_SORTS = ["createdAt", "email"] as const;
export const SORT_DIRECTIONS = ["asc", "desc"] as const;

export const TOTALS = ["true", "false", "quick"] as const;
const UNCOUNTED = `\`false\` skips counting, so that pages load faster; \`total\` is then 0 unless it is already known. \`quick\` counts for at most ${LIMITS.quickTotal.value} ms, and \`total\` is 0 if that is not enough.`;

const SHORT_PAGES =
  "With `true`, a page can be short or empty and still have a `cursor`, because each call searches for about a tenth of a second. Without it a page is always full unless it is the last, which takes seconds if few of a million contacts match.";

const contactPage = cursorList(contact).extend({
  lookedAt: z
    .int()
    .optional()
    .describe("With `shortPages`, the number of contacts searched if the page ended because time ran out."),
});

export const listContacts = endpoint({
  name: "contacts.list",
  method: "GET",
  path: "/contacts",
  summary: "List contacts, newest first",
  description: "A cursor keeps its order: omit `sort` and `dir`, or send the same values again.",
  caller: "project",
  query: pageQuery.extend({
    search: z
      .string()
      .max(LIMITS.searchLength.value)
      .optional()
      .describe("A part of the address, case-insensitive."),
    subscribed: queryBoolean("Only contacts with this subscription status.").optional(),
    segmentId: id.optional().describe("Only members of this segment."),
    sort: z.enum(CONTACT_SORTS).optional().describe("Default `createdAt`."),
    dir: z.enum(SORT_DIRECTIONS).optional().describe("Default `desc`, or `asc` if sorted by `email`."),
    withTotal: z.enum(TOTALS).optional().describe(UNCOUNTED),
    shortPages: queryBoolean(SHORT_PAGES).optional(),
  }),
  responses: { 200: contactPage },
  errors: ["SEGMENT_NOT_FOUND"],
});

/** Conditions in a request body; a contact must match all of them. */
export const contactConditions = {
  search: z
    .string()
    .max(LIMITS.searchLength.value)
    .optional()
    .describe("A part of the address, case-insensitive."),
  subscribed: z.boolean().optional(),
  segmentId: id.optional().describe("Only members of this segment."),
  filters: filter.optional().describe("Only contacts that match."),
};

export const searchContacts = endpoint({
  name: "contacts.search",
  method: "POST",
  path: "/contacts/search",
  summary: "List contacts that match a filter",
  description:
    "Same as `GET /contacts`, with filter conditions as in segments. Contacts must match all conditions. Send the same body with the cursor.",
  caller: "project",
  isRead: true,
  body: z.object({
    limit: z.int().min(1).max(LIMITS.pageSizeMaximum.value).optional(),
    cursor: z.string().max(LIMITS.cursorLength.value).optional(),
    ...contactConditions,
    sort: z.enum(CONTACT_SORTS).optional().describe("Default `createdAt`."),
    dir: z.enum(SORT_DIRECTIONS).optional().describe("Default `desc`, or `asc` if sorted by `email`."),
    withTotal: z
      .union([z.boolean(), z.literal("quick")])
      .optional()
      .describe(UNCOUNTED),
    shortPages: z.boolean().optional().describe(SHORT_PAGES),
  }),
  responses: { 200: contactPage },
  errors: ["SEGMENT_NOT_FOUND"],
});

export const upsertContact = endpoint({
  name: "contacts.upsert",
  method: "POST",
  path: "/contacts",
  summary: "Create or update a contact by address",
  description:
    "Returns 201 for a new contact and 200 for an existing one. `subscribed` defaults to true for a new contact, unless its address opted out earlier as another contact. It stays unchanged for an existing contact. An explicit `true` ends an opt-out (docs/unsubscribing.md).",
  caller: "project",
  body: z.object({ email: emailAddress, subscribed: z.boolean().optional(), data: contactData.optional() }),
  responses: { 201: upsertedContact, 200: upsertedContact },
});

export const countContacts = endpoint({
  name: "contacts.count",
  method: "GET",
  path: "/contacts/count",
  summary: "Count the contacts of the project",
  description: "For older clients; `GET /contacts` returns it as `total`.",
  caller: "project",
  responses: { 200: z.object({ count: z.int() }) },
});

export const getContact = endpoint({
  name: "contacts.get",
  method: "GET",
  path: "/contacts/:id",
  summary: "Read a contact",
  description: "The contact with all its current data.",
  caller: "project",
  params: byId,
  responses: { 200: contact },
  errors: ["CONTACT_NOT_FOUND"],
});

export const updateContact = endpoint({
  name: "contacts.update",
  method: "PATCH",
  path: "/contacts/:id",
  summary: "Change a contact",
  description: "Only the given fields change. `data: null` clears all custom data.",
  caller: "project",
  params: byId,
  body: z.object({
    email: emailAddress.optional(),
    subscribed: z.boolean().optional(),
    data: contactData.nullable().optional(),
  }),
  responses: { 200: contact },
  errors: ["CONTACT_NOT_FOUND", "CONFLICT"],
});

export const deleteContact = endpoint({
  name: "contacts.delete",
  method: "DELETE",
  path: "/contacts/:id",
  summary: "Delete a contact and its data",
  description:
    "Deletes its events. Its emails stay in reports, without personal data, and waiting emails are not sent. If the contact opted out, a keyed hash of the address is kept so that a new contact with this address starts unsubscribed.",
  caller: "project",
  params: byId,
  responses: { 204: null },
  errors: ["CONTACT_NOT_FOUND"],
});

export const lookUpContacts = endpoint({
  name: "contacts.lookup",
  method: "POST",
  path: "/contacts/lookup",
  summary: "Check which addresses are contacts",
  description:
    "Returns the addresses in their original spelling. Invalid addresses are returned as not found.",
  caller: "project",
  isRead: true,
  body: z.object({
    emails: z.array(z.string()).min(1).max(LIMITS.lookupEmails.value).describe("Addresses in any spelling."),
  }),
  responses: { 200: z.object({ found: z.array(z.string()), notFound: z.array(z.string()) }) },
});

/** Sources of a subscription change. */
export const CONSENT_SOURCES = [
  "page",
  "one-click",
  "api",
  "import",
  "bulk",
  "bounce",
  "complaint",
  "dashboard",
  "workflow",
  "inbound",
  "opt-out",
] as const;

export const consentChange = z.object({
  id: z.uuid(),
  subscribed: z.boolean(),
  source: z
    .enum(CONSENT_SOURCES)
    .describe(
      "`page`: a button on a public page; `one-click`: the unsubscribe button of an email program; `inbound`: an email from the contact; `opt-out`: the address had opted out before the contact got it.",
    ),
  actor: z
    .string()
    .nullable()
    .describe(
      "The id of the user, `key` for an API key, `public-key` for a public key, or null for the contact and for mail servers.",
    ),
  ip: z.string().nullable().describe("The IP address of the request; kept for public pages only."),
  email: z
    .object({
      id: z.uuid(),
      subject: z.string().nullable(),
      campaign: z.object({ id: z.uuid(), name: z.string() }).nullable(),
    })
    .nullable()
    .describe(
      "The email that bounced, was reported as spam or contained the link, with its campaign. Null if there is none or it is unknown.",
    ),
  at: instant,
});

export const listContactConsent = endpoint({
  name: "contacts.consent",
  method: "GET",
  path: "/contacts/:id/consent",
  summary: "Read the subscription history of a contact",
  description: `Newest first, up to ${LIMITS.consentChanges.value}. The oldest change is the contact's initial status. The history is deleted with the contact.`,
  caller: "project",
  params: byId,
  responses: { 200: z.object({ data: z.array(consentChange) }) },
  errors: ["CONTACT_NOT_FOUND"],
});

export const getContactLinks = endpoint({
  name: "contacts.links",
  method: "GET",
  path: "/contacts/:id/links",
  summary: "Read the links of a contact's public pages",
  description:
    "These links act on the contact's address, like the links in its emails. Anyone with a link can change the subscription without signing in, so share them only with the contact. A scoped key needs `secrets:read`.",
  caller: "project",
  isSecret: true,
  params: byId,
  responses: {
    200: z.object({ unsubscribeUrl: z.string(), subscribeUrl: z.string(), manageUrl: z.string() }),
  },
  errors: ["CONTACT_NOT_FOUND"],
});
