// Reads, sets and removes the link domain of a project (docs/decisions/0159-link-domains.md).
import type { z } from "zod";
import type * as contract from "@postloft/contract/link-domains.ts";
import { withValues } from "@postloft/contract/translation.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import { AppError, invalidField } from "../platform/app-error.ts";
import { notify } from "../platform/notify.ts";
import { lockProject } from "../projects/projects.ts";
import type { LinkDomainParts } from "./check-link-domains.ts";
import {
  endLinkDomain,
  findLinkDomain,
  findLinkDomainOwner,
  isServedDomain,
  upsertLinkDomain,
  type LinkDomainRow,
} from "./queries.ts";
import { nameOf, type LinkOrigins } from "./link-origins.ts";
import { aliasRecord, proofRecord } from "./rules.ts";

type LinkDomainView = z.output<typeof contract.linkDomain>;
type Parts = Pick<LinkDomainParts, "publicIdOf" | "baseUrl">;

function present({ publicIdOf, baseUrl }: Parts, row: LinkDomainRow): LinkDomainView {
  const { domain, status, problem, problemDetail, lastCheckedAt, createdAt } = row;
  const proof = proofRecord(domain, publicIdOf(row.projectId));
  const isProven = row.foundProof?.some((value) => value.trim() === proof.value) === true;
  return {
    domain,
    status,
    records: [
      {
        ...aliasRecord(domain, baseUrl()),
        found: row.foundAlias,
        status: statusOf(row.foundAlias, row.leadsHere),
      },
      { type: "TXT", ...proof, found: row.foundProof, status: statusOf(row.foundProof, isProven) },
    ],
    problem,
    problemDetail,
    lastCheckedAt: lastCheckedAt?.toISOString() ?? null,
    createdAt: createdAt.toISOString(),
  };
}

function statusOf(found: readonly string[] | null, isCorrect: boolean) {
  if (found === null) return "UNCHECKED";
  if (isCorrect) return "FOUND";
  return found.length === 0 ? "MISSING" : "MISMATCH";
}

/** Returns the link domain of a project, or null. */
export async function readLinkDomain(
  parts: Parts,
  database: Database,
  projectId: string,
): Promise<LinkDomainView | null> {
  const row = await findLinkDomain(database, projectId);
  return row === undefined ? null : present(parts, row);
}

/**
 * Sets the link domain of a project, which is checked afterwards. The same domain keeps its state.
 * @throws AppError VALIDATION_ERROR for the installation's own name; CONFLICT if another project has verified the domain
 */
export async function setLinkDomain(
  parts: Parts,
  tx: Tx,
  projectId: string,
  domain: string,
): Promise<LinkDomainView> {
  if (domain === new URL(parts.baseUrl()).hostname)
    throw invalidField(
      "domain",
      "invalid_string",
      withValues(
        "{domain} is the address of this installation. Use a domain of your own, such as links.example.com.",
        {
          domain,
        },
      ),
    );
  const owner = await findLinkDomainOwner(tx, domain);
  if (owner !== undefined && owner !== projectId)
    throw new AppError(
      "CONFLICT",
      withValues("Another project has verified {domain} as its link domain.", { domain }),
    );
  await lockProject(tx, projectId);
  await endLinkDomain(tx, projectId, domain);
  await upsertLinkDomain(tx, projectId, domain);
  notify(tx, "link-domains");
  const row = await findLinkDomain(tx, projectId);
  if (row === undefined) throw new AppError("RESOURCE_NOT_FOUND");
  return present(parts, row);
}

/**
 * Ends the use of a project's link domain, which still serves the links of emails that were sent with it. Returns it, or undefined if there
 * is none.
 */
export async function removeLinkDomain(tx: Tx, projectId: string): Promise<string | undefined> {
  await lockProject(tx, projectId);
  const domain = await endLinkDomain(tx, projectId, null);
  if (domain !== undefined) notify(tx, "link-domains");
  return domain;
}

/** Returns whether a proxy may obtain a certificate for a host name. */
export async function isTlsAllowed(
  { baseUrl, links }: Pick<Parts, "baseUrl"> & { links: Pick<LinkOrigins, "isServed"> },
  database: Database,
  host: string,
): Promise<boolean> {
  const name = nameOf(host);
  if (name === new URL(baseUrl()).hostname || links.isServed(name)) return true;
  // Another process may have verified it a moment ago.
  return isServedDomain(database, name);
}
