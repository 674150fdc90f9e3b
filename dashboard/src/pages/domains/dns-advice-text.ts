// Translates the server's advice on DNS records and domain verification, which has a code and values.
import type { DnsAdvice, DnsAdviceCode } from "@postloft/contract/dns-advice.ts";
import { t } from "../../text/t.ts";
import { formatInstant } from "../../ui/format.ts";

type Name =
  | "count"
  | "until"
  | "from"
  | "name"
  | "term"
  | "most"
  | "names"
  | "returnPath"
  | "tags"
  | "failed"
  | "since"
  | "trouble";
type Values = Record<Name, string | number>;

const SENTENCES: Record<DnsAdviceCode, (values: Values) => string> = {
  "dkim.missing": () =>
    t("No TXT record found. Check the name, because many providers append the domain to what you enter."),
  "dkim.several": (values) => t("There are {count} TXT records with this name. Keep only this one.", values),
  "dkim.testing": () => t("t=y marks the key as a test, so receivers may ignore the signature. Remove t=y."),
  "dkim.notARecord": () => t("This TXT record isn't a DKIM record. Replace it with the expected value."),
  "dkim.revoked": () =>
    t("The key is revoked because p= is empty. Enter the expected value or rotate the key."),
  "dkim.otherKey": () => t("The record has a different key. Replace it with the expected value."),
  "dkim.forbidden": () =>
    t("The tags k=, h= or s= don't allow this key. Replace the record with the expected value."),
  "dkim.nextKey": () => t("The next key. We sign with it as soon as we find this record."),
  "dkim.formerKey": (values) =>
    t(
      "The previous key. Keep this record until {until} for emails still on their way, then delete it.",
      values,
    ),
  "dkim.ed25519Waits": () =>
    t("Optional Ed25519 key. We sign with it in addition to RSA while DNS has this record."),
  "spf.missing": () => t("No SPF record found."),
  "spf.askProvider": () =>
    t(
      "Ask your mail server's provider which include: or addresses to put before ?all. Use ~all once the record lists every server.",
    ),
  "spf.several": (values) =>
    t("There are {count} SPF records, so receivers ignore all of them. Merge them into one.", values),
  "spf.includesNone": (values) =>
    t("{from} includes {name}, which has no SPF record. This makes the whole record invalid.", values),
  "spf.includesSeveral": (values) =>
    t("{from} includes {name}, which has {count} SPF records. This makes the whole record invalid.", values),
  "spf.loop": (values) =>
    t("{from} includes {name}, which loops back. This makes the whole record invalid.", values),
  "spf.unknownTerm": (values) => t("{term} isn't valid SPF. This makes the whole record invalid.", values),
  "spf.unknownTermIn": (values) =>
    t("{term} in the record of {name} isn't valid SPF. This makes the whole record invalid.", values),
  "spf.noHost": (values) => t("{term} has no host name. This makes the whole record invalid.", values),
  "spf.manyHosts": (values) =>
    t("{term} resolves to more than {most} hosts. This makes the whole record invalid.", values),
  "spf.lookups": (values) =>
    t(
      "The record and its includes need {count} lookups, and only {most} are allowed. Remove services you no longer use.",
      values,
    ),
  "spf.moreLookups": (values) =>
    t(
      "The record and its includes need more than {count} lookups, and only {most} are allowed. Remove services you no longer use.",
      values,
    ),
  "spf.voids": (values) =>
    t(
      "The record looks up {count} names that don't exist ({names}), and only {most} are allowed. Remove them.",
      values,
    ),
  "spf.ptr": (values) =>
    t("The record of {name} uses ptr, which large receivers ignore. List the addresses instead.", values),
  "spf.allowsAll": (values) =>
    t("{term} lets any server send for your domain. End the record with ~all.", values),
  "spf.sendsNothing": () => t("The record says that this domain sends no email."),
  "spf.noEnd": () => t("The record doesn't cover other servers. End it with ~all."),
  "spf.ofInstallation": () =>
    t("All emails of this instance use this return path. Your instance admin manages its record."),
  "spf.notNeeded": (values) =>
    t(
      "You don't need an SPF record here, because receivers check the return path {returnPath}. DMARC accepts SPF or DKIM. A few filters still look here.",
      values,
    ),
  "spf.notNeededElsewhere": (values) =>
    t(
      "You don't need an SPF record here, because receivers check the return path {returnPath}. That's another domain, so DMARC uses DKIM. A few filters still look here.",
      values,
    ),
  "dmarc.missing": () =>
    t(
      "No DMARC record found. Large receivers require one. Start with p=none, which doesn't affect delivery.",
    ),
  "dmarc.otherRecord": () =>
    t("This TXT record doesn't start with v=DMARC1, so receivers ignore it. Replace it."),
  "dmarc.several": (values) =>
    t("There are {count} DMARC records, so receivers ignore all of them. Keep one.", values),
  "dmarc.noPolicy": () =>
    t("The record has an invalid p=, sp= or np=, so receivers ignore it. Use none, quarantine or reject."),
  "dmarc.noPolicyButReports": () =>
    t(
      "The record has an invalid p=, sp= or np=, so receivers treat it as p=none. Use none, quarantine or reject.",
    ),
  "dmarc.obsolete": (values) => t("Remove {tags}, obsolete since RFC 9989. Use t=y for a test.", values),
  "dmarc.bareAddresses": (values) =>
    t("Add mailto: before each address in {tags}, or you won't get reports.", values),
  "proof.endangered": (values) =>
    t(
      "We can't find the DKIM record: {failed} of {most} checks in a row failed. After {most}, you can't send from this domain.",
      values,
    ),
  "proof.lost": (values) =>
    t(
      "The DKIM record was missing in {most} checks in a row, so you can't send since {since}. Add the record back and we'll detect it automatically.",
      values,
    ),
  "proof.undecided": (values) => t("DNS didn't respond ({trouble}), so the status is unchanged.", values),
  "proof.elsewhere": () => t("The domain is verified in another project."),
};
/** Values that are timestamps and are formatted for the user. */
const INSTANTS = ["until", "since"];

/** Returns all advice as one text. */
export function dnsAdviceText(said: readonly DnsAdvice[]): string {
  return said.map((one) => sentenceOf(one)).join(" ");
}

/** Falls back to the server's English text for codes an older page does not know. */
function sentenceOf({ code, values, text }: DnsAdvice): string {
  if (!Object.hasOwn(SENTENCES, code)) return text;
  const shown = Object.entries(values).map(([name, value]) => [
    name,
    INSTANTS.includes(name) ? formatInstant(String(value)) : value,
  ]);
  return SENTENCES[code](Object.fromEntries(shown) as Values);
}
