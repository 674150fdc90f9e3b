// Endpoints of the local mailbox, which shows messages that were not really sent.
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { cursorList, instant, pageQuery, pathId } from "./field.ts";
import { LIMITS } from "./limits/limits.ts";

const platformEmail = z.object({
  id: z.uuid(),
  to: z.string(),
  subject: z.string(),
  text: z.string(),
  html: z.string(),
  sentAt: instant,
});
export const messageItem = z.object({
  id: z.uuid(),
  emailId: z.uuid(),
  from: z.string(),
  to: z.string(),
  subject: z.string(),
  receivedAt: instant,
  sizeBytes: z.int(),
});
const attachment = z.object({
  filename: z.string(),
  contentType: z.string(),
  sizeBytes: z.int(),
  contentId: z.string().nullable(),
});
const search = z
  .string()
  .max(LIMITS.searchLength.value)
  .optional()
  .describe(
    `Only messages with this text in the subject or an address; searches ${LIMITS.mailboxSearched.value} messages.`,
  );
const byId = z.object({ id: pathId });

export const listMessages = endpoint({
  name: "mailbox.list",
  method: "GET",
  path: "/mailbox/messages",
  summary: "List the messages in the local mailbox, newest first",
  description: "Messages of this project that the transport `mailbox` kept instead of sending them.",
  caller: "project",
  query: pageQuery.extend({
    to: z
      .string()
      .max(LIMITS.addressLength.value)
      .optional()
      .describe("Only messages to this address, including copies."),
    search,
  }),
  responses: { 200: cursorList(messageItem) },
});

export const getMessage = endpoint({
  name: "mailbox.get",
  method: "GET",
  path: "/mailbox/messages/:id",
  summary: "Read a message",
  description:
    "The parsed message: HTML, text, headers, and attachments with their name, size and the `contentId` by which the HTML shows them.",
  caller: "project",
  params: byId,
  responses: {
    200: messageItem.extend({
      html: z.string().nullable(),
      text: z.string().nullable(),
      headers: z.array(z.object({ name: z.string(), value: z.string() })),
      attachments: z.array(attachment),
    }),
  },
  errors: ["MESSAGE_NOT_FOUND", "CONFLICT"],
});

export const getRawMessage = endpoint({
  name: "mailbox.getRaw",
  method: "GET",
  path: "/mailbox/messages/:id/raw",
  summary: "Read the raw message as it would be sent (message/rfc822)",
  description: "Every byte, including headers and signature.",
  caller: "project",
  params: byId,
  envelope: "raw",
  contentType: "message/rfc822",
  responses: { 200: z.string() },
  errors: ["MESSAGE_NOT_FOUND"],
});

export const getAttachment = endpoint({
  name: "mailbox.getAttachment",
  method: "GET",
  path: "/mailbox/messages/:id/attachments/:position",
  summary: "Read an attachment of a message",
  description:
    "`position` is the index in `attachments` of the message, starting at 0. The type is always `application/octet-stream`, so that browsers store it and don't display it.",
  caller: "project",
  params: byId.extend({ position: z.string() }),
  envelope: "raw",
  contentType: "application/octet-stream",
  responses: { 200: z.string() },
  errors: ["MESSAGE_NOT_FOUND", "RESOURCE_NOT_FOUND", "CONFLICT"],
});

export const listPlatformEmails = endpoint({
  name: "mailbox.system",
  method: "GET",
  path: "/mailbox/system",
  summary: "List the platform emails of the installation, newest first",
  description:
    "Account emails and warnings to members. Only available with the setting `SYSTEM_MAILBOX`, with the local mailbox as transport, and for the instance admin. That is the session of the first account if it belongs to `BOOTSTRAP_EMAIL` (otherwise 404), or the Bearer token printed at start.",
  caller: "operator",
  query: pageQuery.extend({ search }),
  responses: { 200: cursorList(platformEmail) },
  errors: ["RESOURCE_NOT_FOUND"],
});

export const deleteMessages = endpoint({
  name: "mailbox.deleteAll",
  method: "DELETE",
  path: "/mailbox/messages",
  summary: "Empty the local mailbox of this project",
  description: "Deletes the stored messages. The emails, their status and their events are kept.",
  caller: "project",
  responses: { 204: null },
});
