// Builds the tracking endpoint once per process that serves HTTP.
import type { Database } from "../../platform/database/database.ts";
import type { Log } from "../../platform/log.ts";
import { createActivityQueue, type ActivityQueue } from "./activity.ts";
import { createLinkFollower, type Followed } from "./follow-links.ts";
import type { MailTokens } from "./mail-tokens.ts";

export interface TrackingEndpoint {
  tokens: MailTokens;
  follow: (token: string, u: unknown) => Promise<Followed>;
  book: ActivityQueue;
}

export function createTrackingEndpoint(parts: {
  database: Database;
  tokens: MailTokens;
  log: Log;
}): TrackingEndpoint {
  return { tokens: parts.tokens, follow: createLinkFollower(parts), book: createActivityQueue(parts) };
}
