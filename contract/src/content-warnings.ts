// Warnings about an email's content, by code, so that programs and the dashboard can use their own wording.
import { sentenceSchema, sentenceBuilderOf, type Said } from "./advice.ts";

/** Sentences by code, with `{names}` as placeholders for values. */
export const CONTENT_WARNINGS = {
  subject_blank: "The subject appears empty.",
  subject_long: "The subject is longer than {most} characters. Phones will cut it off.",
  subject_all_capitals: "The subject is all capitals, which is common in spam.",
  html_large: "The HTML is {size} kB. Gmail cuts emails off at 102 kB and hides the rest.",
  no_text: "The email has no text. It appears empty if images are off, and spam filters distrust it.",
  no_preview_text: "No preview text. Inboxes will show the first words of the email. Set `previewText`.",
  no_postal_address:
    "No postal address. Most countries require one in marketing email. Set `postalAddress` of the project, or add it at the end of the email.",
  unsubscribe_link_added:
    "The email contains neither {unsubscribe} nor {manage}, so a footer with both links is added.",
  no_unsubscribe_link:
    "Recipients can't see how to unsubscribe, because HEADLESS emails get no footer. Add {unsubscribe} or {manage}.",
  unknown_variable:
    'No contact has a value for "{name}". Recipients will see the fallback after ??, or nothing.',
  merge_tag: "{tag} is a merge tag of {service}. Write {replacement} instead.",
  merge_tag_to_remove: "{tag} is a merge tag of {service}. Remove it: Postloft does not need it.",
  merge_tag_without_equivalent:
    "{tag} is a merge tag of {service} without an equivalent in Postloft. Replace or remove it.",
  placeholder_text: 'This is still placeholder text: "{text}". Replace or remove it.',
  body_empty: "The body is empty. Recipients would see nothing.",
  unsubscribe_link_nowhere: "This unsubscribe link has no target. Set its address to {unsubscribe}.",
  link_to_example: "This link leads to {host}, which is only an example. Set the real address.",
  unsupported_element: "Email programs remove {element} or don't show it.",
  html_without_language: "<html> has no lang attribute, so screen readers have to guess the language.",
  link_without_address: "This link has no address.",
  link_not_absolute:
    "This link has an address without a scheme such as https://, so it doesn't work in an email.",
  link_not_https: "This link is not https://.",
  link_to_this_machine: "This link leads to the recipient's own computer.",
  link_shortened:
    "This link uses {host}, which hides its target, so spam filters distrust it. Use the full address.",
  link_to_ip_address:
    "This link leads to an IP address instead of a domain, which spam filters take for phishing.",
  link_text_elsewhere:
    "This link shows {shown} but leads to {host}, which looks like phishing. Use words or the real address as its text.",
  image_without_address: "This image has no address.",
  image_not_absolute:
    "This image has an address without a scheme such as https://, so it doesn't work in an email.",
  image_not_https: "This image is not https://.",
  image_to_this_machine: "This image is loaded from the recipient's own computer.",
  image_embedded: "This image is embedded in the HTML. Gmail and other programs don't show it.",
  image_without_alt: "This image has no alt text. Describe the image, or leave alt empty if it's decorative.",
  too_much_to_check: "The HTML is too large to check.",
} as const;
export type ContentWarningCode = keyof typeof CONTENT_WARNINGS;
export type ContentWarningPart = Said<ContentWarningCode>;

export const contentWarningPart = sentenceSchema<ContentWarningCode>(CONTENT_WARNINGS);
/** Returns the warning for a code with its values filled in. */
export const warnOfContent = sentenceBuilderOf<ContentWarningCode>(CONTENT_WARNINGS);
