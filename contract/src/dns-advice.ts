// Sentences on the DNS records of a sender domain and on its proof, by code: a program and the dashboard say them in words of their own.
import type { z } from "zod";
import { inOneText, saidBy, sayerOf, type AdviceValues } from "./advice.ts";

/** By code, with `{names}` of what is filled in. */
export const DNS_ADVICE = {
  "dkim.missing":
    "DNS has no TXT record of this name. Look at the name: many providers append the domain to what you enter.",
  "dkim.several":
    "There are {count} TXT records of this name, and receivers may read any of them. Keep only this one.",
  "dkim.testing":
    "`t=y` says that the key is only being tried out: receivers may treat the mail as unsigned. Take it out.",
  "dkim.notARecord": "The TXT record of this name is not a DKIM record. Replace it by the expected value.",
  "dkim.revoked":
    "The key is revoked: `p=` is empty. Put the expected value in its place, or rotate the key.",
  "dkim.otherKey": "Another key is published here. Replace it by the expected value.",
  "dkim.forbidden":
    "The key is there, but `k=`, `h=` or `s=` beside it forbid its use. Replace the record by the expected value.",
  "dkim.nextKey":
    "The next key. It signs from the first check on that finds this record; until then the present one does.",
  "dkim.formerKey":
    "The former key. Leave this record until {until}: mail that it signed may still be on its way. Then delete it.",
  "dkim.ed25519Waits":
    "The Ed25519 key. It signs beside the RSA key while DNS has this record; nothing waits for it.",
  "spf.missing": "There is no SPF record.",
  "spf.askProvider":
    "Your mail server's provider tells you the `include:` (or the addresses) that belongs before `?all`; end with `~all` once every server that sends for you is in it.",
  "spf.several":
    "There are {count} SPF records, which receivers take for an error and then for none. Put what they allow into one and delete the others.",
  "spf.includesNone":
    "`{from}` includes `{name}`, which has no SPF record, so receivers take the whole record for an error. Correct it.",
  "spf.includesSeveral":
    "`{from}` includes `{name}`, which has {count} SPF records, so receivers take the whole record for an error. Correct it.",
  "spf.loop":
    "`{from}` includes `{name}`, which leads back to itself, so receivers take the whole record for an error. Correct it.",
  "spf.unknownTerm":
    "`{term}` is nothing SPF knows, so receivers take the whole record for an error. Correct it.",
  "spf.unknownTermIn":
    "`{term}` in the record of `{name}` is nothing SPF knows, so receivers take the whole record for an error. Correct it.",
  "spf.noHost": "`{term}` names no host, so receivers take the whole record for an error. Correct it.",
  "spf.manyHosts":
    "`{term}` stands for more than {most} hosts, so receivers take the whole record for an error. Correct it.",
  "spf.lookups":
    "The record needs {count} lookups, with what it includes; more than {most} are an error to receivers. Take out what you no longer use.",
  "spf.moreLookups":
    "The record needs more than {count} lookups, with what it includes; more than {most} are an error to receivers. Take out what you no longer use.",
  "spf.voids":
    "DNS has nothing for {count} names that the record looks up ({names}); more than {most} are an error to receivers. Take them out.",
  "spf.ptr":
    "The record of `{name}` uses `ptr`, which is slow and which large receivers ignore: name the addresses instead.",
  "spf.allowsAll":
    "`{term}` lets every machine in the world send for your domain. End the record with `~all`.",
  "spf.sendsNothing": "The record says that this domain sends no mail at all.",
  "spf.noEnd": "The record does not say what to think of other machines. End it with `~all`.",
  "spf.ofInstallation":
    "This is the return path of all mail of the installation: whoever runs it changes its record.",
  "spf.notNeeded":
    "There is no SPF record, and none is needed: receivers look for SPF at the return path, {returnPath}. DMARC takes either that or the DKIM signature. A few filters look here all the same.",
  "spf.notNeededElsewhere":
    "There is no SPF record, and none is needed: receivers look for SPF at the return path, {returnPath}. DMARC takes the DKIM signature, since the return path is a domain of another. A few filters look here all the same.",
  "dmarc.missing":
    "There is no DMARC record, and large receivers ask for one. `p=none` is fine to begin with: it changes nothing about your mail.",
  "dmarc.otherRecord":
    "The TXT record of this name does not begin with `v=DMARC1`, so receivers ignore it. Replace it.",
  "dmarc.several": "There are {count} DMARC records of this name, so receivers ignore all of them. Keep one.",
  "dmarc.noPolicy":
    "The record has no valid `p=`, or another value in `sp=` or `np=` than none, quarantine or reject, so receivers ignore it. Correct it.",
  "dmarc.noPolicyButReports":
    "The record has no valid `p=`, or another value in `sp=` or `np=` than none, quarantine or reject. Receivers act as if it said `p=none`.",
  "dmarc.obsolete": "Obsolete since RFC 9989: {tags}. Take out; what is only a test is said by `t=y`.",
  "dmarc.bareAddresses": "Without `mailto:` before each address no report is sent; it is missing in: {tags}.",
  "proof.endangered":
    "DNS does not have the DKIM record any more: {failed} of {most} checks in a row failed. After {most} the domain is pending, and nothing is sent from it.",
  "proof.lost":
    "The domain is pending since {since}: {most} checks in a row did not find its DKIM record. Nothing is sent from it until the record is back; that is seen without your help.",
  "proof.undecided": "DNS did not answer ({trouble}), so nothing was decided.",
  "proof.elsewhere": "The domain is verified in another project.",
} as const;
export type DnsAdviceCode = keyof typeof DNS_ADVICE;

export const dnsAdvice = saidBy<DnsAdviceCode>(DNS_ADVICE);
export type DnsAdvice = z.output<typeof dnsAdvice>;

/** The sentence of a code, with its values filled in. */
export const sayOfDns: (code: DnsAdviceCode, values?: AdviceValues) => DnsAdvice = sayerOf(DNS_ADVICE);

/** All that is said, as one text; null where nothing is. */
export function inWords(said: readonly DnsAdvice[]): string | null {
  return said.length === 0 ? null : inOneText(said);
}
