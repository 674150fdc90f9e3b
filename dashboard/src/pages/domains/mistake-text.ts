// What went wrong with a record, in the viewer's language: by its code, with what it names.
import type { DomainMistake, DomainMistakeCode } from "@postloft/contract/domain-mistakes.ts";
import { t } from "../../text/t.ts";

type Name = "found" | "zone" | "short" | "name" | "target" | "address" | "length" | "expected" | "count";
/** Each sentence takes those that it names. */
type Values = Record<Name, string | number>;

const SENTENCES: Record<DomainMistakeCode, (values: Values) => string> = {
  "name.doubled": (values) =>
    t(
      "The record stands at {found}: your provider added {zone} to a name that had it already. Enter {short} as the name.",
      values,
    ),
  "name.left": (values) =>
    t(
      "The record stands at {found} itself. Its name has to be {name}: enter what comes before {found} as well.",
      values,
    ),
  "type.alias": (values) =>
    t(
      "{name} is an alias (CNAME) of {target}, and nothing can stand beside a CNAME. Delete the CNAME, then add the TXT record.",
      values,
    ),
  "type.address": (values) =>
    t(
      "{name} has an address ({address}) and no text: the record was added as A or CNAME, perhaps behind a proxy (Cloudflare’s orange cloud). Add it as TXT.",
      values,
    ),
  "value.quoted": () =>
    t(
      "Quotation marks became part of the value. Enter it without them: the provider adds those that DNS needs.",
    ),
  "value.cutOff": (values) =>
    t(
      "The key ends after {length} of {expected} characters. Enter the whole value; where a field takes only 255 characters, in several pieces, as the zone file has them.",
      values,
    ),
  "value.otherKey": () =>
    t("Another key stands here: one from before, or of another service. Replace it by the expected value."),
  "record.several": (values) =>
    t(
      "There are {count} records where only one may be, so receivers trust none of them. Keep one; of SPF put together what they allow.",
      values,
    ),
};

export function mistakeText({ code, values }: DomainMistake): string {
  return SENTENCES[code](values as Values);
}
