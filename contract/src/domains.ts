// Sender domains and their DNS proof (spec §2.10, 4.10; decisions §11).
import { z } from "zod";
import { IN_PARTS } from "./advice.ts";
import { parseDomain } from "./address.ts";
import { dnsAdvice } from "./dns-advice.ts";
import { recordMistakes } from "./domain-mistakes.ts";
import { endpoint } from "./endpoint.ts";
import { instant, issue, jsonSchemas, pathId } from "./field.ts";

const domainName = z
  .string()
  .transform((text, context) => {
    const parsed = parseDomain(text);
    if (parsed.ok) return parsed.domain;
    context.issues.push(issue(parsed.reason, "invalid_string", text));
    return z.NEVER;
  })
  .register(jsonSchemas, {
    jsonSchema: { type: "string", format: "hostname", examples: ["mail.example.com"] },
  });

/** A program cannot act on a sentence, and in another language it is said in other words. */

/** A record to publish, with what DNS has in its place. */
const record = z.object({
  type: z.enum(["TXT"]),
  name: z.string(),
  value: z.string().describe("What should be published."),
  purpose: z
    .enum(["dkim", "return-path", "spf", "dmarc"])
    .describe("`return-path` is SPF at the installation's own return path, where receivers look for it."),
  required: z.boolean().describe("Nothing is sent from the domain without it. The others are advice."),
  found: z
    .string()
    .nullable()
    .describe("What is published, one record a line; null when nothing is, or nobody answered."),
  status: z.enum(["UNCHECKED", "MISSING", "MISMATCH", "FOUND"]),
  advice: z.string().nullable().describe("What is wrong and what to do, in words; null when nothing is."),
  adviceParts: z.array(dnsAdvice).describe(IN_PARTS),
  lookedUpAt: instant
    .nullable()
    .describe(
      "When DNS last answered for this name: before `lastCheckedAt` while nobody answers, null until somebody has.",
    ),
  servers: z
    .array(z.string())
    .describe(
      "Which resolvers were asked then (those of `DNS_SERVERS`, or of the system), with the port where that is not 53.",
    ),
});

const domain = z.object({
  id: z.uuid(),
  domain: z.string(),
  verified: z.boolean(),
  status: z.enum(["PENDING", "VERIFIED"]),
  records: z.array(record),
  dkimTokens: z
    .array(z.string())
    .describe(
      "The selectors of the DKIM keys: the one that signs, then a next or former one, then that of Ed25519.",
    ),
  ed25519: z
    .boolean()
    .describe(
      "Whether an Ed25519 key signs beside the RSA key, from the first check on that finds its record.",
    ),
  lastError: z
    .string()
    .nullable()
    .describe(
      "Why the domain lost its proof or is about to, or why the last check decided nothing; null when all is well.",
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
  description: "Verified and pending ones, each with its DNS records and what was found at the last check.",
  caller: "project-by-path",
  params: z.object({ projectId: pathId }),
  answers: { 200: z.array(domain) },
});

export const createDomain = endpoint({
  name: "domains.create",
  method: "POST",
  path: "/domains",
  summary: "Add a sender domain; answers the DNS records to create",
  description:
    "Mail is sent from exactly this domain: its subdomains and its parent are domains of their own. A name outside ASCII is taken as its A-labels (`xn--…`), so a look-alike is another domain.",
  caller: "project",
  leastRole: "ADMIN",
  body: z.object({ domain: domainName }),
  answers: { 201: domain },
  errors: ["CONFLICT"],
});

export const verifyDomain = endpoint({
  name: "domains.verify",
  method: "GET",
  path: "/domains/:id/verify",
  summary: "Check the DNS records of a domain now",
  description:
    "All domains are also checked every five minutes. Only answers of DNS count: while nobody answers, nothing changes. A verified domain turns pending after three failed checks in a row.",
  caller: "project",
  isRead: false,
  params: byId,
  answers: { 200: domain },
  errors: ["DOMAIN_NOT_FOUND", "CONFLICT"],
});

export const diagnoseDomain = endpoint({
  name: "domains.diagnose",
  method: "GET",
  path: "/domains/:id/diagnosis",
  summary: "Look for common mistakes in the DNS records of a domain",
  description:
    "For each record of the domain's own that does not work: asks DNS at its name and at those where it is entered by mistake, and says what it recognizes. An empty list of `mistakes` means that the record is simply not there. Nothing is stored and nothing decided; `GET /domains/:id/verify` does that.",
  caller: "project",
  params: byId,
  answers: { 200: z.object({ records: z.array(recordMistakes) }) },
  errors: ["DOMAIN_NOT_FOUND"],
});

export const rotateDomainKey = endpoint({
  name: "domains.rotateKey",
  method: "POST",
  path: "/domains/:id/rotate-key",
  summary: "Make a new DKIM key for a domain",
  description:
    "The records then list both keys. The new one signs from the first check on that finds its record in DNS; the old record must stay for seven days after that, then it leaves the list. 409 while there are two keys already.",
  caller: "project",
  leastRole: "ADMIN",
  params: byId,
  answers: { 200: domain },
  errors: ["DOMAIN_NOT_FOUND", "CONFLICT"],
});

export const updateDomain = endpoint({
  name: "domains.update",
  method: "PATCH",
  path: "/domains/:id",
  summary: "Sign with an Ed25519 key as well, or no more",
  description:
    "With `ed25519: true` the domain gets an Ed25519 key (RFC 8463) with a selector of its own, listed in `records`. While DNS publishes it, each mail has two signatures; receivers that do not know the newer one take the RSA signature. To change the key, turn it off and on: the RSA key signs all along.",
  caller: "project",
  leastRole: "ADMIN",
  params: byId,
  body: z.object({ ed25519: z.boolean() }),
  answers: { 200: domain },
  errors: ["DOMAIN_NOT_FOUND", "CONFLICT"],
});

export const deleteDomain = endpoint({
  name: "domains.delete",
  method: "DELETE",
  path: "/domains/:id",
  summary: "Remove a sender domain",
  description:
    "409 while a template or a campaign that is not over sends from it. A default sender at the domain ends with it, also if the domain is added again.",
  caller: "project",
  leastRole: "ADMIN",
  params: byId,
  answers: { 204: null },
  errors: ["DOMAIN_NOT_FOUND", "CONFLICT"],
});
