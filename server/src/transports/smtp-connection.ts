// One TCP or TLS connection to an SMTP server: commands out, replies in, each wait with a bound. Knows no SMTP verb.
import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls, TLSSocket, type ConnectionOptions } from "node:tls";
import { createReplyReader, SmtpFailure, type SmtpReply } from "./smtp-replies.ts";

interface Wait {
  phase: string;
  timer: NodeJS.Timeout;
  reject: (failure: SmtpFailure) => void;
}

/** Replies beyond those asked for: a server may say 421 at any time (RFC 5321 §3.8), more is noise. */
const MAX_UNASKED_REPLIES = 1;
const LOOPBACK_ADDRESS = /^(?:::ffff:)?127\.|^::1$/;
const LINE_BREAK = /[\r\n\0]/;

/**
 * One wait at a time. A wait that ends in failure throws `SmtpFailure` naming its phase, and the connection is gone by
 * then; replies that arrived before are still there to read.
 */
export class SmtpConnection {
  readonly #tcp: Socket;
  readonly #onGone: () => void;
  readonly #unread: SmtpReply[] = [];
  #stream: Socket;
  #reader = createReplyReader();
  /** Replies asked for and not read yet; the first is the greeting. */
  #askedCount = 1;
  #isEncrypted = false;
  #failure: SmtpFailure | undefined;
  #wait: Wait | undefined;
  #onReply: ((reply: SmtpReply) => void) | undefined;

  /** Begins to connect. `onGone` is called once, when the connection is no more. */
  constructor(host: string, port: number, onGone: () => void) {
    this.#onGone = onGone;
    this.#tcp = connectTcp({ host, port, noDelay: true });
    this.#stream = this.#tcp;
    this.#listen(this.#tcp);
  }

  /** Waits for the TCP connection. */
  connected(phase: string, timeoutMs: number): Promise<void> {
    return this.#waitFor(phase, timeoutMs, (done) => {
      if (this.#tcp.connecting) this.#tcp.once("connect", () => done(undefined));
      else done(undefined);
    });
  }

  /** Turns to TLS. Refuses when anything was said in clear after the last reply (RFC 3207 §6, CVE-2011-0411). */
  async encrypt(phase: string, timeoutMs: number, options: ConnectionOptions): Promise<void> {
    if (this.#unread.length > 0 || this.#reader.isWithinReply())
      this.#fail(new SmtpFailure("malformed", "the server spoke in clear after agreeing to TLS"));
    await this.#waitFor<undefined>(phase, timeoutMs, (done) => {
      this.#tcp.removeAllListeners("data");
      this.#reader = createReplyReader();
      const secured = connectTls({ ...options, socket: this.#tcp });
      this.#stream = secured;
      this.#listen(secured);
      secured.once("secureConnect", () => done(undefined));
    });
    this.#isEncrypted = true;
  }

  /** Writes command lines as one group (RFC 2920); each will be answered by one reply. */
  write(lines: readonly string[]): void {
    // Never true of what reaches here: the last wall against a second command hidden in an argument.
    if (lines.some((line) => LINE_BREAK.test(line))) throw new Error("a line break inside an SMTP command");
    this.#askedCount += lines.length;
    if (this.#failure === undefined) this.#stream.write(`${lines.join("\r\n")}\r\n`);
  }

  /** Writes part of a message and waits until the system has taken it. */
  writeBlock(block: Buffer, phase: string, timeoutMs: number): Promise<void> {
    return this.#waitFor(phase, timeoutMs, (done) => {
      // A failed write also raises "error", which ends the wait with its reason.
      this.#stream.write(block, (error) => (error ? undefined : done(undefined)));
    });
  }

  /** The next reply. */
  async readReply(phase: string, timeoutMs: number): Promise<SmtpReply> {
    const reply =
      this.#unread.shift() ??
      (await this.#waitFor<SmtpReply>(phase, timeoutMs, (done) => {
        this.#onReply = done;
      }));
    this.#askedCount -= 1;
    return reply;
  }

  /** How many replies were asked for and not read. */
  outstandingReplies(): number {
    return this.#askedCount;
  }

  /** A reply that nothing asked for: from a server about to close, or one that is out of step. */
  takeUnaskedReply(): SmtpReply | undefined {
    return this.#askedCount === 0 ? this.#unread.shift() : undefined;
  }

  /** Alive and in step: a command may be written. */
  isUsable(): boolean {
    const isInStep = this.#askedCount === 0 && this.#unread.length === 0 && !this.#reader.isWithinReply();
    return this.#failure === undefined && isInStep;
  }

  isEncrypted(): boolean {
    return this.#isEncrypted;
  }

  /** Such as `TLSv1.3`; null in clear. */
  tlsVersion(): string | null {
    return this.#stream instanceof TLSSocket ? this.#stream.getProtocol() : null;
  }

  /** Whether the peer is on this machine, by the address connected to. */
  isLoopback(): boolean {
    return LOOPBACK_ADDRESS.test(this.#tcp.remoteAddress ?? "");
  }

  destroy(reason: string): void {
    this.#fail(new SmtpFailure("closed", reason));
  }

  #listen(stream: Socket): void {
    stream.on("data", (chunk) => this.#receive(chunk));
    stream.on("error", (error) => {
      const isGreeted = this.#askedCount === 0 || this.#isEncrypted;
      this.#fail(new SmtpFailure("closed", describeError(error, isGreeted)));
    });
    stream.on("end", () => this.#fail(new SmtpFailure("closed", "the server closed the connection")));
    stream.on("close", () => this.#fail(new SmtpFailure("closed", "the connection was closed")));
  }

  #receive(chunk: Buffer): void {
    try {
      this.#reader.read(chunk, (reply) => this.#accept(reply));
    } catch (error) {
      if (!(error instanceof SmtpFailure)) throw error;
      this.#fail(error);
    }
  }

  #accept(reply: SmtpReply): void {
    if (this.#onReply !== undefined) return this.#onReply(reply);
    this.#unread.push(reply);
    if (this.#unread.length > this.#askedCount + MAX_UNASKED_REPLIES)
      throw new SmtpFailure("malformed", "more replies than commands");
  }

  #waitFor<T>(phase: string, timeoutMs: number, begin: (done: (value: T) => void) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) return reject(inPhase(this.#failure, phase));
      const onTimeout = (): void =>
        this.#fail(new SmtpFailure("silent", `no answer within ${timeoutMs / 1000} s`));
      this.#wait = { phase, reject, timer: setTimeout(onTimeout, timeoutMs) };
      begin((value) => {
        this.#endWait();
        resolve(value);
      });
    });
  }

  #endWait(): Wait | undefined {
    const ended = this.#wait;
    clearTimeout(ended?.timer);
    this.#wait = undefined;
    this.#onReply = undefined;
    return ended;
  }

  #fail(failure: SmtpFailure): void {
    if (this.#failure !== undefined) return;
    this.#failure = failure;
    this.#stream.destroy();
    this.#tcp.destroy();
    const wait = this.#endWait();
    wait?.reject(inPhase(failure, wait.phase));
    this.#onGone();
  }
}

function inPhase(failure: SmtpFailure, phase: string): SmtpFailure {
  return new SmtpFailure(failure.kind, `${phase}: ${failure.message}`);
}

/** Node tries a host's addresses in turn; when all fail its error has no text of its own. OpenSSL calls a greeting in clear a "wrong version number". */
function describeError(error: Error, isGreeted: boolean): string {
  if (!isGreeted && "code" in error && error.code === "ERR_SSL_WRONG_VERSION_NUMBER")
    return "the server does not speak TLS from the first byte at this port: use smtp://, which asks for TLS by STARTTLS, or the port that does, mostly 465";
  if (error instanceof AggregateError) return error.errors.map(String).join("; ");
  return error.message;
}
