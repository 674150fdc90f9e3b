// Deliverability advice by code, so that programs and the dashboard can use their own wording.
import { z } from "zod";

/** Describes a list of sentences that accompanies the same text in full. */
export const IN_PARTS = "The same text, one sentence per item, each with its code and values.";

/** Sentences by code, with `{names}` as placeholders for values. */
export const ADVICE = {
  "dmarc.unsigned":
    "{percent}% of the email sent as {domain} is not aligned, most of it from {ip} (unsigned). If you use that service, have it sign as {domain}. If not, a stricter policy blocks it.",
  "dmarc.signedByOthers":
    "{percent}% of the email sent as {domain} is not aligned, most of it from {ip} (signed by {signers}). If you use that service, have it sign as {domain}. If not, a stricter policy blocks it.",
  "dmarc.readyForQuarantine":
    "{percent}% of {messages} messages are aligned with {domain}. `p=quarantine` would block forged email without affecting yours.",
  "dmarc.mailIsLost":
    "Receivers enforce `p={policy}`, and {percent}% of the email is not aligned. Any of your email among it is lost now.",
  "dmarc.noReports":
    "No reports about {domain} arrive here. Add `rua=mailto:{address}` to its DMARC record to receive daily reports.",
  "tls.failures":
    "{percent}% of the sessions with the mail servers of {domain} failed at TLS ({causes}). Check their certificates and the MTA-STS policy.",
  "provider.bounces":
    "{percent}% of the email to {provider} bounced. Find out where those addresses came from, and stop sending to other addresses from the same source.",
  "provider.bouncesOfCampaign":
    "{percent}% of the email to {provider} bounced, most of it from the campaign {campaign}. Find out where its addresses came from before you send to that audience again.",
  "provider.complaints":
    "{percent}% of the email to {provider} was reported as spam. Send only to contacts who asked for it, and make it easy to unsubscribe.",
  "provider.complaintsOfCampaign":
    "{percent}% of the email to {provider} was reported as spam, most of it from the campaign {campaign}. Check its audience and whether these contacts asked for it.",
  "provider.blocks":
    "{provider} rejected {percent}% of the email because of its policy. Check the responses of its servers, your domain's records and blocklists, and send to your most active contacts first.",
  "provider.deferrals":
    "{provider} deferred {percent}% of the email at least once. Send more slowly, starting with your most active contacts.",
  "provider.refusals":
    "{provider} rejected or deferred {percent}% of the email although the addresses exist. Send more slowly, and check the responses of its servers.",
} as const;
export type AdviceCode = keyof typeof ADVICE;
export type AdviceValues = Readonly<Record<string, string | number>>;

/** Returns the schema of a sentence: its code, its values and its text in English. */
export const sentenceSchema = <Code extends string>(sentences: Readonly<Record<Code, string>>) =>
  z.object({
    code: z.enum(Object.keys(sentences) as [Code, ...Code[]]),
    values: z
      .record(z.string(), z.union([z.string(), z.number()]))
      .describe("The values in the sentence, by name."),
    text: z.string().describe("The sentence in English."),
  });
export const advice = sentenceSchema(ADVICE);
export type Advice = z.output<typeof advice>;

/** A sentence by its code, with its values and its text in English. */
export interface Said<Code extends string> {
  code: Code;
  values: Record<string, string | number>;
  text: string;
}

/** Returns a function that builds the sentences of a table with their values filled in. */
export function sentenceBuilderOf<Code extends string>(sentences: Readonly<Record<Code, string>>) {
  return (code: Code, values: AdviceValues = {}): Said<Code> => ({
    code,
    values,
    text: fillIn(sentences[code], values),
  });
}

/** Returns the advice for a code with its values filled in. */
export const say: (code: AdviceCode, values: AdviceValues) => Advice = sentenceBuilderOf(ADVICE);

/** Joins all sentences into one text. */
export function inOneText(said: ReadonlyArray<{ text: string }>): string {
  return said.map(({ text }) => text).join(" ");
}

/** Fills the `{names}` of a sentence with values, and formats numbers as in English. */
export function fillIn(sentence: string, values: AdviceValues): string {
  return sentence.replaceAll(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name];
    return value === undefined ? whole : value.toLocaleString("en");
  });
}
