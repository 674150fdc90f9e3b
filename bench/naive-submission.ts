// Runs a plain SMTP server in its own process, which stores each message in one transaction, or nothing at all.
import type { AddressInfo } from "node:net";
import type pg from "pg";
import { SMTPServer } from "smtp-server";
import { createDatabase, createPool } from "../server/src/platform/database/database.ts";
import { createLog } from "../server/src/platform/log.ts";
import { createKeyFinder } from "../server/src/projects/keys.ts";
import { askUnprepared, naiveSend } from "./naive-endpoints.ts";

const POOL_SIZE = 16;

interface Store {
  findProject(key: string): Promise<string | undefined>;
  store(projectId: string, addresses: readonly string[], message: Buffer): Promise<void>;
}

/** Accepts every key and discards every message. */
const NOTHING: Store = { findProject: async () => "any", store: async () => undefined };

function storeIn(connection: pg.PoolConfig): Store {
  const pool = createPool({ connection, maxConnections: POOL_SIZE, log: createLog({ level: "warn" }) });
  const findKey = createKeyFinder(createDatabase(pool));
  return {
    findProject: async (key) => (await findKey(key))?.projectId,
    store: async (projectId, addresses, message) => {
      await naiveSend(pool, askUnprepared, projectId, {
        to: addresses.map((address) => ({ address, name: null })),
        from: { address: "shop@sandbox.localhost", name: null },
        subject: "Your order",
        body: message.toString(),
      });
    },
  };
}

async function serve({ findProject, store }: Store): Promise<number> {
  async function accept(stream: AsyncIterable<Buffer>, projectId: string, addresses: readonly string[]) {
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk);
    await store(projectId, addresses, Buffer.concat(chunks));
  }
  const server = new SMTPServer({
    disabledCommands: ["STARTTLS"],
    disableReverseLookup: true,
    logger: false,
    onAuth({ password }, _session, done) {
      void callBack(async () => ({ user: await findProject(password ?? "") }), done);
    },
    onData(stream, { user, envelope }, done) {
      const addresses = envelope.rcptTo.map(({ address }) => address);
      void callBack(() => accept(stream as AsyncIterable<Buffer>, String(user), addresses), done);
    },
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  return (server.server.address() as AddressInfo).port;
}

async function callBack<Result>(
  work: () => Promise<Result>,
  done: (error: Error | null, result?: never) => void,
): Promise<void> {
  let result: Result;
  try {
    result = await work();
  } catch (error) {
    done(error as Error);
    return;
  }
  done(null, result as never);
}

process.once("disconnect", () => process.exit(0));
process.once("message", ({ connection }: { connection: pg.PoolConfig | null }) => {
  void serve(connection === null ? NOTHING : storeIn(connection)).then((port) => process.send?.({ port }));
});
