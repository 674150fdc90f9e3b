// Decides whether opens and clicks of an email are tracked. Pure.
import type { TrackingMode } from "@postloft/contract/projects.ts";
import type { ListKind } from "../../message/message-headers.ts";

export interface TrackedMail {
  /** The content's setting. False means that the sender of the email does not want tracking. */
  tracked: boolean;
  listKind: ListKind | null;
  isOfCampaign: boolean;
}

/**
 * Returns whether an email is tracked. MARKETING_ONLY covers bulk mail and campaigns. Nothing enables tracking in a project that has
 * disabled it.
 */
export function isTracked(mode: TrackingMode, mail: TrackedMail): boolean {
  if (!mail.tracked || mode === "DISABLED") return false;
  return mode === "ENABLED" || mail.listKind !== null || mail.isOfCampaign;
}
