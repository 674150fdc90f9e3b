// Resolves emails in doubt when a person has found out or decided whether they were sent.
import type { Resolution } from "@postloft/contract/emails.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { asChecked, type Checked } from "../../platform/checked.ts";
import { asMessage, withValues } from "@postloft/contract/translation.ts";
import { recordedReason } from "@postloft/contract/recorded-reasons.ts";
import type { Database, Tx } from "../../platform/database/database.ts";
import { AppError } from "../../platform/app-error.ts";
import { listResolutions, updateResolved, type ResolvedMails } from "./resolve-queries.ts";
import type { ListEventsOfEmail } from "./email-timeline.ts";
import { getEmail } from "./read-emails.ts";
import type { AddLateSent } from "../returned/returned-emails.ts";

const FAILED_REASON = recordedReason("resolvedAsFailed");

/** A person's decision about emails in doubt. */
export interface ResolutionRequest {
  as: Resolution;
  /** Email address of the user, or null for a caller with a secret key. */
  by: string | null;
}

/** Resolves up to `resolvedAtOnce` emails in doubt and ignores all others. Returns how many were resolved. */
export async function resolveEmails(
  tx: Tx,
  mails: ResolvedMails,
  { as, by }: ResolutionRequest,
  addLateSent: AddLateSent,
): Promise<number> {
  const resolution = { as, by, failedReason: FAILED_REASON };
  const resolved = await updateResolved(tx, mails, resolution, LIMITS.resolvedAtOnce.value);
  // They were sent at the time of their attempt, which may be counted already.
  if (as === "sent" && resolved.length > 0) await addLateSent(tx, mails.projectId, resolved);
  return resolved.length;
}

interface ResolutionDependencies {
  listEventsOfEmail: ListEventsOfEmail;
  addLateSent: AddLateSent;
}

/** @throws AppError EMAIL_NOT_FOUND, or CONFLICT if a campaign would have to retry the email */
export async function checkResolution(
  database: Database,
  { listEventsOfEmail }: ResolutionDependencies,
  projectId: string,
  id: string,
  said: ResolutionRequest,
): Promise<Checked<ResolutionRequest>> {
  const { campaignId } = await getEmail(database, projectId, id, listEventsOfEmail);
  if (said.as === "retry" && campaignId !== null)
    throw new AppError(
      "CONFLICT",
      withValues(
        "The email belongs to a campaign. Send it again with POST /campaigns/{campaignId}/resolve and its id in ids.",
        { campaignId },
      ),
    );
  return asChecked(said);
}

/**
 * Resolves one email in doubt and returns it. Repeating the latest decision changes nothing.
 * @throws AppError CONFLICT if the email is not in doubt
 */
export async function resolveEmail(
  tx: Tx,
  { listEventsOfEmail, addLateSent }: ResolutionDependencies,
  projectId: string,
  id: string,
  said: Checked<ResolutionRequest>,
) {
  const resolved = await resolveEmails(tx, { projectId, campaignId: null, ids: [id] }, said, addLateSent);
  const email = await getEmail(tx, projectId, id, listEventsOfEmail);
  if (resolved > 0) return email;
  const last = (await listResolutions(tx, projectId, id)).at(-1)?.resolvedAs;
  if (last === said.as) return email;
  throw new AppError(
    "CONFLICT",
    asMessage(
      email.status === "UNCONFIRMED"
        ? "The email's contact was deleted, so it can't be sent again. Resolve it as sent or as failed."
        : withValues("The email is {status}. Only an UNCONFIRMED email can be resolved.", {
            status: email.status,
          }),
    ),
  );
}
