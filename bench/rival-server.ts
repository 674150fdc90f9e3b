// The servers to compare with, each as a process: the same HTTP stack and validation, but without batches or without a database.
import type { AddressInfo } from "node:net";
import type pg from "pg";
import * as contract from "@postloft/contract/v1.ts";
import { createDatabase, createPool } from "../server/src/platform/database/database.ts";
import { createHttp } from "../server/src/platform/http/http.ts";
import { ok, route, type Route } from "../server/src/platform/http/route.ts";
import { createLog } from "../server/src/platform/log.ts";
import { createSealer } from "../server/src/platform/crypto.ts";
import { createMetrics } from "../server/src/platform/metrics.ts";
import { createRateLimiter } from "../server/src/platform/http/rate-limit.ts";
import { newId } from "../server/src/platform/ids.ts";
import type { PresentedKey } from "../server/src/platform/http/caller.ts";
import { createKeyFinder } from "../server/src/projects/keys.ts";
import { askUnprepared, askPrepared, naiveSend, naiveTrack, type Ask } from "./naive-endpoints.ts";

export interface RivalSpec {
  /** Null for no database and one key in memory. */
  connection: pg.PoolConfig | null;
  key: string;
  /** Whether statements are prepared. */
  prepared: boolean;
}

const POOL_SIZE = 16;

function naiveRoutes(pool: pg.Pool, ask: Ask): Route[] {
  return [
    route(contract.track, async ({ projectId, body }) => ok(await naiveTrack(pool, ask, projectId, body))),
    route(contract.send, async ({ projectId, body }) => ok(await naiveSend(pool, ask, projectId, body))),
  ];
}

function emptyRoutes(): Route[] {
  return [
    route(contract.track, async () =>
      ok({ contact: newId(), event: newId(), timestamp: new Date().toISOString() }),
    ),
    route(contract.send, async ({ body }) =>
      ok({
        emails: body.to.map(({ address }) => ({ contact: { id: newId(), email: address }, email: newId() })),
        timestamp: new Date().toISOString(),
      }),
    ),
  ];
}

async function serve({ connection, key, prepared }: RivalSpec): Promise<number> {
  const log = createLog({ level: "warn" });
  const pool = createPool({ connection: connection ?? {}, maxConnections: POOL_SIZE, log });
  const database = createDatabase(pool);
  const known: PresentedKey = {
    hash: Buffer.alloc(32),
    projectId: newId(),
    kind: "secret",
    disabled: false,
  };
  const findKey =
    connection === null ? async (input: string) => (input === key ? known : null) : createKeyFinder(database);
  const app = await createHttp(
    {
      database,
      sealer: createSealer("a secret for tests"),
      credentials: { findKey, findSession: async () => null, findMembership: async () => null },
      rateLimiter: createRateLimiter(database),
      requestsPerMinute: 0,
      trustedProxies: [],
      sessionCookie: "session",
      origin: () => null,
      log,
      metrics: createMetrics(),
    },
    connection === null ? emptyRoutes() : naiveRoutes(pool, prepared ? askPrepared : askUnprepared),
  );
  await app.listen({ port: 0, host: "127.0.0.1" });
  return (app.server.address() as AddressInfo).port;
}

process.once("disconnect", () => process.exit(0));
process.once("message", (spec) => void serve(spec as RivalSpec).then((port) => process.send?.({ port })));
