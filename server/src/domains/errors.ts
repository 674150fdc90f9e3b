// Errors of domain changes. Pure.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { asMessage, withValues } from "@postloft/contract/translation.ts";
import { recordedReason } from "@postloft/contract/recorded-reasons.ts";
import type { SigningKey } from "../emails/sending/build-messages.ts";
import { AppError, invalidField } from "../platform/app-error.ts";
import { SANDBOX_DOMAIN } from "../transports/mailbox.ts";
import { isVerified } from "./present-domain.ts";
import type { DomainRow } from "./queries.ts";
import { secondKeyOf } from "./rules.ts";

/**
 * Returns the error for the installation's domain.
 * @param so what it lacks or what is not possible
 */
export function ofInstallation(so: string): AppError {
  return new AppError(
    "CONFLICT",
    withValues("{domain} belongs to the installation and {so}.", { domain: SANDBOX_DOMAIN, so }),
  );
}

/** Returns the error when another project has verified the domain. */
export function verifiedElsewhere(): AppError {
  return new AppError("CONFLICT", { message: "This domain is verified in another project." });
}

/** Returns the error about adding the installation's domain. */
export function sharedDomain(): AppError {
  return invalidField(
    "domain",
    "custom",
    withValues(
      "{domain} belongs to the installation; in local mailbox mode every project can send from it.",
      {
        domain: SANDBOX_DOMAIN,
      },
    ),
  );
}

/** Returns the error for a project that has the maximum number of domains. */
export function tooManyDomains(): AppError {
  return new AppError(
    "CONFLICT",
    withValues("The project has {most} domains, which is the maximum. Delete one you don't need.", {
      most: LIMITS.domains.value,
    }),
  );
}

/** Returns the error for a domain from which email cannot be sent. */
export function notVerified(domain: string): AppError {
  return new AppError(
    "DOMAIN_NOT_VERIFIED",
    withValues("The domain {domain} is not verified in this project.", { domain }),
  );
}

/** Returns the error about deleting the domain of a template's sender. */
export function usedByTemplate(template: string, domain: string): AppError {
  return new AppError(
    "CONFLICT",
    withValues('The template "{template}" sends from {domain}.', { template, domain }),
  );
}

/** Returns the error about deleting the domain of a campaign's sender. */
export function usedByCampaign(campaign: string, domain: string): AppError {
  return new AppError(
    "CONFLICT",
    withValues('The campaign "{campaign}" sends from {domain}.', { campaign, domain }),
  );
}

/** Returns the error while two keys are in use, and says when that ends. */
export function rotationRunning(row: DomainRow): AppError {
  const second = secondKeyOf(row);
  return new AppError(
    "CONFLICT",
    asMessage(
      second?.role === "former"
        ? withValues("The former key stays published until {until}. You can rotate again after that.", {
            until: second.until.toISOString(),
          })
        : "A rotation is in progress. Publish the record of the next key, and it takes over at the next check.",
    ),
  );
}

/** @throws AppError CONFLICT if the project has the domain, or another project has verified it */
export function rejectTaken(
  holders: ReadonlyArray<{ projectId: string; status: string; lastCheckedAt: Date | null }>,
  projectId: string,
  staysHere: boolean,
): void {
  if (holders.some((holder) => holder.projectId === projectId))
    throw new AppError("CONFLICT", { message: "This domain is in the project already." });
  if (holders.some((holder) => isVerified(holder, staysHere))) throw verifiedElsewhere();
}

/** Returns the reason why no email can be signed for a domain. */
export function refused(domain: string): SigningKey {
  return { kind: "refused", reason: recordedReason("domainNotVerified", { domain }) };
}
