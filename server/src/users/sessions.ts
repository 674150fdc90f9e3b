// Sessions: a signed cookie that names a row. The row is the session: deleting it logs out everywhere, at once.
// Before it: users.ts knows who. After it: platform/http-caller.ts asks on every request.
import type { KeyObject } from "node:crypto";
import { SignJWT, jwtVerify } from "jose";
import { nowMs } from "../platform/clock.ts";
import type { Database, Tx } from "../platform/database.ts";
import { deriveKey } from "../platform/crypto.ts";
import { isId, newId } from "../platform/ids.ts";
import {
  deleteExpiredSessions,
  deleteSession,
  findLiveSession,
  insertSession,
  noteSessionUse,
} from "./queries.ts";

const LIFETIME_SECONDS = 7 * 24 * 3600;
const ALGORITHM = "HS256";
const AUDIENCE = "postloft-session";
const MAX_TOKEN_LENGTH = 1_000;
const MAX_AGENT_LENGTH = 500;
/** A use is noted so rarely: every request of a session would else write. */
const USE_NOTED_EVERY_SECONDS = 300;

/** Where somebody logs in, shown to them later. */
export interface SessionPlace {
  ip: string | undefined;
  headers: { "user-agent"?: string | undefined };
}

export interface Sessions {
  /** The name of the cookie. */
  readonly cookie: string;
  /** Starts a session and returns the value of its Set-Cookie header. */
  start(tx: Tx, userId: string, place: SessionPlace): Promise<string>;
  /** Who the cookie stands for, or null when it is forged, expired or logged out. */
  find(token: string): Promise<{ userId: string; sessionId: string } | null>;
  /** Ends a session and returns the Set-Cookie header that clears it. */
  end(tx: Tx, sessionId: string): Promise<string>;
  sweep(): Promise<void>;
}

/** `secure`: the public address is https, so the cookie must never travel without it. */
export function createSessions(options: {
  database: Database;
  applicationSecret: string;
  secure: boolean;
}): Sessions {
  const { database, secure } = options;
  const key = deriveKey(options.applicationSecret, "session");
  const cookie = secure ? "__Host-postloft_session" : "postloft_session";
  const attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`;
  return {
    cookie,
    async start(tx, userId, { ip, headers }) {
      const id = newId();
      const expiresAt = new Date(nowMs() + LIFETIME_SECONDS * 1000);
      await insertSession(tx, {
        id,
        userId,
        expiresAt,
        address: ip ?? null,
        userAgent: headers["user-agent"]?.slice(0, MAX_AGENT_LENGTH) ?? null,
      });
      const token = await new SignJWT({ sid: id })
        .setProtectedHeader({ alg: ALGORITHM })
        .setSubject(userId)
        .setAudience(AUDIENCE)
        .setIssuedAt()
        .setExpirationTime(expiresAt)
        .sign(key);
      return `${cookie}=${token}; Max-Age=${LIFETIME_SECONDS}; ${attributes}`;
    },
    async find(token) {
      const sessionId = await readToken(token, key);
      const row = sessionId === null ? undefined : await findLiveSession(database, sessionId);
      if (row !== undefined && isUseToBeNoted(row.lastUsedAt))
        await noteSessionUse(database, row.id, USE_NOTED_EVERY_SECONDS);
      return row === undefined ? null : { userId: row.userId, sessionId: row.id };
    },
    async end(tx, sessionId) {
      await deleteSession(tx, sessionId);
      return `${cookie}=; Max-Age=0; ${attributes}`;
    },
    sweep: () => deleteExpiredSessions(database),
  };
}

const isUseToBeNoted = (lastUsedAt: Date | null) =>
  lastUsedAt === null || nowMs() - lastUsedAt.getTime() > USE_NOTED_EVERY_SECONDS * 1_000;

/** The session a token names; null for anything that we did not sign, or that is over. */
async function readToken(token: string, key: KeyObject): Promise<string | null> {
  if (token.length > MAX_TOKEN_LENGTH) return null;
  // jose throws for every kind of bad token: for us they are all the same answer.
  const verified = await jwtVerify(token, key, {
    algorithms: [ALGORITHM],
    audience: AUDIENCE,
    requiredClaims: ["exp", "sub"],
  }).catch(() => null);
  const sessionId: unknown = verified?.payload["sid"];
  return typeof sessionId === "string" && isId(sessionId) ? sessionId : null;
}
