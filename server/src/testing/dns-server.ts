// Runs a small DNS server on loopback for tests, over UDP and TCP (RFC 1035). It responds from a table or acts broken or hostile.
import { createSocket, type Socket as UdpSocket } from "node:dgram";
import { createServer, type Server, type Socket } from "node:net";

/** `silent` accepts questions and never responds. */
export type DnsMood = "answer" | "servfail" | "silent";

/** Values in zone file syntax by type, such as `{ MX: ["10 mx.example.com"], A: ["192.0.2.1"] }`. */
export type DnsRecords = Partial<Record<keyof typeof TYPES, readonly string[]>>;

export interface DnsQuestion {
  name: string;
  /** 16 is TXT. */
  type: number;
  transport: "udp" | "tcp";
}

export interface DnsServer {
  /** In the format of `DNS_SERVERS`. */
  readonly address: string;
  /** The received questions in order. */
  readonly questions: readonly DnsQuestion[];
  /** Replaces the TXT records of a name; a value longer than 255 octets is split into strings. Without values the name does not exist. */
  setTxt(name: string, values: readonly string[]): void;
  /** Replaces the records of a name. Without records the name exists and has none. */
  setRecords(name: string, records: DnsRecords): void;
  /** Makes a name an alias for `target` (CNAME). Responses contain the alias and the target's records, like those of a resolver. */
  setAlias(name: string, target: string): void;
  /** Responds to questions about a name with the bytes that `reply` makes of the query. Null means no response. */
  setReply(name: string, reply: (query: Buffer, transport: "udp" | "tcp") => Buffer | null): void;
  setMood(mood: DnsMood): void;
  close(): Promise<void>;
}

const HOST = "127.0.0.1";
const TYPES = { A: 1, NS: 2, MX: 15, TXT: 16, AAAA: 28 } as const;
const CNAME = 5;
const OPT = 41;
const CLASS_IN = 1;
const TTL_SECONDS = 60;
const HEADER_BYTES = 12;
/** The name of the question, as a pointer (RFC 1035 §4.1.4). */
const HERE = Buffer.from([0xc0, HEADER_BYTES]);
const MAX_STRING_BYTES = 255;
/** The maximum size of a response over UDP without EDNS (RFC 1035 §4.2.1). */
const PLAIN_UDP_BYTES = 512;
/** QR, AA and RD; TC; response codes. */
const RESPONSE = 0x8500;
const TRUNCATED = 0x0200;
const SERVFAIL = 2;
const NXDOMAIN = 3;
/** The same port must be free for both transports. */
const PORT_TRIES = 10;

export async function startDnsServer(): Promise<DnsServer> {
  const published = new Map<string, DnsRecords>();
  const aliases = new Map<string, string>();
  const replies = new Map<string, Parameters<DnsServer["setReply"]>[1]>();
  const questions: DnsQuestion[] = [];
  const state = { mood: "answer" as DnsMood };
  const sockets = new Set<Socket>();

  /** Returns the response to a message, at most `maxBytes` long, or null for no response. */
  function respond(message: Buffer, transport: "udp" | "tcp"): Buffer | null {
    const asked = readQuestion(message);
    questions.push({ name: asked.name, type: asked.type, transport });
    if (state.mood === "silent") return null;
    if (state.mood === "servfail") return encode(message, asked, SERVFAIL, []);
    const reply = replies.get(asked.name);
    if (reply !== undefined) return reply(message, transport);
    const target = aliases.get(asked.name);
    const records = published.get(target ?? asked.name);
    if (asked.type === CNAME && target !== undefined)
      return encode(message, asked, 0, [encodeRecord(HERE, CNAME, encodeName(target))]);
    const alias = target === undefined ? [] : [encodeRecord(HERE, CNAME, encodeName(target))];
    if (records === undefined) return encode(message, asked, NXDOMAIN, alias);
    const owner = target === undefined ? HERE : encodeName(target);
    const whole = encode(message, asked, 0, [...alias, ...encodeRecords(owner, records, asked.type)]);
    if (transport === "tcp" || whole.length <= udpBytes(message, asked)) return whole;
    return encode(message, asked, TRUNCATED, []);
  }

  const tcp = createServer((socket) => {
    sockets.add(socket.on("close", () => sockets.delete(socket)).on("error", () => socket.destroy()));
    serveTcp(socket, (message) => respond(message, "tcp"));
  });
  const { udp, port } = await listen(tcp);
  udp.on("message", (message, from) => {
    const reply = respond(message, "udp");
    if (reply !== null) udp.send(reply, from.port, from.address);
  });

  return {
    address: `${HOST}:${port}`,
    questions,
    setTxt(name, values) {
      if (values.length === 0) published.delete(name.toLowerCase());
      else published.set(name.toLowerCase(), { TXT: values });
    },
    setRecords: (name, records) => void published.set(name.toLowerCase(), records),
    setAlias: (name, target) => void aliases.set(name.toLowerCase(), target.toLowerCase()),
    setReply: (name, reply) => void replies.set(name.toLowerCase(), reply),
    setMood: (mood) => void (state.mood = mood),
    async close() {
      sockets.forEach((socket) => socket.destroy());
      await new Promise<void>((resolve) => udp.close(resolve));
      await new Promise<void>((resolve) => tcp.close(() => resolve()));
    },
  };
}

interface Question {
  name: string;
  type: number;
  /** Where the question ends in the message. */
  end: number;
}

/** Reads the one question of a query (RFC 1035 §4.1.2), in which clients do not compress names. */
function readQuestion(message: Buffer): Question {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = message.readUInt8(at); length > 0; length = message.readUInt8(at)) {
    labels.push(message.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join(".").toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 };
}

/** Returns how much the client accepts over UDP, by the OPT record (RFC 6891 §6.2.3) right after the question. */
function udpBytes(message: Buffer, { end }: Question): number {
  const hasOpt =
    message.length >= end + 5 && message.readUInt8(end) === 0 && message.readUInt16BE(end + 1) === OPT;
  return hasOpt ? Math.max(PLAIN_UDP_BYTES, message.readUInt16BE(end + 3)) : PLAIN_UDP_BYTES;
}

function encode(query: Buffer, asked: Question, flags: number, responses: readonly Buffer[]): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  query.copy(header, 0, 0, 2);
  header.writeUInt16BE(RESPONSE | flags, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(responses.length, 6);
  return Buffer.concat([header, query.subarray(HEADER_BYTES, asked.end), ...responses]);
}

/** Encodes a name's records of one type. */
function encodeRecords(owner: Buffer, records: DnsRecords, type: number): Buffer[] {
  return (Object.keys(TYPES) as Array<keyof typeof TYPES>)
    .filter((name) => TYPES[name] === type)
    .flatMap((name) => (records[name] ?? []).map(ENCODERS[name]))
    .map((data) => encodeRecord(owner, type, data));
}

/** Encodes a resource record (RFC 1035 §3.2.1). */
function encodeRecord(owner: Buffer, type: number, data: Buffer): Buffer {
  const head = Buffer.alloc(10);
  head.writeUInt16BE(type, 0);
  head.writeUInt16BE(CLASS_IN, 2);
  head.writeUInt32BE(TTL_SECONDS, 4);
  head.writeUInt16BE(data.length, 8);
  return Buffer.concat([owner, head, data]);
}

const ENCODERS: Record<keyof typeof TYPES, (value: string) => Buffer> = {
  A: (address) => Buffer.from(address.split(".").map(Number)),
  AAAA: encodeIpv6,
  MX: (value) => {
    const [preference = "", exchange = ""] = value.split(" ");
    const number = Buffer.alloc(2);
    number.writeUInt16BE(Number(preference));
    return Buffer.concat([number, encodeName(exchange)]);
  },
  NS: encodeName,
  TXT: encodeTxt,
};

/** Encodes a TXT value in strings of at most 255 octets (RFC 1035 §3.3.14). */
function encodeTxt(value: string): Buffer {
  const bytes = Buffer.from(value);
  const strings: Buffer[] = [];
  for (let at = 0; at < Math.max(1, bytes.length); at += MAX_STRING_BYTES) {
    const string = bytes.subarray(at, at + MAX_STRING_BYTES);
    strings.push(Buffer.from([string.length]), string);
  }
  return Buffer.concat(strings);
}

/** `.` is the root (RFC 1035 §3.1). */
function encodeName(name: string): Buffer {
  const labels = name.split(".").filter((label) => label !== "");
  return Buffer.concat([
    ...labels.flatMap((label) => [Buffer.from([label.length]), Buffer.from(label, "latin1")]),
    Buffer.from([0]),
  ]);
}

function encodeIpv6(address: string): Buffer {
  const [head = [], tail = []] = address
    .split("::")
    .map((half) => half.split(":").filter((group) => group !== ""));
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => "0");
  return Buffer.from([...head, ...zeros, ...tail].map((group) => group.padStart(4, "0")).join(""), "hex");
}

/** Handles a TCP connection, where two octets with the length precede each message (RFC 1035 §4.2.2). */
function serveTcp(socket: Socket, respond: (message: Buffer) => Buffer | null): void {
  let received = Buffer.alloc(0);
  socket.on("data", (chunk) => {
    received = Buffer.concat([received, chunk]);
    while (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) {
      const end = 2 + received.readUInt16BE(0);
      const reply = respond(received.subarray(2, end));
      received = received.subarray(end);
      if (reply === null) continue;
      const length = Buffer.alloc(2);
      length.writeUInt16BE(reply.length);
      socket.write(Buffer.concat([length, reply]));
    }
  });
}

async function listen(tcp: Server): Promise<{ udp: UdpSocket; port: number }> {
  for (let attempt = 1; ; attempt++) {
    const udp = createSocket("udp4");
    const port = await new Promise<number>((resolve, reject) => {
      udp.once("error", reject);
      udp.bind(0, HOST, () => resolve(udp.address().port));
    });
    try {
      await new Promise<void>((resolve, reject) => {
        tcp.once("error", reject);
        tcp.listen(port, HOST, resolve);
      });
      return { udp, port };
    } catch (error) {
      udp.close();
      if (attempt === PORT_TRIES) throw error;
    }
  }
}
