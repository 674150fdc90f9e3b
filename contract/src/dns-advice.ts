// Advice on the DNS records and the verification of a sender domain, by code, so that programs and the dashboard can use their own wording.
import type { z } from "zod";
import { inOneText, sentenceSchema, sentenceBuilderOf, type AdviceValues } from "./advice.ts";

/** Sentences by code, with `{names}` as placeholders for values. */
export const DNS_ADVICE = {
  "dkim.missing":
    "DNS has no TXT record with this name. Check the name, because many providers append the domain to it.",
  "dkim.several":
    "There are {count} TXT records with this name, and receivers may read any of them. Keep only this one.",
  "dkim.testing":
    "`t=y` means that the key is only being tested, so receivers may treat your email as unsigned. Remove it.",
  "dkim.notARecord":
    "The TXT record with this name is not a DKIM record. Replace it with the expected value.",
  "dkim.revoked": "The key is revoked because `p=` is empty. Enter the expected value, or rotate the key.",
  "dkim.otherKey": "Another key is published here. Replace it with the expected value.",
  "dkim.forbidden":
    "The key exists, but `k=`, `h=` or `s=` in the record forbid its use. Replace the record with the expected value.",
  "dkim.nextKey":
    "The next key. It signs as soon as a check finds this record; until then the current key signs.",
  "dkim.formerKey":
    "The previous key. Keep this record until {until}, because email signed with it may still be in transit. Then delete it.",
  "dkim.ed25519Waits":
    "The Ed25519 key. It signs in addition to the RSA key while DNS has this record. The record is optional.",
  "spf.missing": "There is no SPF record.",
  "spf.askProvider":
    "Your mail server's provider documents the `include:` (or addresses) to put before `?all`. Use `~all` instead once the record covers every server that sends for you.",
  "spf.several":
    "There are {count} SPF records, which is an error for receivers, so they ignore all of them. Combine them into one and delete the others.",
  "spf.includesNone":
    "`{from}` includes `{name}`, which has no SPF record, so receivers treat the whole record as an error. Correct it.",
  "spf.includesSeveral":
    "`{from}` includes `{name}`, which has {count} SPF records, so receivers treat the whole record as an error. Correct it.",
  "spf.loop":
    "`{from}` includes `{name}`, which leads back to itself, so receivers treat the whole record as an error. Correct it.",
  "spf.unknownTerm":
    "`{term}` is not valid in SPF, so receivers treat the whole record as an error. Correct it.",
  "spf.unknownTermIn":
    "`{term}` in the record of `{name}` is not valid in SPF, so receivers treat the whole record as an error. Correct it.",
  "spf.noHost": "`{term}` contains no host, so receivers treat the whole record as an error. Correct it.",
  "spf.manyHosts":
    "`{term}` covers more than {most} hosts, so receivers treat the whole record as an error. Correct it.",
  "spf.lookups":
    "The record needs {count} lookups including its includes, but receivers allow only {most}. Remove unused entries.",
  "spf.moreLookups":
    "The record needs more than {count} lookups including its includes, but receivers allow only {most}. Remove unused entries.",
  "spf.voids":
    "{count} names in the record do not exist in DNS ({names}), but receivers allow only {most}. Remove them.",
  "spf.ptr":
    "The record of `{name}` uses `ptr`, which is slow and ignored by large receivers. Use addresses instead.",
  "spf.allowsAll":
    "`{term}` allows every server in the world to send for your domain. End the record with `~all`.",
  "spf.sendsNothing": "The record says that this domain sends no email.",
  "spf.noEnd": "The record has no rule for other servers. End it with `~all`.",
  "spf.ofInstallation":
    "This is the return path of all email of the installation, so only its administrator can change the record.",
  "spf.notNeeded":
    "There is no SPF record, and none is needed. Receivers check SPF at the return path, {returnPath}. DMARC accepts either that or the DKIM signature. A few filters check here anyway.",
  "spf.notNeededElsewhere":
    "There is no SPF record, and none is needed. Receivers check SPF at the return path, {returnPath}. DMARC relies on the DKIM signature, because the return path belongs to another domain. A few filters check here anyway.",
  "dmarc.missing":
    "There is no DMARC record, but large receivers require one. Start with `p=none`, which doesn't affect your email.",
  "dmarc.otherRecord":
    "The TXT record with this name does not begin with `v=DMARC1`, so receivers ignore it. Replace it.",
  "dmarc.several":
    "There are {count} DMARC records with this name, so receivers ignore all of them. Keep one.",
  "dmarc.noPolicy":
    "The record has no valid `p=`, or a value in `sp=` or `np=` other than none, quarantine or reject, so receivers ignore it. Correct it.",
  "dmarc.noPolicyButReports":
    "The record has no valid `p=`, or a value in `sp=` or `np=` other than none, quarantine or reject. Receivers treat it as `p=none`.",
  "dmarc.obsolete": "Obsolete since RFC 9989: {tags}. Remove them; use `t=y` for a test.",
  "dmarc.bareAddresses": "Reports are only sent to addresses with `mailto:`, which is missing in: {tags}.",
  "proof.endangered":
    "DNS no longer has the DKIM record: {failed} of {most} checks in a row failed. After {most} the domain becomes pending and can't send.",
  "proof.lost":
    "The domain is pending since {since}, because {most} checks in a row did not find its DKIM record. It can't send until the record is back, which is detected automatically.",
  "proof.undecided": "DNS did not respond ({trouble}), so the status was not changed.",
  "proof.elsewhere": "The domain is verified in another project.",
} as const;
export type DnsAdviceCode = keyof typeof DNS_ADVICE;

export const dnsAdvice = sentenceSchema<DnsAdviceCode>(DNS_ADVICE);
export type DnsAdvice = z.output<typeof dnsAdvice>;

/** Returns the sentence for a code with its values filled in. */
export const dnsMessage: (code: DnsAdviceCode, values?: AdviceValues) => DnsAdvice =
  sentenceBuilderOf(DNS_ADVICE);

/** Joins all sentences into one text, or returns null for an empty list. */
export function inWords(said: readonly DnsAdvice[]): string | null {
  return said.length === 0 ? null : inOneText(said);
}
