// Sentences on what to do about deliverability, by code: a program and the dashboard say them in words of their own.
import { z } from "zod";

/** Of what a text is made, beside the text. */
export const IN_PARTS = "The same, sentence by sentence: each with its code and what it names.";

/** By code, with `{names}` of what is filled in. */
export const ADVICE = {
  "dmarc.unsigned":
    "{percent} % of the mail as {domain} did not fit it, most of it from {ip} (unsigned). If that is a service of yours, let it sign as {domain}; if not, a stricter policy keeps it out.",
  "dmarc.signedByOthers":
    "{percent} % of the mail as {domain} did not fit it, most of it from {ip} (signed by {signers}). If that is a service of yours, let it sign as {domain}; if not, a stricter policy keeps it out.",
  "dmarc.readyForQuarantine":
    "{percent} % of {messages} messages fit {domain}: `p=quarantine` would keep out who sends as you, and hurt none of yours.",
  "dmarc.mailIsLost":
    "Receivers act on `p={policy}`, and {percent} % of the mail does not fit: what is yours among it is lost now.",
  "dmarc.noReports":
    "No receiver reports of {domain} here. Add `rua=mailto:{address}` to its DMARC record; reports then come once a day.",
  "tls.failures":
    "{percent} % of the sessions to the mail servers of {domain} failed at TLS ({causes}): look at their certificates and at the MTA-STS policy.",
  "provider.bounces":
    "{percent} % of the mail to {provider} bounced. Find out where those addresses came from, and stop sending to the others of that origin.",
  "provider.bouncesOfCampaign":
    "{percent} % of the mail to {provider} bounced, most of it of the campaign {campaign}. Find out where its addresses came from before you send to that audience again.",
  "provider.complaints":
    "{percent} % of the mail to {provider} was reported as spam. Send to who asked for it, and make it easy to leave.",
  "provider.complaintsOfCampaign":
    "{percent} % of the mail to {provider} was reported as spam, most of it of the campaign {campaign}. Look at whom it went to, and whether they asked for it.",
  "provider.blocks":
    "{provider} refused {percent} % of the mail for its policy. Look at what its servers said, at the records of your domain and at block lists, and write first to those who read you.",
  "provider.deferrals":
    "{provider} put off {percent} % of the mail at least once. Send there more slowly, and begin with those who read you.",
  "provider.refusals":
    "{provider} refused {percent} % of the mail for now or for good without the addresses being gone. Send there more slowly, and look at what its servers said.",
} as const;
export type AdviceCode = keyof typeof ADVICE;
export type AdviceValues = Readonly<Record<string, string | number>>;

/** What is said of one thing: whose code, with what it names, and in English. */
export const saidBy = <Code extends string>(sentences: Readonly<Record<Code, string>>) =>
  z.object({
    code: z.enum(Object.keys(sentences) as [Code, ...Code[]]),
    values: z
      .record(z.string(), z.union([z.string(), z.number()]))
      .describe("What the sentence names, by name."),
    text: z.string().describe("The sentence in English."),
  });
export const advice = saidBy(ADVICE);
export type Advice = z.output<typeof advice>;

/** What is said by a code: with what it names, and in English. */
export interface Said<Code extends string> {
  code: Code;
  values: Record<string, string | number>;
  text: string;
}

/** Says the sentences of a table, with their values filled in. */
export function sayerOf<Code extends string>(sentences: Readonly<Record<Code, string>>) {
  return (code: Code, values: AdviceValues = {}): Said<Code> => ({
    code,
    values,
    text: fillIn(sentences[code], values),
  });
}

/** The sentence of a code, with its values filled in. */
export const say: (code: AdviceCode, values: AdviceValues) => Advice = sayerOf(ADVICE);

/** All that is said, as one text. */
export function inOneText(said: ReadonlyArray<{ text: string }>): string {
  return said.map(({ text }) => text).join(" ");
}

/** A sentence with `{names}`, with its values filled in; numbers as English writes them. */
export function fillIn(sentence: string, values: AdviceValues): string {
  return sentence.replaceAll(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name];
    return value === undefined ? whole : value.toLocaleString("en");
  });
}
