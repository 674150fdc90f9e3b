// The third short way in: what can be known about an address before anything is sent to it (spec §4.3; decisions §12).
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { emailAddress } from "./field.ts";

export const verification = z.object({
  email: z.string().describe("The address in its canonical form."),
  valid: z
    .boolean()
    .describe(
      "False when DNS says that the domain does not exist or cannot receive mail; the other flags leave it true.",
    ),
  isDisposable: z.boolean().describe("The domain gives out throw-away addresses."),
  isAlias: z.boolean().describe("The domain belongs to a service that forwards to an address it hides."),
  isTypo: z.boolean().describe("The domain looks like a misspelling; `suggestedEmail` tells of what."),
  isPlusAddressed: z.boolean().describe("The part before the @ has a tag (`ada+news@…`)."),
  isPersonalEmail: z
    .boolean()
    .describe("A mailbox provider for everybody, such as gmail.com; not a company."),
  domainExists: z.boolean().describe("False only when DNS said that there is nothing by this name."),
  hasWebsite: z.boolean().describe("An address record (A or AAAA) was found for the domain."),
  hasMxRecords: z.boolean().describe("A mail server (MX) was found; a null MX (RFC 7505) is none."),
  reasons: z.array(z.string()).describe("Sentences for people; exactly one when nothing is wrong."),
  suggestedEmail: z.string().optional().describe("The address as it was probably meant, when `isTypo`."),
});

export type Verification = z.infer<typeof verification>;

export const verify = endpoint({
  name: "v1.verify",
  method: "POST",
  path: "/v1/verify",
  summary: "Look at an address before sending to it",
  description:
    "Asks DNS about the domain and compares it with known services; nothing is sent and nothing is stored. Answers within 5 seconds: where DNS does not answer in time, `reasons` says so and `valid` stays true.",
  caller: "project",
  isRead: true,
  body: z.object({ email: emailAddress }),
  envelope: "wrapped",
  answers: { 200: verification },
});
