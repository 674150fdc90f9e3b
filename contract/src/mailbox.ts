// The local mailbox: what would have left this machine, to look at.
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { cursorList, instant, pageQuery, pathId } from "./field.ts";
import { LIMITS } from "./limits/limits.ts";

const systemMail = z.object({
  id: z.uuid(),
  to: z.string(),
  subject: z.string(),
  text: z.string(),
  html: z.string(),
  sentAt: instant,
});
const messageItem = z.object({
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
    `Only those with this text in the subject or an address; looks through ${LIMITS.mailboxSearched.value} messages.`,
  );
const byId = z.object({ id: pathId });

export const listMessages = endpoint({
  name: "mailbox.list",
  method: "GET",
  path: "/mailbox/messages",
  summary: "List the messages in the local mailbox, newest first",
  description:
    "The messages that the transport `mailbox` kept instead of sending them, of this project alone.",
  caller: "project",
  query: pageQuery.extend({
    to: z
      .string()
      .max(LIMITS.addressLength.value)
      .optional()
      .describe("Only messages to this address, copies included."),
    search,
  }),
  answers: { 200: cursorList(messageItem) },
});

export const getMessage = endpoint({
  name: "mailbox.get",
  method: "GET",
  path: "/mailbox/messages/:id",
  summary: "Read a message",
  description:
    "The message taken apart: HTML, text, headers, and its attachments: what they are called, how large they are, and the `contentId` by which the HTML shows one.",
  caller: "project",
  params: byId,
  answers: {
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
  summary: "Read a message as it would have left (message/rfc822)",
  description: "Every byte, with headers and signature.",
  caller: "project",
  params: byId,
  envelope: "raw",
  contentType: "message/rfc822",
  answers: { 200: z.string() },
  errors: ["MESSAGE_NOT_FOUND"],
});

export const getAttachment = endpoint({
  name: "mailbox.getAttachment",
  method: "GET",
  path: "/mailbox/messages/:id/attachments/:position",
  summary: "Read an attachment of a message",
  description:
    "`position` is that in `attachments` of the message, from 0. Always `application/octet-stream`, to be stored and not shown.",
  caller: "project",
  params: byId.extend({ position: z.string() }),
  envelope: "raw",
  contentType: "application/octet-stream",
  answers: { 200: z.string() },
  errors: ["MESSAGE_NOT_FOUND", "RESOURCE_NOT_FOUND", "CONFLICT"],
});

export const listSystemMails = endpoint({
  name: "mailbox.system",
  method: "GET",
  path: "/mailbox/system",
  summary: "List the mail of the installation itself, newest first",
  description:
    "Account mails and warnings to members. Only with the setting `SYSTEM_MAILBOX` and the local mailbox as the transport, and only for the operator: the session of the first account, if that is the one of `BOOTSTRAP_EMAIL` (else 404), or as a Bearer token the one printed at start.",
  caller: "operator",
  query: pageQuery.extend({ search }),
  answers: { 200: cursorList(systemMail) },
  errors: ["RESOURCE_NOT_FOUND"],
});

export const deleteMessages = endpoint({
  name: "mailbox.deleteAll",
  method: "DELETE",
  path: "/mailbox/messages",
  summary: "Empty the local mailbox of this project",
  description: "Deletes the kept messages. The mails themselves, their state and their events stay.",
  caller: "project",
  answers: { 204: null },
});
