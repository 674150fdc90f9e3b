// Names the channel of an email. Emails of a channel wait only for each other (docs/decisions/0154-channels.md).
import type { ClaimedRow } from "./claimed-queries.ts";

/** Returns the project if it has transports of its own, or null for the channel of all other projects. */
export function channelOf({ projectId, ownTransports }: Pick<ClaimedRow, "projectId" | "ownTransports">) {
  return ownTransports ? projectId : null;
}
