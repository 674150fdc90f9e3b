// The variables of a template: a contact's data, and what the service knows itself (decisions §6). Pure.

/** Filled in where a content has the footer of marketing mails; HTML, and lines of text. */
export const FOOTER_HTML_VARIABLE = "unsubscribeFooterHtml";
export const FOOTER_TEXT_VARIABLE = "unsubscribeFooterText";

/** Whether a content asks for the footer, placed by its author or by the service. */
export function asksForFooter({ html, text }: { html: string; text: string | null }): boolean {
  return html.includes(FOOTER_HTML_VARIABLE) || text?.includes(FOOTER_TEXT_VARIABLE) === true;
}

/** The names that are no data of a contact; `event` is there in workflows. */
export const BUILT_IN_VARIABLES: readonly string[] = [
  FOOTER_HTML_VARIABLE,
  FOOTER_TEXT_VARIABLE,
  "data",
  "email",
  "id",
  "subscribed",
  "locale",
  "unsubscribeUrl",
  "subscribeUrl",
  "manageUrl",
  "event",
];

export interface Footer {
  html: string;
  text: string;
}

export interface Recipient {
  /** null once the contact was deleted. */
  id: string | null;
  email: string;
  subscribed: boolean;
  data: Readonly<Record<string, unknown>>;
  /** The three addresses, where there is a contact to make them for. */
  links: { unsubscribeUrl: string; subscribeUrl: string; manageUrl: string } | null;
  /** The footer, where the content asks for it. */
  footer: Footer | null;
  /** Fields of the project among the {@link fallbackWords} of the content. They are variables, even if the contact has no value. */
  knownFields?: readonly string[];
}

/** A single word after the last `??` of a mustache. */
const FALLBACK_WORD = /\?\?(?:\s|&nbsp;){0,9}([^\s!"#%&'()*+,./;<=>?@[\\\]^`{|}~]{1,100})\s{0,9}~?\}\}/g;

/** Returns the words of a content that are text unless a field has their name: `there` in `{{firstName ?? there}}`. */
export function fallbackWords({ subject, html, text }: FallbackSource): string[] {
  const parts = [subject, html, text ?? ""].filter((part) => part.includes("??"));
  return [
    ...new Set(parts.flatMap((part) => [...part.matchAll(FALLBACK_WORD)].map(([, word = ""]) => word))),
  ];
}

interface FallbackSource {
  subject: string;
  html: string;
  text: string | null;
}

/** Every data key at the top and under `data.`, then what the service knows itself, which no data can replace. */
export function templateVariables(recipient: Recipient): Record<string, unknown> {
  const { data, footer } = recipient;
  return {
    ...Object.fromEntries((recipient.knownFields ?? []).map((field) => [field, null])),
    ...data,
    data,
    email: recipient.email,
    id: recipient.id,
    subscribed: recipient.subscribed,
    locale: data["locale"] ?? null,
    ...recipient.links,
    ...(footer === null ? {} : { [FOOTER_HTML_VARIABLE]: footer.html, [FOOTER_TEXT_VARIABLE]: footer.text }),
  };
}
