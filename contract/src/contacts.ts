// Contacts over HTTP (spec §2.1–2.2, 4.4; decisions §3).
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
const UNCOUNTED = `With \`false\` nobody is counted for \`total\`, which is 0 then where it is not known anyway: a page of many is found sooner. \`quick\` counts for ${LIMITS.quickTotal.value} ms at most, and \`total\` is 0 where that is not enough.`;

const SHORT_PAGES =
  "With `true` a page may be short, even empty, and still have a `cursor`: those whom few conditions fit are looked for in pieces of about a tenth of a second. Without, a page is full or the last, which takes seconds where hardly anybody of a million contacts fits.";

const contactPage = cursorList(contact).extend({
  lookedAt: z
    .int()
    .optional()
    .describe("With `shortPages`, where the page ended because time was up: how many contacts it looked at."),
});

export const listContacts = endpoint({
  name: "contacts.list",
  method: "GET",
  path: "/contacts",
  summary: "List contacts, newest first",
  description: "A cursor goes on in its own order: leave `sort` and `dir` out, or send the same again.",
  caller: "project",
  query: pageQuery.extend({
    search: z
      .string()
      .max(LIMITS.searchLength.value)
      .optional()
      .describe("A part of the address, in any case."),
    subscribed: queryBoolean("Only those that are, or are not, subscribed.").optional(),
    segmentId: id.optional().describe("Only members of this segment."),
    sort: z.enum(CONTACT_SORTS).optional().describe("`createdAt` unless said otherwise."),
    dir: z.enum(SORT_DIRECTIONS).optional().describe("`desc` unless said otherwise; by `email` it is `asc`."),
    withTotal: z.enum(TOTALS).optional().describe(UNCOUNTED),
    shortPages: queryBoolean(SHORT_PAGES).optional(),
  }),
  answers: { 200: contactPage },
  errors: ["SEGMENT_NOT_FOUND"],
});

/** Who is meant, in a body; all that is given must hold. */
export const contactConditions = {
  search: z
    .string()
    .max(LIMITS.searchLength.value)
    .optional()
    .describe("A part of the address, in any case."),
  subscribed: z.boolean().optional(),
  segmentId: id.optional().describe("Only members of this segment."),
  filters: filter.optional().describe("Only those who match."),
};

export const searchContacts = endpoint({
  name: "contacts.search",
  method: "POST",
  path: "/contacts/search",
  summary: "List contacts that match a filter",
  description:
    "What `GET /contacts` lists, by conditions as well, as segments have them: too long for an address. Everything given must hold. The cursor of a page goes on with the same body.",
  caller: "project",
  isRead: true,
  body: z.object({
    limit: z.int().min(1).max(LIMITS.pageSizeMaximum.value).optional(),
    cursor: z.string().max(LIMITS.cursorLength.value).optional(),
    ...contactConditions,
    sort: z.enum(CONTACT_SORTS).optional().describe("`createdAt` unless said otherwise."),
    dir: z.enum(SORT_DIRECTIONS).optional().describe("`desc` unless said otherwise; by `email` it is `asc`."),
    withTotal: z
      .union([z.boolean(), z.literal("quick")])
      .optional()
      .describe(UNCOUNTED),
    shortPages: z.boolean().optional().describe(SHORT_PAGES),
  }),
  answers: { 200: contactPage },
  errors: ["SEGMENT_NOT_FOUND"],
});

export const upsertContact = endpoint({
  name: "contacts.upsert",
  method: "POST",
  path: "/contacts",
  summary: "Create or update a contact by address",
  description:
    "201 when the contact is new, 200 when it was there. `subscribed` defaults to true for a new contact, unless its address opted out while it was another contact's, and is kept for an existing one. An explicit `true` ends an opt-out (docs/unsubscribing.md).",
  caller: "project",
  body: z.object({ email: emailAddress, subscribed: z.boolean().optional(), data: contactData.optional() }),
  answers: { 201: upsertedContact, 200: upsertedContact },
});

export const countContacts = endpoint({
  name: "contacts.count",
  method: "GET",
  path: "/contacts/count",
  summary: "Count the contacts of the project",
  description: "For clients of an older generation; `GET /contacts` says it as `total`.",
  caller: "project",
  answers: { 200: z.object({ count: z.int() }) },
});

export const getContact = endpoint({
  name: "contacts.get",
  method: "GET",
  path: "/contacts/:id",
  summary: "Read a contact",
  description: "The contact with all of its data, as it is now.",
  caller: "project",
  params: byId,
  answers: { 200: contact },
  errors: ["CONTACT_NOT_FOUND"],
});

export const updateContact = endpoint({
  name: "contacts.update",
  method: "PATCH",
  path: "/contacts/:id",
  summary: "Change a contact",
  description: "Only what is sent changes. `data: null` clears all custom data.",
  caller: "project",
  params: byId,
  body: z.object({
    email: emailAddress.optional(),
    subscribed: z.boolean().optional(),
    data: contactData.nullable().optional(),
  }),
  answers: { 200: contact },
  errors: ["CONTACT_NOT_FOUND", "CONFLICT"],
});

export const deleteContact = endpoint({
  name: "contacts.delete",
  method: "DELETE",
  path: "/contacts/:id",
  summary: "Delete a contact and what we hold on it",
  description:
    "Its events go with it; mails to it keep their place in the books, without the person. Mails still waiting are not sent. If the contact opted out, a keyed hash of the address is kept, so that a contact with the same address starts unsubscribed.",
  caller: "project",
  params: byId,
  answers: { 204: null },
  errors: ["CONTACT_NOT_FOUND"],
});

export const lookUpContacts = endpoint({
  name: "contacts.lookup",
  method: "POST",
  path: "/contacts/lookup",
  summary: "Ask which addresses are contacts",
  description: "Answers the addresses as they were spelled. What is no address is not found.",
  caller: "project",
  isRead: true,
  body: z.object({
    emails: z.array(z.string()).min(1).max(LIMITS.lookupEmails.value).describe("Addresses, in any spelling."),
  }),
  answers: { 200: z.object({ found: z.array(z.string()), notFound: z.array(z.string()) }) },
});

/** How a change of a subscription came about. */
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
      "`page`: a button on a public page; `one-click`: the unsubscribe button of a mail program; `inbound`: the contact wrote in; `opt-out`: the address had opted out before the contact got it.",
    ),
  actor: z
    .string()
    .nullable()
    .describe(
      "The id of the user who did it; `key` under an API key, `public-key` under a public one; null for the contact and for mail servers.",
    ),
  ip: z.string().nullable().describe("Where the request came from; kept for public pages only."),
  email: z
    .object({
      id: z.uuid(),
      subject: z.string().nullable(),
      campaign: z.object({ id: z.uuid(), name: z.string() }).nullable(),
    })
    .nullable()
    .describe(
      "The email whose link was used, that bounced or was reported as spam, with its campaign. Null: none, or none is known.",
    ),
  at: instant,
});

export const listContactConsent = endpoint({
  name: "contacts.consent",
  method: "GET",
  path: "/contacts/:id/consent",
  summary: "Read when and how a contact was subscribed and unsubscribed",
  description: `Newest first, at most ${LIMITS.consentChanges.value}; the first change of all is how the contact began. It is deleted with the contact.`,
  caller: "project",
  params: byId,
  answers: { 200: z.object({ data: z.array(consentChange) }) },
  errors: ["CONTACT_NOT_FOUND"],
});

export const getContactLinks = endpoint({
  name: "contacts.links",
  method: "GET",
  path: "/contacts/:id/links",
  summary: "Read the links of a contact's public pages",
  description:
    "They act on the contact's address, like those in its mails. Whoever has one can change the subscription without signing in: give them to the contact alone. A scoped key needs `secrets:read`.",
  caller: "project",
  isSecret: true,
  params: byId,
  answers: {
    200: z.object({ unsubscribeUrl: z.string(), subscribeUrl: z.string(), manageUrl: z.string() }),
  },
  errors: ["CONTACT_NOT_FOUND"],
});
