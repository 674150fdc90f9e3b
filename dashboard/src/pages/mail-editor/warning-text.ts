// Translates warnings about an email by code.
import type { ContentWarningCode } from "@postloft/contract/content-warnings.ts";
import { translateParts, type MessagePart } from "../../text/say-all.ts";
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
type Values = Record<Name, string | number>;

export const CONTENT_WARNINGS: Record<ContentWarningCode, (values: Values) => string> = {
  subject_blank: () => t("The subject is blank."),
  subject_long: (values) => t("The subject is over {most} characters. Phones will cut it off.", values),
  subject_all_capitals: () => t("The subject is all caps, which looks like spam."),
  html_large: (values) => t("The HTML is {size} kB. Gmail cuts off everything after 102 kB.", values),
  no_text: () => t("The email has no text. With images off it's empty, and spam filters distrust it."),
  no_preview_text: () => t("No preview text. Inboxes will show the first words of the email."),
  no_postal_address: () =>
    t("No postal address. Most countries require one in marketing email. Add it in Settings."),
  unsubscribe_link_added: (values) =>
    t("No {unsubscribe} or {manage} link. We'll add an unsubscribe footer.", values),
  no_unsubscribe_link: (values) =>
    t("No unsubscribe link, and this email gets no footer. Add {unsubscribe} or {manage}.", values),
  unknown_variable: (values) =>
    t("No contact has “{name}”. Recipients will see the fallback or nothing.", values),
  merge_tag: (values) => t("{tag} is a merge tag of {service}. Write {replacement} instead.", values),
  merge_tag_to_remove: (values) =>
    t("{tag} is a merge tag of {service}. Remove it, because Postloft doesn't need it.", values),
  merge_tag_without_equivalent: (values) =>
    t("{tag} is a merge tag of {service} without an equivalent. Replace or remove it.", values),
  placeholder_text: (values) => t("“{text}” is placeholder text. Replace or remove it.", values),
  body_empty: () => t("The email is empty. Recipients would see nothing."),
  unsubscribe_link_nowhere: (values) =>
    t("This unsubscribe link has no target. Set it to {unsubscribe}.", values),
  link_to_example: (values) => t("This link points to {host}, an example. Enter the real URL.", values),
  unsupported_element: (values) => t("Email apps remove or hide {element}.", values),
  html_without_language: () => t("<html> has no lang attribute, so screen readers guess the language."),
  link_without_address: () => t("This link has no URL."),
  link_not_absolute: () => t("This link isn't a full URL. Start it with https://."),
  link_not_https: () => t("This link doesn't use https."),
  link_to_this_machine: () => t("This link points to the recipient's own computer."),
  link_shortened: (values) =>
    t("Spam filters distrust the link shortener {host}. Link to the page directly.", values),
  link_to_ip_address: () => t("This link uses an IP address, which looks like phishing. Use a domain."),
  link_text_elsewhere: (values) =>
    t(
      "This link shows {shown} but leads to {host}, which looks like phishing. Use words as the link text.",
      values,
    ),
  image_without_address: () => t("This image has no URL."),
  image_not_absolute: () => t("This image has no full URL. Start it with https://."),
  image_not_https: () => t("This image doesn't use https."),
  image_to_this_machine: () => t("This image is on the recipient's own computer."),
  image_embedded: () => t("This image is embedded in the HTML. Gmail and others don't show it."),
  image_without_alt: () =>
    t("This image has no alt text. Describe it, or leave alt empty if it's decorative."),
  too_much_to_check: () => t("The HTML is too large to check."),
};

/** Returns whether a warning only says what happens by design, so that the user needs to change nothing. */
export function isByDesign({ code }: { code: string }): boolean {
  return code === "unsubscribe_link_added";
}

export function warningText({ messageParts }: { messageParts: readonly MessagePart[] }): string {
  return translateParts(CONTENT_WARNINGS, messageParts);
}
