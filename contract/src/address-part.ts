// Normalizes a part of an address for a search among canonical addresses.
import { parseDomain } from "./address.ts";

/** Completes a single label to a domain so that it can be encoded. */
const TOP_LEVEL = ".example";

/**
 * Returns the forms in which a part of an address can appear in canonical addresses, in lower case and NFC. An ASCII part has one form.
 * Labels outside ASCII get a second form as complete labels of a domain. Part of such a label cannot be found in A-labels (RFC 5891, 4.4).
 */
export function formsOfAddressPart(part: string): string[] {
  const text = part.normalize("NFC").toLowerCase();
  const start = text.lastIndexOf("@") + 1;
  const labels = text.slice(start).split(".");
  const asDomain = text.slice(0, start) + labels.map(asALabel).join(".");
  return asDomain === text ? [text] : [text, asDomain];
}

function asALabel(label: string): string {
  const parsed = parseDomain(label + TOP_LEVEL);
  return parsed.ok ? parsed.domain.slice(0, -TOP_LEVEL.length) : label;
}
