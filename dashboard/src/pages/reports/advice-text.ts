// Translates the server's advice on deliverability, which has a code and values.
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
type Values = Record<Name, string | number>;

const SENTENCES: Record<AdviceCode, (values: Values) => string> = {
  "dmarc.unsigned": (values) =>
    t(
      "{percent}% of emails from {domain} failed alignment, most from {ip} (unsigned). If you use that service, set up signing as {domain}. If not, a stricter policy blocks it.",
      values,
    ),
  "dmarc.signedByOthers": (values) =>
    t(
      "{percent}% of emails from {domain} failed alignment, most from {ip} (signed by {signers}). If you use that service, set up signing as {domain}. If not, a stricter policy blocks it.",
      values,
    ),
  "dmarc.readyForQuarantine": (values) =>
    t(
      "{percent}% of {messages} messages from {domain} are aligned. You can safely use p=quarantine to block impostors.",
      values,
    ),
  "dmarc.mailIsLost": (values) =>
    t("Receivers apply p={policy}, but {percent}% of your emails aren't aligned and may be lost.", values),
  "dmarc.noReports": (values) =>
    t(
      "No receiver sends reports for {domain}. Add rua=mailto:{address} to the DMARC record to get them daily.",
      values,
    ),
  "tls.failures": (values) =>
    t(
      "{percent}% of TLS sessions to {domain} failed ({causes}). Check the certificates and MTA-STS policy of its mail servers.",
      values,
    ),
  "provider.bounces": (values) =>
    t(
      "{percent}% of emails to {provider} bounced. Find the source of those addresses and stop sending to others from it.",
      values,
    ),
  "provider.bouncesOfCampaign": (values) =>
    t(
      "{percent}% of emails to {provider} bounced, most from campaign {campaign}. Find the source of the addresses before you send to that audience again.",
      values,
    ),
  "provider.complaints": (values) =>
    t(
      "{percent}% of emails to {provider} were reported as spam. Only email people who asked for it, and make it easy to unsubscribe.",
      values,
    ),
  "provider.complaintsOfCampaign": (values) =>
    t(
      "{percent}% of emails to {provider} were reported as spam, most from campaign {campaign}. Check whether its audience asked for your emails.",
      values,
    ),
  "provider.blocks": (values) =>
    t(
      "{provider} rejected {percent}% of emails because of its policy. Check its responses, your DNS records and block lists. Start again with your most engaged contacts.",
      values,
    ),
  "provider.deferrals": (values) =>
    t(
      "{provider} deferred {percent}% of emails at least once. Send more slowly and start with your most engaged contacts.",
      values,
    ),
  "provider.refusals": (values) =>
    t(
      "{provider} rejected {percent}% of emails to valid addresses. Send more slowly and check its responses.",
      values,
    ),
};

/** Falls back to the server's English text for codes an older page does not know. */
export function adviceText({ code, values, text }: Advice): string {
  const { provider } = values;
  const named =
    typeof provider === "string" ? { ...values, provider: PROVIDERS[provider] ?? provider } : values;
  return Object.hasOwn(SENTENCES, code) ? SENTENCES[code](named as Values) : text;
}
