// Resolves tracked links. Signed targets need no database; others are looked up in batches.
import { asUnavailable, type Database } from "../../platform/database/database.ts";
import { createGroupCommit } from "../../platform/background/group-commit.ts";
import { AppError } from "../../platform/app-error.ts";
import { locationOf } from "../../rendering/link-target.ts";
import type { MailLink, MailTokens } from "./mail-tokens.ts";
import { findLinkTargets } from "./queries.ts";

export type Followed =
  | { kind: "found"; location: string; link: MailLink; target: string }
  /** Invalid or expired; we can't tell which. */
  | { kind: "unknown" }
  /** The database is unavailable. */
  | { kind: "unavailable" };

const LANES = 2;
const MAX_BATCH = 500;

/** Returns a function that resolves a link by its token and the `u` of its query. */
export function createLinkFollower({
  database,
  tokens,
}: {
  database: Database;
  tokens: MailTokens;
}): (token: string, u: unknown) => Promise<Followed> {
  let lane = 0;
  const lookUps = createGroupCommit<MailLink, string | null>({
    shards: LANES,
    shardOf: () => lane++,
    maxItems: MAX_BATCH,
    run: (links) => findLinkTargets(database, links),
  });
  return async (token, u) => {
    const link = tokens.readLink(token, u);
    if (link === null) return { kind: "unknown" };
    let target = link.signedTarget;
    try {
      target ??= await lookUps.submit(link);
    } catch (error) {
      if (asUnavailable(error) instanceof AppError) return { kind: "unavailable" };
      throw error;
    }
    const location = target === null ? null : locationOf(target);
    if (target === null || location === null) return { kind: "unknown" };
    return { kind: "found", location, link, target };
  };
}
