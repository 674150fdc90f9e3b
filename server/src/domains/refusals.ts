// Why domains.ts refuses a change of a domain. Pure.
import { Refusal } from "../platform/refusal.ts";
import { SANDBOX_DOMAIN } from "../transports/mailbox.ts";
import { isVerified } from "./present-domain.ts";
import type { DomainRow } from "./queries.ts";
import { secondKeyOf } from "./rules.ts";

/** Of the domain of the installation. @param so what it has not, or what cannot be done with it */
export function ofInstallation(so: string): Refusal {
  return new Refusal("CONFLICT", { message: `${SANDBOX_DOMAIN} belongs to the installation and ${so}.` });
}

/** Another project has proved that the domain is its own. */
export function takenElsewhere(): Refusal {
  return new Refusal("CONFLICT", { message: "This domain is verified in another project." });
}

/** There are two keys that still matter: what ends that. */
export function rotationRunning(row: DomainRow): Refusal {
  const second = secondKeyOf(row);
  const message =
    second?.role === "former"
      ? `The former key stays published until ${second.until.toISOString()}. The next rotation can begin then.`
      : "A rotation is running: publish the record of the next key, and it takes over at the next check.";
  return new Refusal("CONFLICT", { message });
}

/** @throws Refusal CONFLICT where the project has the domain, or another project has proved it. */
export function refuseHolders(
  holders: ReadonlyArray<{ projectId: string; status: string; lastCheckedAt: Date | null }>,
  projectId: string,
  staysHere: boolean,
): void {
  if (holders.some((holder) => holder.projectId === projectId))
    throw new Refusal("CONFLICT", { message: "This domain is in the project already." });
  if (holders.some((holder) => isVerified(holder, staysHere))) throw takenElsewhere();
}
