// Pool of sessions with one SMTP server: limits them, queues messages, keeps idle sessions and closes them.
import { SmtpConnection } from "./smtp-connection.ts";
import type { Means } from "./smtp-delivery.ts";
import type { Delivery } from "./smtp-outcomes.ts";
import { SmtpFailure } from "./smtp-replies.ts";
import {
  openSession,
  quitSession,
  resetSession,
  type SessionSettings,
  type SmtpSession,
} from "./smtp-session.ts";

export interface PoolSettings extends SessionSettings {
  maxConnections: number;
  maxMessagesPerConnection: number;
}

interface IdleSession {
  session: SmtpSession;
  timer: NodeJS.Timeout;
}

/** After this time the server may have been fixed. */
const DISABLED_MS = 6 * 60 * 60_000;

export const ENDING = "CONNECT: this process is ending";

/** Grants places in order of request. Each place allows one session. Connects with the first message. */
export class SmtpPool {
  readonly #settings: PoolSettings;
  readonly #connections = new Set<SmtpConnection>();
  readonly #idle: IdleSession[] = [];
  readonly #waiting: ((hasPlace: boolean) => void)[] = [];
  #placesTaken = 0;
  #singleUntilMs = 0;
  #dataUntilMs = 0;
  #hasEnded = false;
  #onEmpty: (() => void) | undefined;
  #closing: Promise<void> | undefined;

  constructor(settings: PoolSettings) {
    this.#settings = settings;
  }

  /** Waits for a place. Returns false if the pool has ended. */
  async enter(): Promise<boolean> {
    if (this.#closing !== undefined) return false;
    if (this.#placesTaken >= this.#settings.maxConnections)
      return new Promise((resolve) => this.#waiting.push(resolve));
    this.#placesTaken += 1;
    return true;
  }

  /** Returns an idle session. The caller must have a place. */
  takeIdle(): SmtpSession | undefined {
    for (let entry = this.#idle.pop(); entry !== undefined; entry = this.#idle.pop()) {
      clearTimeout(entry.timer);
      if (entry.session.connection.isUsable()) return entry.session;
      entry.session.connection.destroy("closed by the server while idle");
    }
    return undefined;
  }

  /**
   * Opens a new session. The caller must have a place.
   * @throws SmtpFailure
   */
  async open(): Promise<SmtpSession> {
    if (this.#hasEnded) throw new SmtpFailure("closed", ENDING);
    const { server, lookup } = this.#settings;
    const onGone = (): void => void this.#connections.delete(connection);
    const connection: SmtpConnection = new SmtpConnection(server.host, server.port, onGone, lookup);
    this.#connections.add(connection);
    try {
      return await openSession(connection, this.#settings);
    } catch (error) {
      connection.destroy("not opened");
      throw error;
    }
  }

  /**
   * Closes a session and opens a new one in its place.
   * @throws SmtpFailure
   */
  replace(session: SmtpSession): Promise<SmtpSession> {
    session.connection.destroy("replaced by a fresh one");
    return this.open();
  }

  /** Returns the extensions that may be used if the server offers them. */
  means(): Means {
    const nowMs = performance.now();
    return { pipelining: nowMs >= this.#singleUntilMs, chunking: nowMs >= this.#dataUntilMs };
  }

  /** Disables pipelining for some hours because the server loses grouped commands. */
  disablePipelining(): void {
    this.#singleUntilMs = performance.now() + DISABLED_MS;
  }

  /** Disables BDAT for some hours because the server does not support it. */
  disableChunking(): void {
    this.#dataUntilMs = performance.now() + DISABLED_MS;
  }

  /** Returns the place with the last used session. Does not wait for RSET and QUIT, which run in the background. */
  leave(session: SmtpSession | undefined, state: Delivery["session"]): void {
    if (session === undefined) return this.#freePlace();
    void this.#putAway(session, state).finally(() => this.#freePlace());
  }

  /** Waits up to `closeMs` for all callers with a place or in the queue, then ends every session. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Frees the place only after its connection, so that the server never sees more than `maxConnections`. */
  async #putAway(session: SmtpSession, state: Delivery["session"]): Promise<void> {
    const { timeouts, maxMessagesPerConnection } = this.#settings;
    if (state === "gone") return session.connection.destroy("no longer usable");
    if (session.messageCount >= maxMessagesPerConnection) return quitSession(session, timeouts.quitMs);
    if (state === "needs-reset" && !(await resetSession(session, timeouts.resetMs)))
      return session.connection.destroy("not reset");
    this.#keepIdle(session);
  }

  #keepIdle(session: SmtpSession): void {
    const { idleMs, quitMs } = this.#settings.timeouts;
    session.idleSinceMs = performance.now();
    const expire = (): void => {
      this.#idle.splice(this.#idle.indexOf(entry), 1);
      this.#placesTaken += 1; // always available: idle sessions and taken places together never exceed the limit
      void quitSession(session, quitMs).finally(() => this.#freePlace());
    };
    const entry: IdleSession = { session, timer: setTimeout(expire, idleMs) };
    this.#idle.push(entry);
  }

  #freePlace(): void {
    const next = this.#waiting.shift();
    if (next !== undefined) return next(true);
    this.#placesTaken -= 1;
    if (this.#placesTaken === 0) this.#onEmpty?.();
  }

  async #close(): Promise<void> {
    await this.#emptied();
    const idle = this.#idle.splice(0);
    for (const { timer } of idle) clearTimeout(timer);
    await Promise.all(idle.map(({ session }) => quitSession(session, this.#settings.timeouts.quitMs)));
    this.#end();
  }

  /** Waits until no place is taken or requested, or until the deadline. */
  #emptied(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#placesTaken === 0) return resolve();
      const onDeadline = (): void => {
        this.#end();
        resolve();
      };
      const timer = setTimeout(onDeadline, this.#settings.timeouts.closeMs);
      this.#onEmpty = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #end(): void {
    this.#hasEnded = true;
    for (const next of this.#waiting.splice(0)) next(false);
    for (const connection of this.#connections) connection.destroy(ENDING);
  }
}
