// Manages the two API keys of a project, which are found by hash and sealed so that admins can see them again.
import { randomText, sha256, type Sealer } from "../platform/crypto.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import { createGroupCommit } from "../platform/background/group-commit.ts";
import type { PresentedKey } from "../platform/http/caller.ts";
import { createScopedKeyFinder, SCOPED_PREFIX } from "./scoped-keys/find-scoped-keys.ts";
import { clearKnownSecretKey, deleteKeys, findKeysByHash, insertKeys } from "./queries.ts";

const SECRET_LENGTH = 48;
const MAX_LOOKUPS = 500;

export interface KeyPair {
  public: string;
  secret: string;
}

export function makeKeyPair(): KeyPair {
  return { public: `pk_${randomText(SECRET_LENGTH)}`, secret: `sk_${randomText(SECRET_LENGTH)}` };
}

/**
 * Replaces the keys of a project. With the commit the old ones are invalid in every process, and only the role decides who has seen the
 * secret key.
 */
export async function replaceKeys(tx: Tx, sealer: Sealer, projectId: string, pair: KeyPair): Promise<void> {
  await deleteKeys(tx, projectId);
  await clearKnownSecretKey(tx, projectId);
  await insertKeys(tx, [
    {
      hash: sha256(pair.public),
      projectId,
      kind: "public",
      sealed: sealer.seal(pair.public, projectId),
    },
    {
      hash: sha256(pair.secret),
      projectId,
      kind: "secret",
      sealed: sealer.seal(pair.secret, projectId),
    },
  ]);
}

/**
 * Looks up keys in the database on every request, so that regenerated keys are immediately invalid everywhere. Concurrent requests share
 * one statement (docs/decisions/0003-keys-are-never-cached.md).
 */
export function createKeyFinder(database: Database): (key: string) => Promise<PresentedKey | null> {
  const findScoped = createScopedKeyFinder(database);
  const lookups = createGroupCommit<string, PresentedKey | null>({
    shards: 2,
    shardOf: (key) => key.charCodeAt(key.length - 1),
    maxItems: MAX_LOOKUPS,
    async run(keys) {
      const hashes = new Map([...new Set(keys)].map((key) => [key, sha256(key)]));
      const [rows, scopedRows] = await Promise.all([
        findKeysByHash(database, [...hashes.values()]),
        findScoped([...hashes].flatMap(([key, hash]) => (key.startsWith(SCOPED_PREFIX) ? [hash] : []))),
      ]);
      const found = new Map<string, PresentedKey>();
      for (const key of rows) found.set(key.hash.toString("hex"), key);
      for (const { hash, projectId, disabled, id, role, scopes, networks, isExpired } of scopedRows)
        found.set(hash.toString("hex"), {
          hash,
          projectId,
          kind: "secret",
          disabled,
          scoped: { id, role, scopes, networks, isExpired },
        });
      return keys.map((key) => found.get(hashes.get(key)?.toString("hex") ?? "") ?? null);
    },
  });
  return (key) => lookups.submit(key);
}
