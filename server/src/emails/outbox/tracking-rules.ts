// Whether opens and clicks of a mail are looked at: the project says for which mails, the sender of a mail may say no. Pure.
import type { TrackingMode } from "@postloft/contract/projects.ts";
import type { ListKind } from "../../message/message-headers.ts";

export interface TrackedMail {
  /** What its content says: false is the wish of whoever sent it. */
  tracked: boolean;
  listKind: ListKind | null;
  isOfCampaign: boolean;
}

/** MARKETING_ONLY: mail to lists and of campaigns. Nothing turns tracking on where the project has it off. */
export function isTracked(mode: TrackingMode, mail: TrackedMail): boolean {
  if (!mail.tracked || mode === "DISABLED") return false;
  return mode === "ENABLED" || mail.listKind !== null || mail.isOfCampaign;
}
