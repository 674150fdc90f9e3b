// One TCP or TLS connection to an SMTP server. Writes commands and reads replies with a time limit on each wait, without knowing any SMTP
// command.
import { connect as connectTcp, type LookupFunction, type Socket } from "node:net";
import { connect as connectTls, TLSSocket, type ConnectionOptions } from "node:tls";
import { createReplyReader, SmtpFailure, type SmtpReply } from "./smtp-replies.ts";

interface Wait {
  phase: string;
  timer: NodeJS.Timeout;
  reject: (failure: SmtpFailure) => void;
}

/** Unexpected replies allowed. A server may send 421 at any time (RFC 5321 §3.8); more than one is an error. */
const MAX_UNASKED_REPLIES = 1;
const LOOPBACK_ADDRESS = /^(?:::ffff:)?127\.|^::1$/;
const LINE_BREAK = /[\r\n\0]/;

/**
 * Allows one wait at a time. A failed wait throws `SmtpFailure` with its phase and closes the connection. Replies that arrived earlier stay
 * readable.
 */
export class SmtpConnection {
  readonly #tcp: Socket;
  readonly #onGone: () => void;
  readonly #unread: SmtpReply[] = [];
  #stream: Socket;
  #reader = createReplyReader();
  /** Number of expected replies not read yet, including the greeting. */
  #askedCount = 1;
  #isEncrypted = false;
  #failure: SmtpFailure | undefined;
  #wait: Wait | undefined;
  #onReply: ((reply: SmtpReply) => void) | undefined;

  /** Starts to connect. `onGone` is called once, when the connection is closed. Without `lookup` the operating system resolves the host. */
  constructor(host: string, port: number, onGone: () => void, lookup?: LookupFunction) {
    this.#onGone = onGone;
    this.#tcp = connectTcp({ host, port, noDelay: true, ...(lookup === undefined ? {} : { lookup }) });
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

  /** Upgrades to TLS. Fails if the server sent anything in plaintext after its last reply (RFC 3207 §6, CVE-2011-0411). */
  async encrypt(phase: string, timeoutMs: number, options: ConnectionOptions): Promise<void> {
    if (this.#unread.length > 0 || this.#reader.isWithinReply())
      this.#fail(new SmtpFailure("malformed", "the server sent plaintext after agreeing to TLS"));
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

  /** Writes command lines as one group (RFC 2920), with the bytes of the last command in the same write. The server replies to each. */
  write(lines: readonly string[], bytes?: Buffer): void {
    // Last defense against a command hidden in an argument; earlier checks already exclude line breaks.
    if (lines.some((line) => LINE_BREAK.test(line))) throw new Error("a line break inside an SMTP command");
    this.#askedCount += lines.length;
    if (this.#failure !== undefined) return;
    const commands = `${lines.join("\r\n")}\r\n`;
    if (bytes === undefined) return void this.#stream.write(commands);
    this.#stream.cork();
    this.#stream.write(commands);
    this.#stream.write(bytes);
    this.#stream.uncork();
  }

  /** Writes part of a message and waits until the operating system has accepted it. */
  writeBlock(block: Buffer, phase: string, timeoutMs: number): Promise<void> {
    return this.#waitFor(phase, timeoutMs, (done) => {
      // A failed write also emits "error", which ends the wait with the reason.
      this.#stream.write(block, (error) => (error ? undefined : done(undefined)));
    });
  }

  /** Returns the next reply. */
  async readReply(phase: string, timeoutMs: number): Promise<SmtpReply> {
    const reply =
      this.#unread.shift() ??
      (await this.#waitFor<SmtpReply>(phase, timeoutMs, (done) => {
        this.#onReply = done;
      }));
    this.#askedCount -= 1;
    return reply;
  }

  /** Returns the number of expected replies that were not read. */
  outstandingReplies(): number {
    return this.#askedCount;
  }

  /** Returns an unexpected reply, from a server that is about to close or out of step. */
  takeUnaskedReply(): SmtpReply | undefined {
    return this.#askedCount === 0 ? this.#unread.shift() : undefined;
  }

  /** Returns whether a command may be written: the connection is alive and in step. */
  isUsable(): boolean {
    const isInStep = this.#askedCount === 0 && this.#unread.length === 0 && !this.#reader.isWithinReply();
    return this.#failure === undefined && isInStep;
  }

  isEncrypted(): boolean {
    return this.#isEncrypted;
  }

  /** Returns the TLS version such as `TLSv1.3`, or null without encryption. */
  tlsVersion(): string | null {
    return this.#stream instanceof TLSSocket ? this.#stream.getProtocol() : null;
  }

  /** Returns whether the server is on this machine, based on the connected address. */
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
        this.#fail(new SmtpFailure("silent", `no reply within ${timeoutMs / 1000} s`));
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

/**
 * Returns the text of a connection error. Joins the errors of all addresses that Node tried, because the combined error has no text.
 * OpenSSL reports a plaintext greeting as "wrong version number", so this case gets an explanation.
 */
function describeError(error: Error, isGreeted: boolean): string {
  if (!isGreeted && "code" in error && error.code === "ERR_SSL_WRONG_VERSION_NUMBER")
    return "the server does not use TLS from the first byte on this port. Use smtp:// for STARTTLS, or the TLS port (usually 465)";
  if (error instanceof AggregateError) return error.errors.map(String).join("; ");
  return error.message;
}
