// The sessions kept with one SMTP server: how many at once, whose turn it is, which are idle, and their end.
import { SmtpConnection } from "./smtp-connection.ts";
import type { Delivery } from "./smtp-delivery.ts";
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

/** Then it may have been repaired. */
const SINGLE_COMMANDS_MS = 6 * 60 * 60_000;

export const ENDING = "CONNECT: this process is ending";

/** Places are given first come first served; whoever has one may hold one session. Connects for the first message. */
export class SmtpPool {
  readonly #settings: PoolSettings;
  readonly #connections = new Set<SmtpConnection>();
  readonly #idle: IdleSession[] = [];
  readonly #waiting: ((hasPlace: boolean) => void)[] = [];
  #placesTaken = 0;
  #singleUntilMs = 0;
  #hasEnded = false;
  #onEmpty: (() => void) | undefined;
  #closing: Promise<void> | undefined;

  constructor(settings: PoolSettings) {
    this.#settings = settings;
  }

  /** Waits for a place. `false`: the pool has ended, and there is none. */
  async enter(): Promise<boolean> {
    if (this.#closing !== undefined) return false;
    if (this.#placesTaken >= this.#settings.maxConnections)
      return new Promise((resolve) => this.#waiting.push(resolve));
    this.#placesTaken += 1;
    return true;
  }

  /** An idle session, for whoever has a place. */
  takeIdle(): SmtpSession | undefined {
    for (let entry = this.#idle.pop(); entry !== undefined; entry = this.#idle.pop()) {
      clearTimeout(entry.timer);
      if (entry.session.connection.isUsable()) return entry.session;
      entry.session.connection.destroy("closed by the server while idle");
    }
    return undefined;
  }

  /** A new session, for whoever has a place. Throws `SmtpFailure`. */
  async open(): Promise<SmtpSession> {
    if (this.#hasEnded) throw new SmtpFailure("closed", ENDING);
    const { host, port } = this.#settings.server;
    const connection = new SmtpConnection(host, port, () => this.#connections.delete(connection));
    this.#connections.add(connection);
    try {
      return await openSession(connection, this.#settings);
    } catch (error) {
      connection.destroy("not opened");
      throw error;
    }
  }

  /** Whether commands may be sent in groups, where the server offers that. */
  mayPipeline(): boolean {
    return performance.now() >= this.#singleUntilMs;
  }

  /** The server loses commands that come in a group: for some hours it gets them one at a time. */
  stepDown(): void {
    this.#singleUntilMs = performance.now() + SINGLE_COMMANDS_MS;
  }

  /** Gives the place back, with the session used last. Returns at once; RSET and QUIT go on behind it. */
  leave(session: SmtpSession | undefined, state: Delivery["session"]): void {
    if (session === undefined) return this.#freePlace();
    void this.#putAway(session, state).finally(() => this.#freePlace());
  }

  /** Waits for all who entered or wait to enter (at most `closeMs`), then ends every session. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** A place is free only when its connection is, so that the server never sees more than `maxConnections`. */
  async #putAway(session: SmtpSession, state: Delivery["session"]): Promise<void> {
    const { timeouts, maxMessagesPerConnection } = this.#settings;
    if (state === "gone") return session.connection.destroy("of no more use");
    if (session.messageCount >= maxMessagesPerConnection) return quitSession(session, timeouts.quitMs);
    if (state === "needs-reset" && !(await resetSession(session, timeouts.resetMs)))
      return session.connection.destroy("not reset");
    this.#keepIdle(session);
  }

  #keepIdle(session: SmtpSession): void {
    const { idleMs, quitMs } = this.#settings.timeouts;
    const expire = (): void => {
      this.#idle.splice(this.#idle.indexOf(entry), 1);
      this.#placesTaken += 1; // there is one: idle sessions and places taken together are never more than allowed
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

  /** Until nobody has a place or waits for one, or the time is over. */
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
