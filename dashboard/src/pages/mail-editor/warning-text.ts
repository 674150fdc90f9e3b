// Warnings about an email in the viewer's language, by code.
import type { ContentWarningCode } from "@postloft/contract/content-warnings.ts";
import { sayAll, type SaidPart } from "../../text/say-all.ts";
import { t } from "../../text/t.ts";

type Name =
  | "tag"
  | "service"
  | "replacement"
  | "text"
  | "most"
  | "size"
  | "unsubscribe"
  | "manage"
  | "name"
  | "element"
  | "host"
  | "shown";
/** Each sentence takes those that it names. */
type Values = Record<Name, string | number>;

export const CONTENT_WARNINGS: Record<ContentWarningCode, (values: Values) => string> = {
  subject_blank: () => t("The subject shows nothing."),
  subject_long: (values) => t("The subject is longer than {most} characters; telephones cut it.", values),
  subject_all_capitals: () => t("The subject is all capitals, as spam often is."),
  html_large: (values) =>
    t("The HTML has {size} kB. Gmail cuts a mail at 102 kB, and what stands at its end is not seen.", values),
  no_text: () => t("The mail shows no text. With images off it is empty, and filters distrust it."),
  no_preview_text: () =>
    t(
      "There is no preview text: lists of mails show the first words of the body. Put a hidden element with a sentence at the beginning.",
    ),
  no_postal_address: () =>
    t(
      "There seems to be no postal address. The laws of many countries ask for the sender's name and address in advertising: set the postal address of the project, or put them at the end.",
    ),
  unsubscribe_link_added: (values) =>
    t("There is no {unsubscribe} or {manage}: a footer with both links is added.", values),
  no_unsubscribe_link: (values) =>
    t(
      "Nobody can see how to unsubscribe: this mail gets no footer. Put {unsubscribe} or {manage} into it.",
      values,
    ),
  unknown_variable: (values) =>
    t("No contact has a value for “{name}”: it shows nothing, or what stands after ??.", values),
  merge_tag: (values) => t("{tag} is a merge tag of {service}. Write {replacement} instead.", values),
  merge_tag_to_remove: (values) =>
    t("{tag} is a merge tag of {service}. Remove it: Postloft doesn't need it.", values),
  merge_tag_without_equivalent: (values) =>
    t("{tag} is a merge tag of {service} without an equivalent. Replace or remove it.", values),
  placeholder_text: (values) => t("“{text}” is placeholder text. Replace or remove it.", values),
  body_empty: () => t("The email is empty. Recipients would see nothing."),
  unsubscribe_link_nowhere: (values) =>
    t("This unsubscribe link leads nowhere. Set its address to {unsubscribe}.", values),
  link_to_example: (values) => t("This link leads to {host}, an example. Set its real address.", values),
  unsupported_element: (values) => t("Mail programs take {element} out or do not show it.", values),
  html_without_language: () => t("<html> has no lang: a reader that speaks would guess the language."),
  link_without_address: () => t("This link leads nowhere: it has no address."),
  link_not_absolute: () =>
    t("This link has an address without a beginning such as https://; in a mail it leads nowhere."),
  link_not_https: () => t("This link is not https://."),
  link_to_this_machine: () => t("This link leads to the machine of whoever opens the mail."),
  link_shortened: (values) =>
    t(
      "This link leads over {host}, which hides where it goes: filters distrust it. Put the address itself.",
      values,
    ),
  link_to_ip_address: () =>
    t("This link leads to an IP address instead of a name: filters take that for phishing."),
  link_text_elsewhere: (values) =>
    t(
      "This link shows {shown} and leads to {host}: filters and readers take that for phishing. Show words, or the address itself.",
      values,
    ),
  image_without_address: () => t("This image leads nowhere: it has no address."),
  image_not_absolute: () =>
    t("This image has an address without a beginning such as https://; in a mail it leads nowhere."),
  image_not_https: () => t("This image is not https://."),
  image_to_this_machine: () => t("This image leads to the machine of whoever opens the mail."),
  image_embedded: () => t("This image stands in the HTML itself; Gmail and others do not show it."),
  image_without_alt: () =>
    t(
      "This image has no alt: where images are off, or read aloud, nothing tells what it shows. An ornament has an empty one.",
    ),
  too_much_to_check: () => t("The HTML is too much to be looked through: no advice on it."),
};

/** A warning as one text. */
export function warningText({ messageParts }: { messageParts: readonly SaidPart[] }): string {
  return sayAll(CONTENT_WARNINGS, messageParts);
}
