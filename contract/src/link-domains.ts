// The domain of a project for links, images and public pages (decision 0159).
import { z } from "zod";
import { domainName } from "./domains.ts";
import { endpoint } from "./endpoint.ts";
import { instant } from "./field.ts";

export const LINK_DOMAIN_PROBLEMS = [
  "DNS_MISSING",
  "DNS_ELSEWHERE",
  "DNS_UNANSWERED",
  "TAKEN",
  "UNREACHABLE",
  "OTHER_SERVER",
] as const;
export type LinkDomainProblem = (typeof LINK_DOMAIN_PROBLEMS)[number];

const record = z.object({
  type: z.enum(["CNAME", "A", "AAAA", "TXT"]),
  name: z.string(),
  value: z.string().describe("The value to publish."),
  found: z.array(z.string()).nullable().describe("The last response of DNS; null before the first one."),
  status: z.enum(["UNCHECKED", "MISSING", "MISMATCH", "FOUND"]),
});

export const linkDomain = z.object({
  domain: z.string(),
  status: z
    .enum(["PENDING", "VERIFIED", "ACTIVE"])
    .describe(
      "`VERIFIED`: both records are correct, but the domain does not respond yet. `ACTIVE`: it responds, and new emails use it.",
    ),
  records: z
    .array(record)
    .describe(
      "An alias of this installation and a proof that the domain is yours. Addresses equal to those of the installation also count as the alias.",
    ),
  problem: z
    .enum(LINK_DOMAIN_PROBLEMS)
    .nullable()
    .describe(
      "Why the last check did not succeed. `TAKEN`: another project has verified the domain. `OTHER_SERVER`: another server responds at the domain, or a proxy does not pass on the `Host` header.",
    ),
  problemDetail: z.string().nullable().describe("The error of DNS or of the connection, if there is one."),
  lastCheckedAt: instant.nullable(),
  createdAt: instant,
});

export const getLinkDomain = endpoint({
  name: "domains.getLinkDomain",
  method: "GET",
  path: "/link-domain",
  summary: "Read the link domain of a project",
  description:
    "The domain that links, images and public pages of the project use. `linkDomain` is null if the project uses the address of the installation.",
  caller: "project",
  responses: { 200: z.object({ linkDomain: linkDomain.nullable() }) },
});

export const setLinkDomain = endpoint({
  name: "domains.setLinkDomain",
  method: "PUT",
  path: "/link-domain",
  summary: "Set the link domain of a project and return the DNS records to create",
  description:
    "New emails use it once a check succeeds. Until then they use the address of the installation. It replaces another link domain, which still serves the links in emails that were sent with it, as long as it leads here. A link domain serves only links, images and public pages of its project.",
  caller: "project",
  leastRole: "ADMIN",
  body: z.object({ domain: domainName }),
  responses: { 200: linkDomain },
  errors: ["CONFLICT"],
});

export const checkLinkDomain = endpoint({
  name: "domains.checkLinkDomain",
  method: "POST",
  path: "/link-domain/check",
  summary: "Check the link domain now",
  description:
    "Asks DNS for both records, and then requests a page of this installation at the domain. It is also checked every five minutes, or every hour after a week without success. After three failed checks in a row new emails use the address of the installation again, and members receive an email.",
  caller: "project",
  responses: { 200: linkDomain },
  errors: ["RESOURCE_NOT_FOUND"],
});

export const removeLinkDomain = endpoint({
  name: "domains.removeLinkDomain",
  method: "DELETE",
  path: "/link-domain",
  summary: "Remove the link domain",
  description:
    "New emails use the address of the installation. The domain still serves the links in emails that were sent with it, as long as it leads here. 204 also if there is none.",
  caller: "project",
  leastRole: "ADMIN",
  responses: { 204: null },
});

export const reachInstallation = endpoint({
  name: "instance.reach",
  method: "GET",
  path: "/.well-known/postloft",
  summary: "Identify this installation",
  description:
    "The same text in every process of the installation, followed by the host name of the request. Checks of link domains request it.",
  caller: "anyone",
  envelope: "raw",
  responses: { 200: z.string() },
});

export const allowTls = endpoint({
  name: "instance.allowTls",
  method: "GET",
  path: "/tls/allowed",
  summary: "Ask whether a proxy may obtain a certificate for a domain",
  description:
    "200 for the installation's own host name, and for link domains that are verified or were used in emails, otherwise 404. Caddy asks this way with `on_demand_tls`.",
  caller: "anyone",
  query: z.object({ domain: z.string().max(255) }),
  envelope: "raw",
  responses: { 200: z.string() },
  errors: ["RESOURCE_NOT_FOUND"],
});

export const LINK_DOMAIN_ENDPOINTS = [
  getLinkDomain,
  setLinkDomain,
  checkLinkDomain,
  removeLinkDomain,
] as const;

/** Endpoints for proxies and for checks of link domains. */
export const CERTIFICATE_ENDPOINTS = [reachInstallation, allowTls] as const;
