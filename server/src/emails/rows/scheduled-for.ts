// Checks the time at which an email shall be sent.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { withValues } from "@postloft/contract/translation.ts";
import { nowMs } from "../../platform/clock.ts";
import { invalidField } from "../../platform/app-error.ts";

const DAY_MS = 86_400_000;

/**
 * Returns the time that a caller sent.
 * @throws AppError VALIDATION_ERROR unless it is in the future and within the limit
 */
export function readScheduledFor(text: string): Date {
  const at = new Date(text);
  const waitMs = at.getTime() - nowMs();
  const most = LIMITS.scheduledDays.value;
  if (waitMs <= 0) throw invalidField("scheduledFor", "invalid_date", "Must be in the future.");
  if (waitMs > most * DAY_MS)
    throw invalidField("scheduledFor", "too_big", withValues("Must be within {most} days.", { most }));
  return at;
}
