// Implements one SMTP session of the sink as a small, strict server (RFC 5321), with rules for each reply.
import type { Socket } from "node:net";
import { createBodyReader, findMessageId, type BodyReader } from "./smtp-sink-body.ts";
import { createChunkReader } from "./smtp-sink-chunks.ts";
import { isGoodReply, SinkConnection } from "./smtp-sink-connection.ts";
import type { SinkContext } from "./smtp-sink-rules.ts";

const MAX_BODY_BYTES = 100 * 1024 * 1024;
const NOTHING = Buffer.alloc(0);
const MAIL = /^MAIL FROM:<([^<>\s]*)>(?: (.*))?$/i;
const RCPT = /^RCPT TO:<([^<>\s]+)>(?: .*)?$/i;
const BDAT = /^BDAT (\d{1,9})( LAST)?$/i;
const NOT_ASCII = /[^\p{ASCII}]/u;

interface Envelope {
  sender: string;
  parameters: string;
  recipients: string[];
}

/** Serves one connection until it ends. */
export function serveSmtp(socket: Socket, connection: number, context: SinkContext): void {
  new SinkSession(socket, connection, context).begin();
}

class SinkSession {
  readonly #connection: number;
  readonly #context: SinkContext;
  readonly #line: SinkConnection;
  #heloName = "";
  #user: string | undefined;
  #envelope: Envelope | undefined;
  #body: BodyReader | undefined;
  #isBodyNew = false;
  readonly #chunks = createChunkReader();
  /** Takes the next line instead of the commands, to continue AUTH. */
  #onLine: ((line: string) => void) | undefined;

  constructor(socket: Socket, connection: number, context: SinkContext) {
    this.#connection = connection;
    this.#context = context;
    this.#line = new SinkConnection(socket, context, () => {
      if (this.#chunks.isOpen()) return this.#readChunk();
      return this.#body === undefined ? this.#readLine() : this.#readBody(this.#body);
    });
  }

  begin(): void {
    if (this.#context.options.secure === true) return this.#line.startTls(() => this.#greet());
    this.#line.begin();
    this.#greet();
    this.#line.work();
  }

  #greet(): void {
    this.#line.respond("CONNECT", [], "220 sink ESMTP", () => undefined);
  }

  /** Returns `false` if there is no complete line yet. */
  #readLine(): boolean {
    const line = this.#line.takeLine();
    if (line === undefined) return false;
    this.#context.noteCommand({ connection: this.#connection, line, isEncrypted: this.#line.isEncrypted });
    const onLine = this.#onLine;
    this.#onLine = undefined;
    if (onLine !== undefined) onLine(line);
    else this.#obeyCommand(line);
    return true;
  }

  #obeyCommand(command: string): void {
    const line = this.#line;
    const verb = /^[A-Za-z]*/.exec(command)?.[0].toUpperCase();
    if (verb === "MAIL") return this.#mail(command);
    if (verb === "RCPT") return this.#recipient(command);
    if (verb === "DATA") return this.#data();
    if (verb === "BDAT" && this.#context.options.advertise?.chunking === true) return this.#bdat(command);
    if (verb === "EHLO" || verb === "HELO") return this.#hello(verb, command.slice(verb.length + 1));
    if (verb === "STARTTLS" && this.#offersStartTls())
      return line.respond("STARTTLS", [], "220 2.0.0 go ahead", (isGood) => {
        if (isGood) this.#startTls();
      });
    if (verb === "AUTH") return this.#authenticate(command);
    if (verb === "NOOP") return line.say("250 2.0.0 ok");
    if (verb === "RSET") return line.respond("RSET", [], "250 2.0.0 ok", () => this.#endTransaction());
    if (verb === "QUIT")
      return line.respond("QUIT", [], "221 2.0.0 bye", (isGood) => {
        if (isGood) line.misbehave("drop");
      });
    line.say("500 5.5.1 what?");
  }

  #startTls(): void {
    this.#heloName = "";
    this.#endTransaction();
    this.#line.startTls(() => undefined);
  }

  #offersStartTls(): boolean {
    return this.#context.options.advertise?.startTls === true && !this.#line.isEncrypted;
  }

  #hello(verb: "EHLO" | "HELO", heloName: string): void {
    const options = this.#context.options.advertise ?? {};
    const { pipelining = true, auth = [], eightBitMime = true, smtpUtf8 = true, sizeBytes } = options;
    const offers = [
      ...(pipelining ? ["PIPELINING"] : []),
      // Over TLS only, so that a client cannot use the list from before.
      ...(options.chunking === true && !this.#offersStartTls() ? ["CHUNKING"] : []),
      ...(this.#offersStartTls() ? ["STARTTLS"] : []),
      ...(auth.length > 0 ? [`AUTH ${auth.join(" ")}`] : []),
      ...(eightBitMime ? ["8BITMIME"] : []),
      ...(smtpUtf8 ? ["SMTPUTF8"] : []),
      ...(sizeBytes === undefined ? [] : [`SIZE ${sizeBytes}`]),
    ];
    const lines = ["sink", ...(verb === "EHLO" ? offers : [])];
    const last = lines.length - 1;
    const reply = lines.map((line, index) => `250${index === last ? " " : "-"}${line}`).join("\r\n");
    this.#line.respond(verb, [], reply, (isGood) => {
      if (isGood) this.#heloName = heloName;
      this.#endTransaction();
    });
  }

  #authenticate(command: string): void {
    const [, input = "", initial] = command.split(" ");
    const mechanism = input.toUpperCase();
    if (!this.#context.options.advertise?.auth?.includes(mechanism))
      return this.#line.say("504 5.5.4 mechanism not offered");
    if (mechanism === "PLAIN") {
      const finish = (line: string): void => {
        const [, user = "", password = ""] = fromBase64(line).split("\0");
        this.#logIn(user, password);
      };
      return initial === undefined ? this.#ask("334 ", finish) : finish(initial);
    }
    this.#ask("334 VXNlcm5hbWU6", (user) =>
      this.#ask("334 UGFzc3dvcmQ6", (password) => this.#logIn(fromBase64(user), fromBase64(password))),
    );
  }

  #ask(challenge: string, onLine: (line: string) => void): void {
    this.#line.respond("AUTH", [], challenge, (isGood) => {
      if (isGood) this.#onLine = onLine;
    });
  }

  #logIn(user: string, password: string): void {
    const wanted = this.#context.options.credentials;
    const isRight = wanted === undefined || (wanted.user === user && wanted.password === password);
    const usual = isRight ? "235 2.7.0 welcome" : "535 5.7.8 wrong user or password";
    this.#line.respond("AUTH", [], usual, (isGood) => {
      if (isGood) this.#user = user;
    });
  }

  #mail(command: string): void {
    const [, sender, parameters = ""] = MAIL.exec(command) ?? [];
    this.#line.respond("MAIL", [], this.#usualMailAnswer(sender, parameters), (isGood) => {
      if (isGood) this.#envelope = { sender: sender ?? "", parameters, recipients: [] };
    });
  }

  #usualMailAnswer(sender: string | undefined, parameters: string): string {
    const { advertise = {}, credentials } = this.#context.options;
    const isUtf8 = / SMTPUTF8\b/.test(` ${parameters}`);
    const size = Number(/\bSIZE=(\d+)/.exec(parameters)?.[1] ?? 0);
    if (sender === undefined) return "501 5.5.4 MAIL FROM:<address>";
    if (this.#heloName === "" || this.#envelope !== undefined) return "503 5.5.1 not now";
    if (credentials !== undefined && this.#user === undefined) return "530 5.7.0 log in first";
    if (isUtf8 && advertise.smtpUtf8 === false) return "555 5.5.4 SMTPUTF8 is not offered";
    if (!isUtf8 && NOT_ASCII.test(sender)) return "553 5.6.7 address needs SMTPUTF8";
    if (size > (advertise.sizeBytes ?? Infinity)) return "552 5.3.4 too big";
    return "250 2.1.0 ok";
  }

  #recipient(command: string): void {
    const [, recipient] = RCPT.exec(command) ?? [];
    const envelope = this.#envelope;
    if (recipient === undefined) return this.#line.say("501 5.5.4 RCPT TO:<address>");
    if (envelope === undefined) return this.#line.say("503 5.5.1 MAIL first");
    const needsUtf8 = NOT_ASCII.test(recipient) && !envelope.parameters.includes("SMTPUTF8");
    const usual = needsUtf8 ? "553 5.6.7 address needs SMTPUTF8" : "250 2.1.5 ok";
    this.#line.respond("RCPT", [recipient], usual, (isGood) => {
      if (isGood) envelope.recipients.push(recipient);
    });
  }

  #data(): void {
    const recipients = this.#envelope?.recipients ?? [];
    const usual = recipients.length === 0 ? "503 5.5.1 no recipient" : "354 go ahead";
    this.#line.respond("DATA", recipients, usual, (isGood) => {
      if (!isGood) return;
      this.#body = createBodyReader();
      this.#isBodyNew = true;
    });
  }

  /** Returns `false` if the message has not ended yet. */
  #readBody(body: BodyReader): boolean {
    const line = this.#line;
    if (line.input.length === 0) return false;
    const recipients = this.#envelope?.recipients ?? [];
    if (this.#isBodyNew) {
      this.#isBodyNew = false;
      const rule = this.#context.matchRule("BODY", recipients);
      if (rule !== undefined) line.obey(rule, "", () => undefined);
      if (!line.isReading()) return false;
    }
    const before = body.byteCount();
    const rest = body.read(line.input);
    this.#context.noteBodyBytes(body.byteCount() - before);
    line.input = rest ?? NOTHING;
    if (rest !== undefined) this.#finish(body.message(), recipients);
    else if (body.byteCount() > MAX_BODY_BYTES) line.misbehave("drop");
    return rest !== undefined;
  }

  /** Accepts the chunk with this BDAT command. A rule can make the server read the chunk as commands instead. */
  #bdat(command: string): void {
    const [, size, last] = BDAT.exec(command) ?? [];
    if (size === undefined) return this.#line.say("501 5.5.4 BDAT <size> [LAST]");
    const begin = (): void => {
      this.#chunks.begin(Number(size), last !== undefined);
      this.#isBodyNew = last !== undefined;
    };
    const rule = this.#context.matchRule("BDAT", this.#envelope?.recipients ?? []);
    if (rule === undefined) return begin();
    this.#line.obey(rule, "", (isGood) => {
      if (isGood) begin();
    });
  }

  /** Returns `false` if the chunk has not ended yet. */
  #readChunk(): boolean {
    const line = this.#line;
    const recipients = this.#envelope?.recipients ?? [];
    if (this.#isBodyNew && line.input.length > 0) {
      this.#isBodyNew = false;
      const rule = this.#context.matchRule("BODY", recipients);
      if (rule !== undefined) line.obey(rule, "", () => undefined);
      if (!line.isReading()) return false;
    }
    const before = line.input.length;
    line.input = this.#chunks.read(line.input);
    this.#context.noteBodyBytes(before - line.input.length);
    const end = this.#chunks.takeEnd();
    if (end === undefined) return false;
    // RFC 3030 §2: the data of a failed transaction is read and discarded.
    if (recipients.length === 0) {
      this.#chunks.clear();
      line.respond("NOBODY", [], "503 5.5.1 no recipient", () => undefined);
    } else if (end.isLast) this.#finish(this.#chunks.message(), recipients);
    else
      line.respond("CHUNK", recipients, `250 2.0.0 ${end.size} octets`, (isGood) => {
        if (!isGood) this.#endTransaction();
      });
    return true;
  }

  #endTransaction(): void {
    this.#envelope = undefined;
    this.#chunks.clear();
  }

  #finish(raw: Buffer, recipients: readonly string[]): void {
    const { advertise, keepRaw = true } = this.#context.options;
    const { sender = "", parameters: mailParameters = "" } = this.#envelope ?? {};
    this.#body = undefined;
    this.#endTransaction();
    const isTooBig = raw.length > (advertise?.sizeBytes ?? Infinity);
    const usual = isTooBig ? "552 5.3.4 too big" : "250 2.0.0 taken";
    const rule = this.#context.matchRule("DOT", recipients);
    const action = rule?.action ?? { reply: usual };
    const isGood = typeof action === "object" && "reply" in action && isGoodReply(action.reply);
    if (isGood || rule?.accept === true)
      this.#context.accept({
        messageId: findMessageId(raw),
        sender,
        recipients,
        raw: keepRaw ? raw : NOTHING,
        at: Date.now(),
        mailParameters,
        heloName: this.#heloName,
        isEncrypted: this.#line.isEncrypted,
        user: this.#user,
        connection: this.#connection,
      });
    if (rule === undefined) this.#line.say(usual);
    else this.#line.obey(rule, usual, () => undefined);
  }
}

function fromBase64(text: string): string {
  return Buffer.from(text, "base64").toString("utf8");
}
