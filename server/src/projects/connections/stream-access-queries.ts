// Finds open streams of callers that lost access, with one query for all streams of a process.
import { sql } from "kysely";
import type { Database } from "../../platform/database/database.ts";
import type { StreamCaller } from "./stream-caller.ts";

/** Returns the positions of the callers whose session, membership or key has ended. */
export async function findRevoked(database: Database, callers: readonly StreamCaller[]): Promise<number[]> {
  const { rows } = await sql<{ at: number }>`
    select c.at
    from unnest(
      ${callers.map((_, at) => at)}::integer[],
      ${callers.map(({ projectId }) => projectId)}::uuid[],
      ${callers.map(({ userId }) => userId)}::uuid[],
      ${callers.map(({ sessionId }) => sessionId)}::uuid[],
      ${callers.map(({ keyHash }) => keyHash)}::bytea[]
    ) as c (at, project_id, user_id, session_id, key_hash)
    left join sessions s on s.id = c.session_id and s.user_id = c.user_id and s.expires_at > now()
    left join memberships m on m.project_id = c.project_id and m.user_id = c.user_id
    left join api_keys a on a.project_id = c.project_id and a.hash = c.key_hash
    left join scoped_keys k
      on k.project_id = c.project_id and k.hash = c.key_hash and coalesce(k.expires_at > now(), true)
    where (c.key_hash is null and (s.id is null or m.user_id is null))
      or (c.key_hash is not null and a.hash is null and k.id is null)`.execute(database);
  return rows.map(({ at }) => at);
}
