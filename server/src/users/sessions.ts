// Sessions: a signed cookie with the id of a row. Deleting the row signs out immediately everywhere.
import type { KeyObject } from "node:crypto";
import { SignJWT, jwtVerify } from "jose";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { now, nowMs } from "../platform/clock.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import { createSealer, deriveKey } from "../platform/crypto.ts";
import { isId, newId } from "../platform/ids.ts";
import { mailLanguageOf } from "../emails/platform-email/mail-language.ts";
import { enqueuePlatformEmails } from "../emails/platform-email/platform-email.ts";
import { accountMail } from "./account-mails.ts";
import { createKnownDevices } from "./known-devices.ts";
import { placeOf, type SessionPlace } from "./place.ts";
import {
  deleteEndedSessions,
  deleteSession,
  findLiveSession,
  findSessionOwner,
  insertSession,
  recordSessionUse,
} from "./queries.ts";

const LIFETIME_SECONDS = LIMITS.sessionDays.value * 24 * 3600;
const ALGORITHM = "HS256";
const AUDIENCE = "postloft-session";
const MAX_TOKEN_LENGTH = 1_000;
const MAX_AGENT_LENGTH = 500;
/** Records a use at most this often, because otherwise every request would write. */
const USE_NOTED_EVERY_SECONDS = 300;

export interface Sessions {
  /** The name of the cookie. */
  readonly cookie: string;
  /** Starts a session and returns its Set-Cookie headers. Notifies the account's owner about a sign-in on a new device. */
  start(tx: Tx, userId: string, place: SessionPlace): Promise<string[]>;
  /** Returns whether this browser has signed in to the account before. */
  isKnownDevice(headers: SessionPlace["headers"], userId: string): boolean;
  /** Returns the session of a cookie, or null if it is forged, expired or signed out. */
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
  const devices = createKnownDevices(createSealer(options.applicationSecret), secure);
  const attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`;
  return {
    cookie,
    async start(tx, userId, place) {
      const { ip, headers } = place;
      const known = devices.read(headers);
      if (!known.includes(userId)) await reportNewDevice(tx, userId, place);
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
      return [`${cookie}=${token}; Max-Age=${LIFETIME_SECONDS}; ${attributes}`, devices.write(known, userId)];
    },
    isKnownDevice: (headers, userId) => devices.read(headers).includes(userId),
    async find(token) {
      const sessionId = await readToken(token, key);
      const row = sessionId === null ? undefined : await findLiveSession(database, sessionId);
      if (row !== undefined && isUseToBeNoted(row.lastUsedAt))
        await recordSessionUse(database, row.id, USE_NOTED_EVERY_SECONDS);
      return row === undefined ? null : { userId: row.userId, sessionId: row.id };
    },
    async end(tx, sessionId) {
      await deleteSession(tx, sessionId);
      return `${cookie}=; Max-Age=0; ${attributes}`;
    },
    sweep: () => deleteEndedSessions(database),
  };
}

/** Skips the first session of a new account. */
async function reportNewDevice(tx: Tx, userId: string, place: SessionPlace): Promise<void> {
  const owner = await findSessionOwner(tx, userId);
  if (owner === undefined || owner.isNew) return;
  const { email } = owner;
  const reported = { email, language: mailLanguageOf(owner.language) };
  const mail = accountMail(reported, (texts, { instant }) =>
    texts.newSignIn({ email, place: placeOf(place), at: instant(now()) }),
  );
  await enqueuePlatformEmails(tx, [mail]);
}

const isUseToBeNoted = (lastUsedAt: Date | null) =>
  lastUsedAt === null || nowMs() - lastUsedAt.getTime() > USE_NOTED_EVERY_SECONDS * 1_000;

/** Returns the session id in a token. Null if we did not sign it or it has expired. */
async function readToken(token: string, key: KeyObject): Promise<string | null> {
  if (token.length > MAX_TOKEN_LENGTH) return null;
  // jose throws for every kind of bad token, which all mean the same here.
  const verified = await jwtVerify(token, key, {
    algorithms: [ALGORITHM],
    audience: AUDIENCE,
    requiredClaims: ["exp", "sub"],
  }).catch(() => null);
  const sessionId: unknown = verified?.payload["sid"];
  return typeof sessionId === "string" && isId(sessionId) ? sessionId : null;
}
