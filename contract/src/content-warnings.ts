// Warnings about an email, by code: a program and the dashboard say them in words of their own.
import { saidBy, sayerOf, type Said } from "./advice.ts";

/** By code, with `{names}` of what is filled in. */
export const CONTENT_WARNINGS = {
  subject_blank: "The subject shows nothing.",
  subject_long: "The subject is longer than {most} characters; telephones cut it.",
  subject_all_capitals: "The subject is all capitals, as spam often is.",
  html_large: "The HTML has {size} kB. Gmail cuts a mail at 102 kB, and what stands at its end is not seen.",
  no_text: "The mail shows no text. With images off it is empty, and filters distrust it.",
  no_preview_text:
    "There is no preview text: lists of mails show the first words of the body. Put a hidden element with a sentence at the beginning.",
  no_postal_address:
    "There seems to be no postal address. The laws of many countries ask for the sender's name and address in advertising: set `postalAddress` of the project, or put them at the end.",
  unsubscribe_link_added: "There is no {unsubscribe} or {manage}: a footer with both links is added.",
  no_unsubscribe_link:
    "Nobody can see how to unsubscribe: a HEADLESS mail gets no footer. Put {unsubscribe} or {manage} into it.",
  unknown_variable: 'No contact has a value for "{name}": it shows nothing, or what stands after ??.',
  merge_tag: "{tag} is a merge tag of {service}. Write {replacement} instead.",
  merge_tag_to_remove: "{tag} is a merge tag of {service}. Remove it: Postloft does not need it.",
  merge_tag_without_equivalent:
    "{tag} is a merge tag of {service} without an equivalent in Postloft. Replace or remove it.",
  placeholder_text: 'This is still placeholder text: "{text}". Replace or remove it.',
  body_empty: "The body is empty. Recipients would see nothing.",
  unsubscribe_link_nowhere: "This unsubscribe link leads nowhere. Set its address to {unsubscribe}.",
  link_to_example: "This link leads to {host}, which is only an example. Set its real address.",
  unsupported_element: "Mail programs take {element} out or do not show it.",
  html_without_language: "<html> has no lang: a reader that speaks would guess the language.",
  link_without_address: "This link leads nowhere: it has no address.",
  link_not_absolute:
    "This link has an address without a beginning such as https://; in a mail it leads nowhere.",
  link_not_https: "This link is not https://.",
  link_to_this_machine: "This link leads to the machine of whoever opens the mail.",
  link_shortened:
    "This link leads over {host}, which hides where it goes: filters distrust it. Put the address itself.",
  link_to_ip_address: "This link leads to an IP address instead of a name: filters take that for phishing.",
  link_text_elsewhere:
    "This link shows {shown} and leads to {host}: filters and readers take that for phishing. Show words, or the address itself.",
  image_without_address: "This image leads nowhere: it has no address.",
  image_not_absolute:
    "This image has an address without a beginning such as https://; in a mail it leads nowhere.",
  image_not_https: "This image is not https://.",
  image_to_this_machine: "This image leads to the machine of whoever opens the mail.",
  image_embedded: "This image stands in the HTML itself; Gmail and others do not show it.",
  image_without_alt:
    "This image has no alt: where images are off, or read aloud, nothing tells what it shows. An ornament has an empty one.",
  too_much_to_check: "The HTML is too much to be looked through: no advice on it.",
} as const;
export type ContentWarningCode = keyof typeof CONTENT_WARNINGS;
export type ContentWarningPart = Said<ContentWarningCode>;

export const contentWarningPart = saidBy<ContentWarningCode>(CONTENT_WARNINGS);
/** The warning of a code, with its values filled in. */
export const warnOfContent = sayerOf<ContentWarningCode>(CONTENT_WARNINGS);
