// What the server says of DNS records and of a domain's proof, in the viewer's language: by its code, with what it names.
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
/** Each sentence takes those that it names. */
type Values = Record<Name, string | number>;

const SENTENCES: Record<DnsAdviceCode, (values: Values) => string> = {
  "dkim.missing": () =>
    t(
      "DNS has no TXT record of this name. Look at the name: many providers append the domain to what you enter.",
    ),
  "dkim.several": (values) =>
    t(
      "There are {count} TXT records of this name, and receivers may read any of them. Keep only this one.",
      values,
    ),
  "dkim.testing": () =>
    t(
      "t=y says that the key is only being tried out: receivers may treat the mail as unsigned. Take it out.",
    ),
  "dkim.notARecord": () =>
    t("The TXT record of this name is not a DKIM record. Replace it by the expected value."),
  "dkim.revoked": () =>
    t("The key is revoked: p= is empty. Put the expected value in its place, or rotate the key."),
  "dkim.otherKey": () => t("Another key is published here. Replace it by the expected value."),
  "dkim.forbidden": () =>
    t(
      "The key is there, but k=, h= or s= beside it forbid its use. Replace the record by the expected value.",
    ),
  "dkim.nextKey": () =>
    t(
      "The next key. It signs from the first check on that finds this record; until then the present one does.",
    ),
  "dkim.formerKey": (values) =>
    t(
      "The former key. Leave this record until {until}: mail that it signed may still be on its way. Then delete it.",
      values,
    ),
  "dkim.ed25519Waits": () =>
    t("The Ed25519 key. It signs beside the RSA key while DNS has this record; nothing waits for it."),
  "spf.missing": () => t("There is no SPF record."),
  "spf.askProvider": () =>
    t(
      "Your mail server's provider tells you the include: (or the addresses) that belongs before ?all; end with ~all once every server that sends for you is in it.",
    ),
  "spf.several": (values) =>
    t(
      "There are {count} SPF records, which receivers take for an error and then for none. Put what they allow into one and delete the others.",
      values,
    ),
  "spf.includesNone": (values) =>
    t(
      "{from} includes {name}, which has no SPF record, so receivers take the whole record for an error. Correct it.",
      values,
    ),
  "spf.includesSeveral": (values) =>
    t(
      "{from} includes {name}, which has {count} SPF records, so receivers take the whole record for an error. Correct it.",
      values,
    ),
  "spf.loop": (values) =>
    t(
      "{from} includes {name}, which leads back to itself, so receivers take the whole record for an error. Correct it.",
      values,
    ),
  "spf.unknownTerm": (values) =>
    t("{term} is nothing SPF knows, so receivers take the whole record for an error. Correct it.", values),
  "spf.unknownTermIn": (values) =>
    t(
      "{term} in the record of {name} is nothing SPF knows, so receivers take the whole record for an error. Correct it.",
      values,
    ),
  "spf.noHost": (values) =>
    t("{term} names no host, so receivers take the whole record for an error. Correct it.", values),
  "spf.manyHosts": (values) =>
    t(
      "{term} stands for more than {most} hosts, so receivers take the whole record for an error. Correct it.",
      values,
    ),
  "spf.lookups": (values) =>
    t(
      "The record needs {count} lookups, with what it includes; more than {most} are an error to receivers. Take out what you no longer use.",
      values,
    ),
  "spf.moreLookups": (values) =>
    t(
      "The record needs more than {count} lookups, with what it includes; more than {most} are an error to receivers. Take out what you no longer use.",
      values,
    ),
  "spf.voids": (values) =>
    t(
      "DNS has nothing for {count} names that the record looks up ({names}); more than {most} are an error to receivers. Take them out.",
      values,
    ),
  "spf.ptr": (values) =>
    t(
      "The record of {name} uses ptr, which is slow and which large receivers ignore: name the addresses instead.",
      values,
    ),
  "spf.allowsAll": (values) =>
    t("{term} lets every machine in the world send for your domain. End the record with ~all.", values),
  "spf.sendsNothing": () => t("The record says that this domain sends no mail at all."),
  "spf.noEnd": () => t("The record does not say what to think of other machines. End it with ~all."),
  "spf.ofInstallation": () =>
    t("This is the return path of all mail of the installation: whoever runs it changes its record."),
  "spf.notNeeded": (values) =>
    t(
      "There is no SPF record, and none is needed: receivers look for SPF at the return path, {returnPath}. DMARC takes either that or the DKIM signature. A few filters look here all the same.",
      values,
    ),
  "spf.notNeededElsewhere": (values) =>
    t(
      "There is no SPF record, and none is needed: receivers look for SPF at the return path, {returnPath}. DMARC takes the DKIM signature, since the return path is a domain of another. A few filters look here all the same.",
      values,
    ),
  "dmarc.missing": () =>
    t(
      "There is no DMARC record, and large receivers ask for one. p=none is fine to begin with: it changes nothing about your mail.",
    ),
  "dmarc.otherRecord": () =>
    t("The TXT record of this name does not begin with v=DMARC1, so receivers ignore it. Replace it."),
  "dmarc.several": (values) =>
    t("There are {count} DMARC records of this name, so receivers ignore all of them. Keep one.", values),
  "dmarc.noPolicy": () =>
    t(
      "The record has no valid p=, or another value in sp= or np= than none, quarantine or reject, so receivers ignore it. Correct it.",
    ),
  "dmarc.noPolicyButReports": () =>
    t(
      "The record has no valid p=, or another value in sp= or np= than none, quarantine or reject. Receivers act as if it said p=none.",
    ),
  "dmarc.obsolete": (values) =>
    t("Obsolete since RFC 9989: {tags}. Take out; what is only a test is said by t=y.", values),
  "dmarc.bareAddresses": (values) =>
    t("Without mailto: before each address no report is sent; it is missing in: {tags}.", values),
  "proof.endangered": (values) =>
    t(
      "DNS does not have the DKIM record any more: {failed} of {most} checks in a row failed. After {most} the domain is pending, and nothing is sent from it.",
      values,
    ),
  "proof.lost": (values) =>
    t(
      "The domain is pending since {since}: {most} checks in a row did not find its DKIM record. Nothing is sent from it until the record is back; that is seen without your help.",
      values,
    ),
  "proof.undecided": (values) => t("DNS did not answer ({trouble}), so nothing was decided.", values),
  "proof.elsewhere": () => t("The domain is verified in another project."),
};
/** Instants, which the viewer reads as such. */
const INSTANTS = ["until", "since"];

/** All that is said of one thing, as one text. */
export function dnsAdviceText(said: readonly DnsAdvice[]): string {
  return said.map((one) => sentenceOf(one)).join(" ");
}

/** An older page may not know the code yet; then the server's English sentence stands. */
function sentenceOf({ code, values, text }: DnsAdvice): string {
  if (!Object.hasOwn(SENTENCES, code)) return text;
  const shown = Object.entries(values).map(([name, value]) => [
    name,
    INSTANTS.includes(name) ? formatInstant(String(value)) : value,
  ]);
  return SENTENCES[code](Object.fromEntries(shown) as Values);
}
