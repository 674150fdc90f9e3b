// Claims the names of messages that arrive together in one statement, because a commit for each would cost as much as storing its email.
import { createGroupCommit } from "../platform/background/group-commit.ts";
import type { Database } from "../platform/database/database.ts";
import { claimKeys, type Claim, type KeyedRequest } from "../platform/http/idempotency.ts";

/** Claims a message, or returns the response to its first submission. @throws AppError IDEMPOTENCY_KEY_REUSED while that is running */
export type ClaimMessage = (request: KeyedRequest) => Promise<Claim>;

const MAX_BATCH = 50;

export function createMessageClaims(database: Database): ClaimMessage {
  const { submit } = createGroupCommit<KeyedRequest, Claim>({
    shards: 1,
    shardOf: () => 0,
    maxItems: MAX_BATCH,
    run: (requests) => claimAll(database, requests),
  });
  return submit;
}

/** Claims each name once. Repeats in the same batch are claimed afterwards, which fails while the first one is running. */
async function claimAll(
  database: Database,
  requests: readonly KeyedRequest[],
): Promise<Array<Claim | Error>> {
  const rounds: KeyedRequest[][] = [];
  const seen = new Map<string, number>();
  const places = requests.map((request) => {
    const name = `${request.projectId} ${request.key}`;
    const round = seen.get(name) ?? 0;
    seen.set(name, round + 1);
    const own = (rounds[round] ??= []);
    own.push(request);
    return [round, own.length - 1] as const;
  });
  const claims: Array<Array<Claim | Error>> = [];
  for (const round of rounds) claims.push(await claimKeys(database, round));
  return places.map(([round, at]) => claims[round]?.[at] ?? new Error("A message was not claimed."));
}
