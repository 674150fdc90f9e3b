// Names the reason why the emails of a queue wait. Pure.
import type { QueueReason } from "@postloft/contract/installation.ts";
import type { WaitingRow } from "./waiting-queries.ts";

/** The state of everything that sends. */
export interface Sending {
  /** Whether a process with the role `worker` is alive. */
  hasProcess: boolean;
  /** Whether every transport is out of service. */
  isOut: boolean;
}

type Queue = Pick<
  WaitingRow,
  "isDisabled" | "isOpen" | "sendingRate" | "campaignState" | "due" | "held" | "isDeferred" | "isRetry"
>;

/** Returns the first reason that applies, or null if the emails are being sent. */
export function reasonOf(queue: Queue, { hasProcess, isOut }: Sending): QueueReason | null {
  if (queue.isDisabled) return "PROJECT_DISABLED";
  if (!queue.isOpen) return "PROJECT_CLOSED";
  if (queue.campaignState === "PAUSED") return "CAMPAIGN_PAUSED";
  if (queue.campaignState === "CLOSED") return "CAMPAIGN_CLOSED";
  if (queue.due === 0 && queue.isRetry) return isOut ? "TRANSPORT_OUTAGE" : "RETRY";
  if (queue.due === 0) return queue.held ? "HELD" : queue.isDeferred ? "DOMAIN_THROTTLED" : "LATER";
  if (!hasProcess) return "NO_PROCESS";
  if (isOut) return "TRANSPORT_OUTAGE";
  return queue.sendingRate === null ? null : "SENDING_RATE";
}
