// Contacts over HTTP (spec §2.1–2.2, 4.4; decisions §3).
// Before it: field.ts. After it: server/src/contacts/routes.ts answers these.
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { contactData, cursorList, emailAddress, instant, pageQuery, pathId } from "./field.ts";
import { LIMITS } from "./limits.ts";

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

export const listContacts = endpoint({
  name: "contacts.list",
  method: "GET",
  path: "/contacts",
  summary: "List contacts, newest first",
  caller: "project",
  query: pageQuery.extend({
    search: z
      .string()
      .max(LIMITS.searchLength.value)
      .optional()
      .describe("A part of the address, in any case."),
  }),
  answers: { 200: cursorList(contact) },
});

export const upsertContact = endpoint({
  name: "contacts.upsert",
  method: "POST",
  path: "/contacts",
  summary: "Create or update a contact by address",
  description:
    "201 when the contact is new, 200 when it was there. `subscribed` defaults to true for a new contact and is kept for an existing one.",
  caller: "project",
  body: z.object({ email: emailAddress, subscribed: z.boolean().optional(), data: contactData.optional() }),
  answers: { 201: upsertedContact, 200: upsertedContact },
});

export const getContact = endpoint({
  name: "contacts.get",
  method: "GET",
  path: "/contacts/:id",
  summary: "Read a contact",
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
    "Its events go with it; mails to it keep their place in the books, without the person. Mails still waiting are not sent.",
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
  body: z.object({
    emails: z.array(z.string()).min(1).max(LIMITS.lookupEmails.value).describe("Addresses, in any spelling."),
  }),
  answers: { 200: z.object({ found: z.array(z.string()), notFound: z.array(z.string()) }) },
});
