// Builds the variables of a template from a contact's data and our built-in values (decisions §6). Pure.
import { FOOTER_HTML_VARIABLE, FOOTER_TEXT_VARIABLE } from "@postloft/contract/footer-frame.ts";

/** Returns whether a message template uses the footer, placed by its author or by us. */
export function asksForFooter({ html, text }: { html: string; text: string | null }): boolean {
  return html.includes(FOOTER_HTML_VARIABLE) || text?.includes(FOOTER_TEXT_VARIABLE) === true;
}

/** Names that are not contact data; `event` exists in workflows. */
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

/** A contact as `contact` shows it to workflows. */
export interface ContactVariable {
  id: string | null;
  email: string;
  subscribed: boolean;
  data: Readonly<Record<string, unknown>>;
}

/** What an execution of a workflow adds to the variables of its contact (decision 0127). */
export interface ExecutionVariables {
  /** The data of the event that started it, or the context with which it was started. */
  event: Readonly<Record<string, unknown>>;
  /** The results of its steps by step name. */
  steps: Readonly<Record<string, unknown>>;
  /** The contact of the execution, if the recipient is a custom address. */
  contact?: ContactVariable | undefined;
}

export interface Recipient {
  /** null once the contact was deleted. */
  id: string | null;
  email: string;
  subscribed: boolean;
  data: Readonly<Record<string, unknown>>;
  /** Only in workflows. */
  execution?: ExecutionVariables | null;
  /** The three page URLs; null without a contact. */
  links: { unsubscribeUrl: string; subscribeUrl: string; manageUrl: string } | null;
  /** The footer, if the message template uses it. */
  footer: Footer | null;
  /**
   * Fields of the project among the {@link fallbackWords} of the message template. They are variables, even if the contact has no value.
   */
  knownFields?: readonly string[];
}

/** A single word after the last `??` of a mustache. */
const FALLBACK_WORD = /\?\?(?:\s|&nbsp;){0,9}([^\s!"#%&'()*+,./;<=>?@[\\\]^`{|}~]{1,100})\s{0,9}~?\}\}/g;

/** Returns the words of a message template that are text unless a field has their name: `there` in `{{firstName ?? there}}`. */
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

/**
 * Returns every data key at the top level and under `data.`, then built-in values that data cannot replace. In a workflow, a key of the event
 * is also a variable at the top level, unless the contact has a value for it.
 */
export function templateVariables(recipient: Recipient): Record<string, unknown> {
  const { data, footer, id, email, subscribed, execution = null } = recipient;
  return {
    ...Object.fromEntries((recipient.knownFields ?? []).map((field) => [field, null])),
    ...(execution === null ? {} : presentIn(execution.event)),
    ...data,
    data,
    ...(execution === null
      ? {}
      : {
          event: execution.event,
          workflow: execution.event,
          steps: execution.steps,
          contact: execution.contact ?? { id, email, subscribed, data },
        }),
    email,
    id,
    subscribed,
    locale: data["locale"] ?? null,
    ...recipient.links,
    ...(footer === null ? {} : { [FOOTER_HTML_VARIABLE]: footer.html, [FOOTER_TEXT_VARIABLE]: footer.text }),
  };
}

/** Returns the values that are not missing: an empty string and null count as missing, as in contact data (spec §2.2). */
function presentIn(values: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null && value !== ""));
}
