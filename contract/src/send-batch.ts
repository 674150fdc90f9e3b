// Sends up to 1,000 different emails with one call. Each has its own result.
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { errorSchema } from "./errors.ts";
import { jsonSchemas } from "./field.ts";
import { LIMITS } from "./limits/limits.ts";
import { send, sendBody, sentEmails } from "./v1.ts";

/** One email of a batch. The server reads each with the schema of `send`. */
const batchEmail = z.unknown().register(jsonSchemas, {
  like: () =>
    z.object({
      ...sendBody.shape,
      idempotencyKey: z
        .string()
        .optional()
        .describe(
          "Sends the email once, also if it is part of several batches. Works like the header `Idempotency-Key`, for this email alone.",
        ),
    }),
});

const batchResult = z.object({
  success: z.boolean(),
  data: sentEmails.optional().describe("Set if the email was accepted."),
  error: errorSchema.shape.error.optional().describe("Set if the email failed."),
});

export const sendBatch = endpoint({
  name: "v1.sendBatch",
  method: "POST",
  path: "/v1/send/batch",
  summary: "Send up to 1,000 different transactional emails",
  description:
    "Each item of `emails` is a body of `POST /v1/send` and gets its own result, in the order of the request. An invalid email fails alone, and its fields are named with its position (`emails.3.subject`). The response is 200 even if emails failed, so check `failed`. All accepted emails are stored in one transaction before the response. If the call itself fails, no email was accepted. Each email counts as one request for the rate limit.",
  caller: "project",
  sends: true,
  body: z.object({
    emails: z
      .array(batchEmail)
      .min(1)
      .max(LIMITS.batchEmails.value)
      .describe(`Up to ${LIMITS.batchEmails.value} emails, with as many recipients in total.`),
  }),
  unknownFields: "refused",
  batchOf: "emails",
  bodyLimitBytes: LIMITS.sendBodyBytes.value,
  envelope: "wrapped",
  responses: {
    200: z.object({
      accepted: z.int().describe("How many emails were accepted."),
      failed: z.int().describe("How many emails failed. Nothing was sent for them."),
      results: z.array(batchResult).describe("One result for each email, in the order of the request."),
    }),
  },
  errors: send.errors,
});
