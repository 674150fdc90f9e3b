// What a template can name: a contact's data, and what the service knows itself (decisions §6). Pure.
// Before it: prepare-emails.ts, and whoever shows what a mail would say. After it: rendering/.

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
}

/** Every data key at the top and under `data.`, then what the service knows itself, which no data can replace. */
export function templateVariables(recipient: Recipient): Record<string, unknown> {
  const { data, footer } = recipient;
  return {
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
