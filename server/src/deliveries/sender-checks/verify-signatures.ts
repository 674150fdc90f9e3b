// Verifies the DKIM signatures of a message with the keys that DNS returned. Runs on a separate thread, because it hashes up to 10 MB. Pure.
import { domainToASCII } from "node:url";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { dkimVerify } from "mailauth/lib/dkim/verify.js";
import { dnsError } from "./resolver.ts";

/** The records of a key, or the error code of DNS. */
export type FoundKey = string[] | { code: string };

export interface SignatureTask {
  /** The whole message, or only its header to learn which keys to ask for. */
  raw: Uint8Array;
  /** By name. A name that is missing has no key. */
  keys: ReadonlyMap<string, FoundKey>;
}

export interface Signature {
  domain: string;
  /** Where DNS has its key. */
  keyName: string;
  result: string;
  /** How many bytes of the body it does not cover. */
  underSized: number;
}

export interface VerifiedMessage {
  signatures: Signature[];
  /** Empty if there are more or longer ones than any person writes. */
  authors: string[];
  fromFields: number;
}

const MAX_AUTHORS = 100;
/** The longest address (RFC 5321 §4.5.3.1). Converting a long name with many different characters to ASCII would take seconds. */
const AUTHOR_MAX_CHARACTERS = 320;
/** A name may be followed by spaces and even by a line break before the colon. */
const SIGNATURE_FIELD = /^dkim-signature[ \t]*(?::|\r?\n?$)/i;

const isPlausible = (authors: readonly string[]) =>
  authors.length <= MAX_AUTHORS && authors.every(({ length }) => length <= AUTHOR_MAX_CHARACTERS);

/** Verifies the first signatures and returns them with the addresses of From, as mailauth reads them. */
export async function verifySignatures({ raw, keys }: SignatureTask): Promise<VerifiedMessage> {
  const { results, headerFrom, fromFields } = await dkimVerify(withoutSurplus(Buffer.from(raw)), {
    rejectRsaSha1: true,
    resolver: async (name: string) => {
      const found = keys.get(name) ?? { code: "ENODATA" };
      if (!Array.isArray(found)) throw dnsError(found.code);
      return found.map((text) => [text]);
    },
  });
  return {
    signatures: results.slice(0, LIMITS.inboundSignatures.value).flatMap((one) => {
      const { signingDomain: domain = "", selector = "", status } = one;
      if (domain === "" || selector === "") return [];
      const keyName = toAscii(`${selector}._domainkey.${domain}`);
      return [{ domain, keyName, result: status.result, underSized: status.underSized ?? 0 }];
    }),
    authors: isPlausible(headerFrom) ? headerFrom : [],
    fromFields,
  };
}

/** Keys of domains outside ASCII are at their A-labels (RFC 8616 §3). */
const toAscii = (name: string) => (/[^ -~]/.test(name) ? domainToASCII(name) : name);

/** Removes the signatures after the first ones, because each can make the verifier hash the body again (RFC 6376 §6.1). */
function withoutSurplus(raw: Buffer): Buffer {
  const kept: Buffer[] = [];
  let signatures = 0;
  let isDropped = false;
  let start = 0;
  for (;;) {
    const newline = raw.indexOf(0x0a, start);
    const end = newline < 0 ? raw.length : newline + 1;
    const line = raw.subarray(start, end);
    const isContinued = line[0] === 0x20 || line[0] === 0x09;
    if (newline < 0 || line.length === 1 || (line.length === 2 && line[0] === 0x0d)) break;
    if (!isContinued) {
      isDropped = false;
      if (SIGNATURE_FIELD.test(line.toString("latin1"))) {
        signatures += 1;
        isDropped = signatures > LIMITS.inboundSignatures.value;
      }
    }
    if (!isDropped) kept.push(line);
    start = end;
  }
  return signatures > LIMITS.inboundSignatures.value ? Buffer.concat([...kept, raw.subarray(start)]) : raw;
}
