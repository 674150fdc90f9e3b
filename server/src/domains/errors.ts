// Errors of domain changes. Pure.
import { AppError } from "../platform/app-error.ts";
import type { SigningKey } from "../emails/sending/prepare-emails.ts";
import { SANDBOX_DOMAIN } from "../transports/mailbox.ts";
import { isVerified } from "./present-domain.ts";
import type { DomainRow } from "./queries.ts";
import { secondKeyOf } from "./rules.ts";

/**
 * Returns the error for the installation's domain.
 * @param so what it lacks or what is not possible
 */
export function ofInstallation(so: string): AppError {
  return new AppError("CONFLICT", { message: `${SANDBOX_DOMAIN} belongs to the installation and ${so}.` });
}

/** Returns the error when another project has verified the domain. */
export function verifiedElsewhere(): AppError {
  return new AppError("CONFLICT", { message: "This domain is verified in another project." });
}

/** Returns the error while two keys are in use, and says when that ends. */
export function rotationRunning(row: DomainRow): AppError {
  const second = secondKeyOf(row);
  const message =
    second?.role === "former"
      ? `The former key stays published until ${second.until.toISOString()}. You can rotate again after that.`
      : "A rotation is in progress. Publish the record of the next key, and it takes over at the next check.";
  return new AppError("CONFLICT", { message });
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
  return { kind: "refused", reason: `The domain ${domain} is not verified in this project.` };
}
