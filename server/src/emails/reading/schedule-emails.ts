// Changes the time of a scheduled email, and cancels emails that wait.
import { asMessage, withValues } from "@postloft/contract/translation.ts";
import { recordedReason } from "@postloft/contract/recorded-reasons.ts";
import type { Tx } from "../../platform/database/database.ts";
import { AppError } from "../../platform/app-error.ts";
import { readScheduledFor } from "../rows/scheduled-for.ts";
import type { ListEventsOfEmail } from "./email-timeline.ts";
import { getEmail } from "./read-emails.ts";
import { cancelQueued, updateSchedule } from "./schedule-queries.ts";

const CANCELLED = recordedReason("emailCancelled");

/** Returns the email with its new time. @throws AppError VALIDATION_ERROR, EMAIL_NOT_FOUND, or CONFLICT if it no longer waits */
export async function rescheduleEmail(
  tx: Tx,
  listEventsOfEmail: ListEventsOfEmail,
  { projectId, id, scheduledFor }: { projectId: string; id: string; scheduledFor: string },
) {
  const email = await getEmail(tx, projectId, id, listEventsOfEmail);
  if (await updateSchedule(tx, projectId, email.id, readScheduledFor(scheduledFor)))
    return getEmail(tx, projectId, id, listEventsOfEmail);
  const { status } = email;
  throw new AppError(
    "CONFLICT",
    withValues("The email is {status}. Only a scheduled email that was not tried yet can be changed.", {
      status,
    }),
  );
}

/**
 * Cancels an email that waits, and returns it. Repeating the call changes nothing.
 * @throws AppError EMAIL_NOT_FOUND, or CONFLICT if it is being sent, has ended, or belongs to a campaign
 */
export async function cancelEmail(
  tx: Tx,
  listEventsOfEmail: ListEventsOfEmail,
  { projectId, id }: { projectId: string; id: string },
) {
  const before = await getEmail(tx, projectId, id, listEventsOfEmail);
  if (before.campaignId !== null)
    throw new AppError(
      "CONFLICT",
      asMessage("The email belongs to a campaign. Cancel or pause the campaign instead."),
    );
  await cancelQueued(tx, projectId, before.id, CANCELLED);
  const email = await getEmail(tx, projectId, id, listEventsOfEmail);
  if (email.reason === CANCELLED && (email.status === "SKIPPED" || email.status === "UNCONFIRMED"))
    return { ...email, neverSent: email.status === "SKIPPED" };
  const isBusy = email.status === "CLAIMED" || email.status === "SENDING";
  throw new AppError(
    "CONFLICT",
    isBusy
      ? asMessage("The email is being sent now, so it may leave. Read its status in a few seconds.")
      : withValues("The email is {status}. Only a QUEUED email can be cancelled.", { status: email.status }),
  );
}
