// A part of an address, as it is searched for among canonical ones.
import { parseDomain } from "./address.ts";

/** Makes a domain of one label. */
const TOP_LEVEL = ".example";

/**
 * How a part of an address may stand in canonical ones, in lower case and NFC; one form of a part in ASCII. Labels outside ASCII are taken for whole
 * ones of a domain too, in a second form: of part of a label nothing is found in A-labels (RFC 5891, 4.4).
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
