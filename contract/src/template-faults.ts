// Faults in the variables of a template, by code, so that programs and the dashboard can use their own wording.
import { sentenceSchema, sentenceBuilderOf, type Said } from "./advice.ts";

/** Sentences by code, with `{names}` as placeholders for values. */
export const TEMPLATE_FAULTS = {
  "template.place": "Line {line}, column {column}:",
  "template.other": "{said}",
  "template.long": "The template is longer than {most} characters.",
  "template.nul": "The template contains a NUL character.",
  "template.blockOpen": "This block is never closed.",
  "template.manyMustaches": "The template has more than {most} mustaches.",
  "template.longMustaches": "The mustaches have more than {most} characters in total.",
  "template.commentOpen": "This comment is never closed.",
  "template.rawBlockOpen": "This raw block is never closed.",
  "template.mustacheOpen": "This mustache is never closed.",
  "template.mustacheLong": "This mustache is never closed or longer than {most} characters.",
  "template.stringOpen": "The string that starts here is never closed.",
  "template.nameOpen": "The [name] that starts here is never closed.",
  "template.parentheses": "Parentheses are nested deeper than {most}.",
  "template.dots": "The paths of this mustache have more than {most} dots.",
  "template.otherEnd": "This mustache starts with {open} and must end with {close}.",
  "template.partial": "Partials ({form}) are not available.",
  "template.decorator": "Decorators ({form}) are not available.",
  "template.partialOrDecorator": "Partials and decorators are not available.",
  "template.notOpened": "This closes a block that was not opened.",
  "template.outside": "This is only allowed inside a block.",
  "template.blocksDeep": "Blocks are nested deeper than {most}.",
  "template.fallbackAlone": "?? must be between two values.",
  "template.fallbackFollowed": "Only ?? may follow a value that has a fallback.",
  "template.closedAs": 'The block "{block}" is closed as "{other}".',
  "template.unexpected": "{what} is not expected here.",
  "template.oneValue": "{helper} takes exactly one value.",
  "template.twoValues": "{helper} takes exactly two values.",
  "template.severalValues": "{helper} takes at least two values.",
  "template.option": '{helper} does not know the option "{option}".',
  "template.blockHelper": 'Unknown block helper "{name}". The block helpers are {helpers}.',
  "template.isBlock": "{name} is a block helper: {form}.",
  "template.helper": 'Unknown helper "{name}".',
  "template.helperOrName":
    'Unknown helper "{name}". A name with spaces is written {form} or, with a fallback, {fallback}.',
} as const;
export type TemplateFaultCode = keyof typeof TEMPLATE_FAULTS;
export type TemplateFault = Said<TemplateFaultCode>;

export const templateFault = sentenceSchema<TemplateFaultCode>(TEMPLATE_FAULTS);
/** Returns the fault for a code with its values filled in. */
export const faultOfTemplate = sentenceBuilderOf<TemplateFaultCode>(TEMPLATE_FAULTS);
