// Translates mistakes in DNS records, which the server sends as a code and values.
import type { DomainMistake, DomainMistakeCode } from "@postloft/contract/domain-mistakes.ts";
import { t } from "../../text/t.ts";

type Name = "found" | "zone" | "short" | "name" | "target" | "address" | "length" | "expected" | "count";
type Values = Record<Name, string | number>;

const SENTENCES: Record<DomainMistakeCode, (values: Values) => string> = {
  "name.doubled": (values) =>
    t("The record is at {found} because your provider appended {zone}. Enter {short} as the name.", values),
  "name.left": (values) =>
    t("The record is at {found} but should be at {name}. Enter the part before {found} as the name.", values),
  "type.alias": (values) =>
    t(
      "{name} is a CNAME to {target}, and no other record can share that name. Delete the CNAME, then add the TXT record.",
      values,
    ),
  "type.address": (values) =>
    t(
      "{name} has an address ({address}) instead of text. Add the record as TXT without a proxy (Cloudflare’s orange cloud).",
      values,
    ),
  "value.quoted": () => t("Remove the quotation marks from the value. Your provider adds them where needed."),
  "value.cutOff": (values) =>
    t(
      "The key is cut off after {length} of {expected} characters. Enter the full value, split into parts of 255 characters if needed, as in the zone file.",
      values,
    ),
  "value.otherKey": () =>
    t("The record has an old key or another service's key. Replace it with the expected value."),
  "record.several": (values) =>
    t("There are {count} records but only one is allowed. Keep one, and merge SPF records.", values),
};

export function mistakeText({ code, values }: DomainMistake): string {
  return SENTENCES[code](values as Values);
}
