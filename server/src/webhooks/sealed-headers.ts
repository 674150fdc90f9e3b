// Encrypts the credentials in the headers of webhooks, shows them as a mask, and decrypts them for a call.
import { MASKED } from "@postloft/contract/workflows/graph.ts";
import type { Sealer } from "../platform/crypto.ts";

type Headers = Readonly<Record<string, string>>;

const PREFIX = "sealed:";
/** Headers that describe the content and never authenticate. All others may hold a credential. */
const PLAIN = new Set([
  "accept",
  "accept-language",
  "cache-control",
  "content-language",
  "content-type",
  "user-agent",
]);

const isPlain = (name: string) => PLAIN.has(name.toLowerCase());
const contextOf = (projectId: string) => `webhook headers ${projectId}`;

export interface HeaderVault {
  /** Returns headers as they are stored. A masked value keeps the one of the same name in `stored`; without one it stays masked. */
  seal(projectId: string, given: Headers, stored?: Headers): Record<string, string>;
  /** Returns headers as they are sent. @throws when they were sealed under another application secret */
  open(projectId: string, stored: Headers): Record<string, string>;
}

export function createHeaderVault(sealer: Sealer): HeaderVault {
  const open = (projectId: string, value: string) =>
    value.startsWith(PREFIX)
      ? sealer.open(Buffer.from(value.slice(PREFIX.length), "base64"), contextOf(projectId))
      : value;
  const seal = (projectId: string, value: string) =>
    PREFIX + sealer.seal(value, contextOf(projectId)).toString("base64");
  return {
    seal(projectId, given, stored = {}) {
      const kept = new Map(Object.entries(stored).map(([name, value]) => [name.toLowerCase(), value]));
      return mapValues(given, (name, value) => {
        const before = kept.get(name.toLowerCase());
        if (value === MASKED) return before ?? MASKED;
        if (isPlain(name)) return value;
        // The same value stays the same text, so that a version which changes nothing shows no change.
        const isSame = before?.startsWith(PREFIX) === true && open(projectId, before) === value;
        return isSame ? before : seal(projectId, value);
      });
    },
    open: (projectId, stored) =>
      mapValues(stored, (name, value) => (isPlain(name) ? value : open(projectId, value))),
  };
}

/** Returns stored headers as they may be shown, with a mask for everything that may be a credential. */
export function maskHeaders(stored: Headers): Record<string, string> {
  return mapValues(stored, (name, value) => (isPlain(name) ? value : MASKED));
}

/** Returns the names of headers whose value is missing, since only a mask was imported. */
export function listMaskedNames(stored: Headers): string[] {
  return Object.entries(stored).flatMap(([name, value]) => (value === MASKED ? [name] : []));
}

function mapValues(headers: Headers, change: (name: string, value: string) => string) {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, change(name, value)]));
}
