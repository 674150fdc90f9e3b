// Classifies the recipients of the inbound SMTP server.
import type { SMTPServerAddress, SMTPServerEnvelope } from "smtp-server";
import { domainOf, localPartOf, parseDomain } from "@postloft/contract/address.ts";
import type { Domains } from "../domains/domains.ts";
import { isReportName } from "../domains/reports/domain-reports.ts";
import { isInboundName } from "../projects/projects.ts";
import { isReturnPath, type ReturnPaths } from "./return-path.ts";
import { isOperatorName } from "./returned-message.ts";

/** The domains that receive email. */
export interface ReceivingDomains {
  returnPaths: ReturnPaths;
  /** Null if returned mail is not received here. */
  bounceDomain: string | null;
  inboundDomain: string | null;
  /** Finds the domains of projects. They receive email only if the installation has a domain of its own for it. */
  domains: Pick<Domains, "findReceivers">;
}

/** The kinds of recipients at our domains. */
export type Kind = "report" | "domain-report" | "project" | "operator";

/** Accepts complaints that prove which email they are about; the secret address accepts them without proof. */
const FEEDBACK_NAME = "fbl";
const POSTMASTER = "postmaster";

export interface Recipient {
  kind: Kind;
  /** In lower case. */
  address: string;
  /** The project whose domain it is. Null for addresses at our own domains. */
  projectId: string | null;
  /** What the limits of a project count by: its address, or all addresses of its domain together. */
  counted: string;
}

/** The recipients that were accepted, by the object that the SMTP server keeps in the envelope. */
const accepted = new WeakMap<SMTPServerAddress, Recipient>();

/** Remembers a recipient, so that a domain is looked up once for each message. */
export function acceptRecipient(address: SMTPServerAddress, recipient: Recipient): void {
  accepted.set(address, recipient);
}

/** Returns the accepted recipients of a message, each once. */
export function recipientsOf({ rcptTo }: Pick<SMTPServerEnvelope, "rcptTo">): Recipient[] {
  const found = rcptTo.flatMap((address) => accepted.get(address) ?? []);
  return [...new Map(found.map((recipient) => [recipient.address, recipient])).values()];
}

/**
 * Classifies an address. Returns null if no one receives email there, and "lost" if its domain lost its proof in the last four days, because
 * a permanent rejection would lose the email for a mistake in DNS.
 */
export async function findRecipient(
  address: string,
  deps: ReceivingDomains,
): Promise<Recipient | "lost" | null> {
  const lower = address.toLowerCase();
  const kind = kindOf(lower, deps);
  if (kind !== null) return { kind, address: lower, projectId: null, counted: lower };
  const parsed = parseDomain(domainOf(lower));
  const local = localPartOf(lower);
  if (!parsed.ok || local === "" || deps.inboundDomain === null) return null;
  const { domain } = parsed;
  if (domain === deps.bounceDomain || domain === deps.inboundDomain) return null;
  const receiver = (await deps.domains.findReceivers([domain])).get(domain);
  if (receiver === undefined) return null;
  if (receiver.isLost) return "lost";
  const { projectId } = receiver;
  // A sender domain that is its own return path gets its bounces here, too.
  const isReport = isReturnPath(local) && deps.returnPaths.read(local) !== null;
  const found = { address: `${local}@${domain}`, counted: `@${domain}` };
  return isReport ? { ...found, kind: "report", projectId: null } : { ...found, kind: "project", projectId };
}

/**
 * Classifies an address at our own domains by its form alone, so that the reply reveals neither real return paths nor existing projects. Returns null for
 * other addresses.
 */
function kindOf(
  address: string,
  { bounceDomain, inboundDomain, returnPaths }: Omit<ReceivingDomains, "domains">,
): Kind | null {
  if (address.toLowerCase() === POSTMASTER) return "operator";
  const domain = domainOf(address).toLowerCase();
  const local = localPartOf(address).toLowerCase();
  if (domain !== bounceDomain && domain !== inboundDomain) return null;
  if (isOperatorName(local)) return "operator";
  if (domain === inboundDomain && isReportName(local)) return "domain-report";
  const isFeedback = local === FEEDBACK_NAME || local === returnPaths.feedbackName;
  if (domain === bounceDomain && (isReturnPath(local) || isFeedback)) return "report";
  return domain === inboundDomain && isInboundName(local) ? "project" : null;
}
