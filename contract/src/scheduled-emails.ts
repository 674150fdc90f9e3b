// Endpoints that change or cancel an email before it is sent.
import { z } from "zod";
import { fullEmail } from "./emails.ts";
import { endpoint } from "./endpoint.ts";
import { inputInstant, pathId } from "./field.ts";

export const rescheduleEmail = endpoint({
  name: "emails.reschedule",
  method: "PATCH",
  path: "/emails/:id",
  summary: "Change the time of a scheduled email",
  description: "409 unless the email has a `scheduledFor` and still waits for it.",
  caller: "project",
  params: z.object({ id: pathId }),
  body: z.object({
    scheduledFor: inputInstant.describe("A time within the next year, with its offset or Z (ISO 8601)."),
  }),
  responses: { 200: fullEmail },
  errors: ["EMAIL_NOT_FOUND", "CONFLICT"],
});

export const cancelEmail = endpoint({
  name: "emails.cancel",
  method: "POST",
  path: "/emails/:id/cancel",
  summary: "Cancel an email that waits",
  description:
    "The email becomes SKIPPED, and `neverSent` is true: it was not sent and never will be. If an earlier attempt got no reply, it becomes UNCONFIRMED, and `neverSent` is false. Repeating the call changes nothing. 409 if the email is being sent or has ended, or belongs to a campaign.",
  caller: "project",
  params: z.object({ id: pathId }),
  responses: {
    200: fullEmail.extend({ neverSent: z.boolean().describe("Whether the email certainly was not sent.") }),
  },
  errors: ["EMAIL_NOT_FOUND", "CONFLICT"],
});

export const SCHEDULED_EMAIL_ENDPOINTS = [rescheduleEmail, cancelEmail] as const;
