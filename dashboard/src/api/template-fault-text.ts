// Translates template errors, which the server sends as a code and values.
import type { TemplateFaultCode } from "@postloft/contract/template-faults.ts";
import { t } from "../text/t.ts";

type Name =
  | "line"
  | "column"
  | "most"
  | "open"
  | "close"
  | "form"
  | "block"
  | "other"
  | "what"
  | "helper"
  | "option"
  | "name"
  | "helpers"
  | "said"
  | "fallback";
type Values = Record<Name, string | number>;

/** Translations of the server's names for tokens; all other tokens appear unchanged. */
const SIGNS: Readonly<Record<string, string>> = {
  This: t("This"),
  "The end of the template": t("The end of the template"),
  "The end of the mustache": t("The end of the expression"),
  "This character": t("This character"),
  "A dot or slash": t("A dot or slash"),
  "A string": t("A string"),
  "A number": t("A number"),
  "A name": t("A name"),
  "The end of a block": t("The end of a block"),
};

export const TEMPLATE_FAULTS: Record<TemplateFaultCode, (values: Values) => string> = {
  "template.place": (values) => t("Line {line}, column {column}:", values),
  "template.other": ({ said }) => String(said),
  "template.long": (values) => t("The template is longer than {most} characters.", values),
  "template.nul": () => t("The template contains a NUL character."),
  "template.blockOpen": () => t("This block is never closed."),
  "template.manyMustaches": (values) => t("The template has more than {most} expressions.", values),
  "template.longMustaches": (values) =>
    t("The template's expressions have more than {most} characters in total.", values),
  "template.commentOpen": () => t("This comment is never closed."),
  "template.rawBlockOpen": () => t("This raw block is never closed."),
  "template.mustacheOpen": () => t("This expression is never closed."),
  "template.mustacheLong": (values) =>
    t("This expression is never closed or longer than {most} characters.", values),
  "template.stringOpen": () => t("The string that starts here is never closed."),
  "template.nameOpen": () => t("The [name] that starts here is never closed."),
  "template.parentheses": (values) => t("Parentheses are nested deeper than {most}.", values),
  "template.dots": (values) => t("The paths in this expression have more than {most} dots.", values),
  "template.otherEnd": (values) => t("This expression starts with {open} and must end with {close}.", values),
  "template.partial": (values) => t("Partials ({form}) aren't supported.", values),
  "template.decorator": (values) => t("Decorators ({form}) aren't supported.", values),
  "template.partialOrDecorator": () => t("Partials and decorators aren't supported."),
  "template.notOpened": () => t("This closes a block that was never opened."),
  "template.outside": () => t("This must be inside a block."),
  "template.blocksDeep": (values) => t("Blocks are nested deeper than {most}.", values),
  "template.fallbackAlone": () => t("Put ?? between two values."),
  "template.fallbackFollowed": () => t("Only ?? can follow a value with a fallback."),
  "template.closedAs": (values) => t("The block “{block}” is closed as “{other}”.", values),
  "template.unexpected": ({ what }) =>
    t("{what} isn't expected here.", { what: SIGNS[String(what)] ?? what }),
  "template.oneValue": (values) => t("{helper} needs exactly one value.", values),
  "template.twoValues": (values) => t("{helper} needs exactly two values.", values),
  "template.severalValues": (values) => t("{helper} needs at least two values.", values),
  "template.option": (values) => t("{helper} doesn't have the option “{option}”.", values),
  "template.blockHelper": (values) => t("Unknown block helper “{name}”. Use {helpers}.", values),
  "template.isBlock": (values) => t("{name} is a block helper. Write {form}.", values),
  "template.helper": (values) => t("Unknown helper “{name}”.", values),
  "template.helperOrName": (values) =>
    t("Unknown helper “{name}”. For a name with spaces, write {form} or {fallback}.", values),
};
