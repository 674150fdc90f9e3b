// Writes a domain's records as a zone file (RFC 1035 §5), which name servers and most providers can import. Names are relative to the
// domain, and long texts are split into strings.
import type { Domain } from "./domains-query.ts";

/** The maximum length of a string in a TXT record (RFC 1035 §3.3.14). */
const MOST_OCTETS = 255;
/** Short, because people who enter records by hand often have to correct some. */
const TTL_SECONDS = 300;
const PRINTABLE = { first: 0x20, last: 0x7e };

export type ZoneRecord = Pick<Domain["records"][number], "name" | "type" | "value" | "purpose" | "status">;

/** Returns the zone file. Records that DNS already has are commented out, because importing them again would duplicate them. */
export function zoneFileOf(domain: string, records: readonly ZoneRecord[]): string {
  const lines = records
    // The instance admin manages the return path.
    .filter(({ purpose }) => purpose !== "return-path")
    .map(({ name, type, value, status }) => {
      const line = `${relativeName(name, domain)}\t${TTL_SECONDS}\tIN\t${type}\t${textValue(value)}`;
      return status === "FOUND" ? `; ${line}` : line;
    });
  return [`$ORIGIN ${domain}.`, ...lines, ""].join("\n");
}

/** Returns the name relative to the zone: `@` for the domain itself, and a trailing dot for names outside of it. */
function relativeName(name: string, domain: string): string {
  if (name === domain) return "@";
  return name.endsWith(`.${domain}`) ? name.slice(0, -domain.length - 1) : `${name}.`;
}

function textValue(value: string): string {
  const octets = new TextEncoder().encode(value);
  const pieces = Array.from({ length: Math.max(1, Math.ceil(octets.length / MOST_OCTETS)) }, (_unused, at) =>
    octets.slice(at * MOST_OCTETS, (at + 1) * MOST_OCTETS),
  );
  return pieces.map((piece) => `"${[...piece].map(written).join("")}"`).join(" ");
}

/** Escapes quotes, backslashes and non-ASCII octets (RFC 1035 §5.1). */
function written(octet: number): string {
  const character = String.fromCharCode(octet);
  if (character === '"' || character === "\\") return `\\${character}`;
  const isPlain = octet >= PRINTABLE.first && octet <= PRINTABLE.last;
  return isPlain ? character : `\\${String(octet).padStart(3, "0")}`;
}
