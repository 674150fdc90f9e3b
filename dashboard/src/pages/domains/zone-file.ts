// The records of a domain as a zone file (RFC 1035 §5), which name servers and most providers import: names from the domain on, long texts
// in pieces.
import type { Domain } from "./domains-query.ts";

/** A string of a TXT record has at most so many octets (RFC 1035 §3.3.14). */
const MOST_OCTETS = 255;
/** Short, since whoever enters records by hand corrects some of them. */
const TTL_SECONDS = 300;
const PRINTABLE = { first: 0x20, last: 0x7e };

export type ZoneRecord = Pick<Domain["records"][number], "name" | "type" | "value" | "purpose" | "status">;

/** What is there already stands in it behind a semicolon: imported once more it would be there twice. */
export function zoneFileOf(domain: string, records: readonly ZoneRecord[]): string {
  const lines = records
    // The return path belongs to whoever runs the installation.
    .filter(({ purpose }) => purpose !== "return-path")
    .map(({ name, type, value, status }) => {
      const line = `${relativeName(name, domain)}\t${TTL_SECONDS}\tIN\t${type}\t${textValue(value)}`;
      return status === "FOUND" ? `; ${line}` : line;
    });
  return [`$ORIGIN ${domain}.`, ...lines, ""].join("\n");
}

/** From the zone on: `@` is the domain itself, what is not below it has a dot at its end. */
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

/** Quotes, backslashes and what is no ASCII are written as an escape (RFC 1035 §5.1). */
function written(octet: number): string {
  const character = String.fromCharCode(octet);
  if (character === '"' || character === "\\") return `\\${character}`;
  const isPlain = octet >= PRINTABLE.first && octet <= PRINTABLE.last;
  return isPlain ? character : `\\${String(octet).padStart(3, "0")}`;
}
