// Sender domains and their verification by DNS (spec §2.10, 4.10; decisions §11).
import { z } from "zod";
import { IN_PARTS } from "./advice.ts";
import { parseDomain } from "./address.ts";
import { messageOf } from "./refused-address.ts";
import { dnsAdvice } from "./dns-advice.ts";
import { recordMistakes } from "./domain-mistakes.ts";
import { endpoint } from "./endpoint.ts";
import { instant, issue, jsonSchemas, pathId } from "./field.ts";

export const domainName = z
  .string()
  .transform((text, context) => {
    const parsed = parseDomain(text);
    if (parsed.ok) return parsed.domain;
    context.issues.push(issue(messageOf(parsed), "invalid_string", text));
    return z.NEVER;
  })
  .register(jsonSchemas, {
    jsonSchema: { type: "string", format: "hostname", examples: ["mail.example.com"] },
  });

/** A code, because programs cannot act on a sentence and other languages need other words. */

/** A record to publish, with the current value in DNS. */
export const record = z.object({
  type: z.enum(["TXT"]),
  name: z.string(),
  value: z.string().describe("The value to publish."),
  purpose: z
    .enum(["dkim", "return-path", "spf", "dmarc"])
    .describe("`return-path` is SPF at the installation's own return path, where receivers look for it."),
  required: z.boolean().describe("Whether sending requires this record. The others are recommended."),
  found: z
    .string()
    .nullable()
    .describe("The published records, one per line; null if there are none or DNS did not respond."),
  status: z.enum(["UNCHECKED", "MISSING", "MISMATCH", "FOUND"]),
  advice: z.string().nullable().describe("The problem and how to fix it; null if there is none."),
  adviceParts: z.array(dnsAdvice).describe(IN_PARTS),
  lookedUpAt: instant
    .nullable()
    .describe(
      "The last time DNS responded for this name. Earlier than `lastCheckedAt` while DNS does not respond, and null until its first response.",
    ),
  servers: z
    .array(z.string())
    .describe(
      "The resolvers used at that time (`DNS_SERVERS` or those of the system), with the port if it is not 53.",
    ),
});

/** The MX record of a domain that receives email. */
export const receivingRecord = z.object({
  type: z.enum(["MX"]),
  name: z.string(),
  value: z.string().describe("The preference and the host to publish."),
  found: z
    .string()
    .nullable()
    .describe("The published hosts, one per line; null if there are none or DNS did not respond."),
  status: z.enum(["UNCHECKED", "MISSING", "MISMATCH", "FOUND"]),
});

export const domain = z.object({
  id: z.uuid(),
  domain: z.string(),
  verified: z.boolean(),
  status: z.enum(["PENDING", "VERIFIED"]),
  records: z.array(record),
  dkimTokens: z
    .array(z.string())
    .describe("Selectors of the DKIM keys: the signing one, a next or previous one, then the Ed25519 one."),
  ed25519: z
    .boolean()
    .describe(
      "Whether an Ed25519 key signs in addition to the RSA key, starting when a check finds its record.",
    ),
  receiving: z
    .object({
      enabled: z
        .boolean()
        .describe("Whether email to any address at the domain is received, while the domain is verified."),
      record: receivingRecord,
    })
    .nullable()
    .describe("null if the installation receives no email (INBOUND_DOMAIN)."),
  lastError: z
    .string()
    .nullable()
    .describe(
      "The reason why the domain lost or will lose its verification, or why the last check had no result; null if all is well.",
    ),
  lastErrorParts: z.array(dnsAdvice).describe(IN_PARTS),
  lastCheckedAt: instant.nullable(),
  createdAt: instant,
  updatedAt: instant,
});
const byId = z.object({ id: pathId });

export const listDomains = endpoint({
  name: "domains.list",
  method: "GET",
  path: "/domains/project/:projectId",
  summary: "List the sender domains of a project",
  description: "Verified and pending domains, each with its DNS records and the results of the last check.",
  caller: "project-by-path",
  params: z.object({ projectId: pathId }),
  responses: { 200: z.array(domain) },
});

export const createDomain = endpoint({
  name: "domains.create",
  method: "POST",
  path: "/domains",
  summary: "Add a sender domain and return the DNS records to create",
  description:
    "You can send from exactly this domain; subdomains and the parent are separate domains. A name outside ASCII is converted to its A-labels (`xn--…`), so a look-alike is another domain.",
  caller: "project",
  leastRole: "ADMIN",
  body: z.object({ domain: domainName }),
  responses: { 201: domain },
  errors: ["CONFLICT"],
});

export const verifyDomain = endpoint({
  name: "domains.verify",
  method: "GET",
  path: "/domains/:id/verify",
  summary: "Check the DNS records of a domain now",
  description:
    "All domains are also checked every five minutes. Only DNS responses count, so nothing changes while DNS does not respond. A verified domain becomes pending after three failed checks in a row.",
  caller: "project",
  isRead: false,
  params: byId,
  responses: { 200: domain },
  errors: ["DOMAIN_NOT_FOUND", "CONFLICT"],
});

export const diagnoseDomain = endpoint({
  name: "domains.diagnose",
  method: "GET",
  path: "/domains/:id/diagnosis",
  summary: "Find common mistakes in the DNS records of a domain",
  description:
    "For each of the domain's own records that does not work, queries DNS at the correct name and at names commonly entered by mistake. If `mistakes` is empty, the record is just missing. Nothing is stored or decided; use `GET /domains/:id/verify` for that.",
  caller: "project",
  params: byId,
  responses: { 200: z.object({ records: z.array(recordMistakes) }) },
  errors: ["DOMAIN_NOT_FOUND"],
});

export const rotateDomainKey = endpoint({
  name: "domains.rotateKey",
  method: "POST",
  path: "/domains/:id/rotate-key",
  summary: "Create a new DKIM key for a domain",
  description:
    "The records then list both keys. The new key signs as soon as a check finds its record in DNS. The old record must stay for another seven days, then it leaves the list. 409 while there are two keys already.",
  caller: "project",
  leastRole: "ADMIN",
  params: byId,
  responses: { 200: domain },
  errors: ["DOMAIN_NOT_FOUND", "CONFLICT"],
});

export const updateDomain = endpoint({
  name: "domains.update",
  method: "PATCH",
  path: "/domains/:id",
  summary: "Turn the additional Ed25519 signature or receiving on or off",
  description:
    "With `ed25519: true` the domain gets an Ed25519 key (RFC 8463) with a separate selector, listed in `records`. While DNS publishes it, each email has two signatures; receivers without support for the newer one use the RSA signature. To change the key, turn it off and on; the RSA key keeps signing. With `receiving: true` every address at the domain receives email for the project while the domain is verified, once its MX record leads here (`docs/received-emails.md`).",
  caller: "project",
  leastRole: "ADMIN",
  params: byId,
  body: z
    .object({ ed25519: z.boolean().optional(), receiving: z.boolean().optional() })
    .refine((body) => body.ed25519 !== undefined || body.receiving !== undefined, {
      message: "Give `ed25519` or `receiving`.",
    }),
  responses: { 200: domain },
  errors: ["DOMAIN_NOT_FOUND", "CONFLICT"],
});

export const deleteDomain = endpoint({
  name: "domains.delete",
  method: "DELETE",
  path: "/domains/:id",
  summary: "Remove a sender domain",
  description:
    "409 while a template or an unfinished campaign uses it as sender. A default sender at the domain is removed, even if the domain is added again.",
  caller: "project",
  leastRole: "ADMIN",
  params: byId,
  responses: { 204: null },
  errors: ["DOMAIN_NOT_FOUND", "CONFLICT"],
});

export const DOMAIN_ENDPOINTS = [
  listDomains,
  createDomain,
  verifyDomain,
  diagnoseDomain,
  rotateDomainKey,
  updateDomain,
  deleteDomain,
] as const;
