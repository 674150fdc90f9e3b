// Handles the bytes, TLS and rules of one connection to the sink.
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { SinkContext, SinkPhase, SinkRule } from "./smtp-sink-rules.ts";

const MAX_COMMAND_BYTES = 4_096;
const LF = 0x0a;
const NOTHING = Buffer.alloc(0);

/** Continues after a reply; `isGood` means 2xx or 3xx. */
export type Proceed = (isGood: boolean) => void;

/**
 * Processes input in order, and keeps it waiting while a reply is delayed. Replies are written after all available input has been
 * processed.
 */
export class SinkConnection {
  /** The input that has not been processed yet. */
  input: Buffer = NOTHING;
  isEncrypted = false;
  readonly #tcp: Socket;
  readonly #context: SinkContext;
  readonly #takeInput: () => boolean;
  #stream: Socket;
  #output = "";
  /** Whether a delay or handshake is in progress. */
  #isBusy = false;
  /** Whether input is ignored from now on. */
  #isDone = false;

  /** `takeInput` processes the next part of `input` and returns `false` if it is incomplete. */
  constructor(socket: Socket, context: SinkContext, takeInput: () => boolean) {
    this.#tcp = socket;
    this.#stream = socket;
    this.#context = context;
    this.#takeInput = takeInput;
    // Clients under test cut connections on purpose.
    socket.on("error", () => socket.destroy());
  }

  /** Starts reading unencrypted input. */
  begin(): void {
    this.#listen(this.#tcp);
  }

  /** Returns whether the next part of the input may be processed. */
  isReading(): boolean {
    return !this.#isBusy && !this.#isDone;
  }

  /** Processes the available input, then writes the replies. */
  work(): void {
    while (this.isReading() && this.#takeInput());
    this.#flush();
    this.#context.changed();
  }

  say(text: string): void {
    this.#output += `${text}\r\n`;
  }

  /** Returns the next command line, or undefined if it is incomplete or invalid. */
  takeLine(): string | undefined {
    const end = this.input.indexOf(LF);
    if (end === -1 && this.input.length <= MAX_COMMAND_BYTES) return undefined;
    const line = this.input.toString("utf8", 0, end);
    this.input = this.input.subarray(end + 1);
    if (end !== -1 && end <= MAX_COMMAND_BYTES && line.endsWith("\r")) return line.slice(0, -1);
    this.say("421 5.5.2 a line too long or without CRLF");
    this.#hangUp();
    return undefined;
  }

  /** Sends the usual reply or applies a rule instead. */
  respond(phase: SinkPhase, recipients: readonly string[], usual: string, proceed: Proceed): void {
    const rule = this.#context.matchRule(phase, recipients);
    if (rule !== undefined) return this.obey(rule, usual, proceed);
    this.say(usual);
    proceed(isGoodReply(usual));
  }

  obey(rule: SinkRule, usual: string, proceed: Proceed): void {
    if (rule.delayMs === undefined) return this.#act(rule, usual, proceed);
    this.#isBusy = true;
    this.#flush();
    setTimeout(() => {
      this.#isBusy = false;
      if (this.#tcp.destroyed) return;
      this.#act(rule, usual, proceed);
      this.work();
    }, rule.delayMs);
  }

  misbehave(action: "drop" | "reset" | "silent"): void {
    this.#isDone = true;
    this.#flush();
    if (action === "drop") this.#stream.destroySoon();
    if (action === "reset") this.#tcp.resetAndDestroy();
    if (action === "silent") this.#stream.pause();
  }

  startTls(onReady: () => void): void {
    const rule = this.#context.matchRule("TLS", []);
    if (rule === undefined) return this.#handshake(onReady);
    this.obey(rule, "", (isGood) => {
      if (isGood) this.#handshake(onReady);
    });
  }

  #act({ action }: SinkRule, usual: string, proceed: Proceed): void {
    if (action === "drop" || action === "reset" || action === "silent") return this.misbehave(action);
    if (action === "swallow" || action === "swallow-next") {
      this.say(usual);
      this.input = action === "swallow" ? NOTHING : this.input.subarray(this.input.indexOf(LF) + 1);
      return proceed(isGoodReply(usual));
    }
    if (typeof action === "object" && "bytes" in action) {
      this.#flush();
      this.#stream.write(action.bytes);
      return proceed(false);
    }
    const text = action === undefined ? usual : action.reply;
    if (text === "") return proceed(true); // TLS and BODY have no usual reply
    this.say(text);
    proceed(isGoodReply(text));
    if (text.startsWith("421")) this.#hangUp();
  }

  /** Ends after the last reply and ignores further input. If input were unread, TCP would reset the connection and could lose the reply. */
  #hangUp(): void {
    this.#isDone = true;
    this.#flush();
    this.#stream.end();
  }

  #listen(stream: Socket): void {
    stream.on("data", (chunk) => {
      if (this.#isDone) return;
      this.input = this.input.length === 0 ? chunk : Buffer.concat([this.input, chunk]);
      this.work();
    });
    stream.on("error", () => stream.destroy());
  }

  #flush(): void {
    if (this.#output !== "" && !this.#stream.destroyed) this.#stream.write(this.#output);
    this.#output = "";
  }

  #handshake(onReady: () => void): void {
    this.#isBusy = true;
    this.#flush();
    this.#tcp.removeAllListeners("data");
    this.input = NOTHING; // RFC 3207 §4.2: discard everything before the handshake
    const secured = new TLSSocket(this.#tcp, { isServer: true, secureContext: this.#context.secureContext });
    this.#stream = secured;
    this.#listen(secured);
    secured.once("secure", () => {
      this.#isBusy = false;
      this.isEncrypted = true;
      onReady();
      this.work();
    });
  }
}

export function isGoodReply(text: string): boolean {
  return text.startsWith("2") || text.startsWith("3");
}
