// Builds the tracking endpoint once per process that serves HTTP.
import type { Database } from "../../platform/database/database.ts";
import type { Log } from "../../platform/log.ts";
import { createActivityBook, type ActivityBook } from "./activity.ts";
import { createLinkFollower, type Followed } from "./follow-links.ts";
import type { MailTokens } from "./mail-tokens.ts";

export interface TrackingDoor {
  tokens: MailTokens;
  follow: (token: string, u: unknown) => Promise<Followed>;
  book: ActivityBook;
}

export function createTrackingDoor(parts: {
  database: Database;
  tokens: MailTokens;
  log: Log;
}): TrackingDoor {
  return { tokens: parts.tokens, follow: createLinkFollower(parts), book: createActivityBook(parts) };
}
