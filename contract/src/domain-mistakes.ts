// Common mistakes with DNS records, by code, so that programs and the dashboard can use their own wording.
import { z } from "zod";

/** Sentences by code, with `{names}` as placeholders for values. */
export const DOMAIN_MISTAKES = {
  "name.doubled":
    "The record is at {found}, because your provider added {zone} to a name that already contained it. Enter {short} as the name.",
  "name.left":
    "The record is at {found} itself, but its name has to be {name}. Also enter the part before {found}.",
  "type.alias":
    "{name} is an alias (CNAME) of {target}, and a CNAME excludes all other records. Delete the CNAME, then add the TXT record.",
  "type.address":
    "{name} has an address ({address}) but no text, so the record was added as A or CNAME, perhaps behind a proxy (Cloudflare's orange cloud). Add it as TXT.",
  "value.quoted":
    "The value contains quotation marks. Enter it without them, because the provider adds the ones that DNS needs.",
  "value.cutOff":
    "The key ends after {length} of {expected} characters. Enter the whole value. If a field accepts only 255 characters, split it as in the zone file.",
  "value.otherKey":
    "This is another key, either an older one or one of another service. Replace it with the expected value.",
  "record.several":
    "There are {count} records where only one is allowed, so receivers ignore all of them. Keep one; for SPF, combine their contents.",
} as const;
export type DomainMistakeCode = keyof typeof DOMAIN_MISTAKES;
export type DomainMistakeValues = Readonly<Record<string, string | number>>;

const mistake = z.object({
  code: z.enum(Object.keys(DOMAIN_MISTAKES) as [DomainMistakeCode, ...DomainMistakeCode[]]),
  values: z
    .record(z.string(), z.union([z.string(), z.number()]))
    .describe("The values in the sentence, by name."),
  text: z.string().describe("The sentence in English."),
});
export type DomainMistake = z.output<typeof mistake>;

export const recordMistakes = z.object({
  purpose: z.enum(["dkim", "spf", "dmarc"]),
  name: z.string().describe("The name of the correct record."),
  mistakes: z.array(mistake),
});

/** Returns the mistake for a code with its values filled in. */
export function mistakeOf(code: DomainMistakeCode, values: DomainMistakeValues = {}): DomainMistake {
  const text = DOMAIN_MISTAKES[code].replaceAll(/\{(\w+)\}/g, (whole, name: string) =>
    String(values[name] ?? whole),
  );
  return { code, values, text };
}
