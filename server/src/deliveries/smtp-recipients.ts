// Classifies the recipients of the inbound SMTP server.
import { domainOf, localPartOf } from "@postloft/contract/address.ts";
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
}

/** The kinds of recipients at our domains. */
export type Kind = "report" | "domain-report" | "project" | "operator";

/** Accepts complaints that prove which email they are about; the secret address accepts them without proof. */
const FEEDBACK_NAME = "fbl";
const POSTMASTER = "postmaster";

/**
 * Classifies an address by its form alone, so that the reply reveals neither real return paths nor existing projects. Returns null for
 * other addresses.
 */
export function kindOf(
  address: string,
  { bounceDomain, inboundDomain, returnPaths }: ReceivingDomains,
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
