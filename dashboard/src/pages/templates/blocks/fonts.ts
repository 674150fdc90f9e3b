// Fonts for emails in display order.
import type { EmailFont } from "@postloft/contract/email-fonts.ts";
import { t } from "../../../text/t.ts";

/** Names of fonts are not translated. */
const FONT_NAMES: Readonly<Record<EmailFont, string>> = {
  sans: t("Sans serif"),
  serif: t("Serif"),
  arial: "Arial",
  verdana: "Verdana",
  tahoma: "Tahoma",
  trebuchet: "Trebuchet",
  times: "Times New Roman",
  mono: "Courier New",
};
export const FONT_OPTIONS = (Object.keys(FONT_NAMES) as EmailFont[]).map((value) => ({
  value,
  label: FONT_NAMES[value],
}));
