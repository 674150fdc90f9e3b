// Checks an address before sending to it, the third of the quickest endpoints (spec §4.3; decisions §12).
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { emailAddress } from "./field.ts";

export const verification = z.object({
  email: z.string().describe("The address in its canonical form."),
  valid: z
    .boolean()
    .describe(
      "False if DNS says that the domain does not exist or cannot receive email. The other flags do not affect it.",
    ),
  isDisposable: z.boolean().describe("The domain is a provider of disposable addresses."),
  isAlias: z.boolean().describe("The domain belongs to a forwarding service that hides the real address."),
  isTypo: z.boolean().describe("The domain looks misspelled; see `suggestedEmail`."),
  isPlusAddressed: z.boolean().describe("The part before the @ has a tag (`ada+news@…`)."),
  isPersonalEmail: z.boolean().describe("A public mailbox provider such as gmail.com, not a company."),
  domainExists: z.boolean().describe("False only if DNS said that the name does not exist."),
  hasWebsite: z.boolean().describe("An address record (A or AAAA) was found for the domain."),
  hasMxRecords: z.boolean().describe("A mail server (MX) was found; a null MX (RFC 7505) is none."),
  reasons: z.array(z.string()).describe("Explanations for people; exactly one if there are no problems."),
  suggestedEmail: z.string().optional().describe("The probably intended address if `isTypo` is true."),
});

export type Verification = z.infer<typeof verification>;

export const verify = endpoint({
  name: "v1.verify",
  method: "POST",
  path: "/v1/verify",
  summary: "Check an address before sending to it",
  description:
    "Queries DNS for the domain and compares it with known services. Nothing is sent or stored. Responds within 5 seconds; if DNS does not respond in time, `reasons` says so and `valid` stays true.",
  caller: "project",
  isRead: true,
  body: z.object({ email: emailAddress }),
  envelope: "wrapped",
  responses: { 200: verification },
});
