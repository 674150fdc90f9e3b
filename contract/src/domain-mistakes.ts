// Common mistakes with DNS records, by code: a program and the dashboard say them in words of their own.
import { z } from "zod";

/** By code, with `{names}` of what is filled in. */
export const DOMAIN_MISTAKES = {
  "name.doubled":
    "The record stands at {found}: your provider added {zone} to a name that had it already. Enter {short} as the name.",
  "name.left":
    "The record stands at {found} itself. Its name has to be {name}: enter what comes before {found} as well.",
  "type.alias":
    "{name} is an alias (CNAME) of {target}, and nothing can stand beside a CNAME. Delete the CNAME, then add the TXT record.",
  "type.address":
    "{name} has an address ({address}) and no text: the record was added as A or CNAME, perhaps behind a proxy (Cloudflare's orange cloud). Add it as TXT.",
  "value.quoted":
    "Quotation marks became part of the value. Enter it without them: the provider adds those that DNS needs.",
  "value.cutOff":
    "The key ends after {length} of {expected} characters. Enter the whole value; where a field takes only 255 characters, in several pieces, as the zone file has them.",
  "value.otherKey":
    "Another key stands here: one from before, or of another service. Replace it by the expected value.",
  "record.several":
    "There are {count} records where only one may be, so receivers trust none of them. Keep one; of SPF put together what they allow.",
} as const;
export type DomainMistakeCode = keyof typeof DOMAIN_MISTAKES;
export type DomainMistakeValues = Readonly<Record<string, string | number>>;

const mistake = z.object({
  code: z.enum(Object.keys(DOMAIN_MISTAKES) as [DomainMistakeCode, ...DomainMistakeCode[]]),
  values: z
    .record(z.string(), z.union([z.string(), z.number()]))
    .describe("What the sentence names, by name."),
  text: z.string().describe("The sentence in English."),
});
export type DomainMistake = z.output<typeof mistake>;

export const recordMistakes = z.object({
  purpose: z.enum(["dkim", "spf", "dmarc"]),
  name: z.string().describe("Of the record as it should be."),
  mistakes: z.array(mistake),
});

/** The mistake of a code, with its values filled in. */
export function mistakeOf(code: DomainMistakeCode, values: DomainMistakeValues = {}): DomainMistake {
  const text = DOMAIN_MISTAKES[code].replaceAll(/\{(\w+)\}/g, (whole, name: string) =>
    String(values[name] ?? whole),
  );
  return { code, values, text };
}
