// What the server advises, in the viewer's language: by its code, with what it names.
import type { Advice, AdviceCode } from "@postloft/contract/advice.ts";
import { t } from "../../text/t.ts";
import { PROVIDERS } from "./names.ts";

type Name =
  | "percent"
  | "domain"
  | "ip"
  | "signers"
  | "messages"
  | "policy"
  | "address"
  | "causes"
  | "provider"
  | "campaign";
/** Each sentence takes those that it names. */
type Values = Record<Name, string | number>;

const SENTENCES: Record<AdviceCode, (values: Values) => string> = {
  "dmarc.unsigned": (values) =>
    t(
      "{percent} % of the mail as {domain} did not fit it, most of it from {ip} (unsigned). If that is a service of yours, let it sign as {domain}; if not, a stricter policy keeps it out.",
      values,
    ),
  "dmarc.signedByOthers": (values) =>
    t(
      "{percent} % of the mail as {domain} did not fit it, most of it from {ip} (signed by {signers}). If that is a service of yours, let it sign as {domain}; if not, a stricter policy keeps it out.",
      values,
    ),
  "dmarc.readyForQuarantine": (values) =>
    t(
      "{percent} % of {messages} messages fit {domain}: p=quarantine would keep out who sends as you, and hurt none of yours.",
      values,
    ),
  "dmarc.mailIsLost": (values) =>
    t(
      "Receivers act on p={policy}, and {percent} % of the mail does not fit: what is yours among it is lost now.",
      values,
    ),
  "dmarc.noReports": (values) =>
    t(
      "No receiver reports of {domain} here. Add rua=mailto:{address} to its DMARC record; reports then come once a day.",
      values,
    ),
  "tls.failures": (values) =>
    t(
      "{percent} % of the sessions to the mail servers of {domain} failed at TLS ({causes}): look at their certificates and at the MTA-STS policy.",
      values,
    ),
  "provider.bounces": (values) =>
    t(
      "{percent} % of the mail to {provider} bounced. Find out where those addresses came from, and stop sending to the others of that origin.",
      values,
    ),
  "provider.bouncesOfCampaign": (values) =>
    t(
      "{percent} % of the mail to {provider} bounced, most of it of the campaign {campaign}. Find out where its addresses came from before you send to that audience again.",
      values,
    ),
  "provider.complaints": (values) =>
    t(
      "{percent} % of the mail to {provider} was reported as spam. Send to who asked for it, and make it easy to leave.",
      values,
    ),
  "provider.complaintsOfCampaign": (values) =>
    t(
      "{percent} % of the mail to {provider} was reported as spam, most of it of the campaign {campaign}. Look at whom it went to, and whether they asked for it.",
      values,
    ),
  "provider.blocks": (values) =>
    t(
      "{provider} refused {percent} % of the mail for its policy. Look at what its servers said, at the records of your domain and at block lists, and write first to those who read you.",
      values,
    ),
  "provider.deferrals": (values) =>
    t(
      "{provider} put off {percent} % of the mail at least once. Send there more slowly, and begin with those who read you.",
      values,
    ),
  "provider.refusals": (values) =>
    t(
      "{provider} refused {percent} % of the mail for now or for good without the addresses being gone. Send there more slowly, and look at what its servers said.",
      values,
    ),
};

/** An older page may not know the code yet; then the server's English sentence stands. */
export function adviceText({ code, values, text }: Advice): string {
  const { provider } = values;
  const named =
    typeof provider === "string" ? { ...values, provider: PROVIDERS[provider] ?? provider } : values;
  return Object.hasOwn(SENTENCES, code) ? SENTENCES[code](named as Values) : text;
}
