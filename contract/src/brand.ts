// The brand of a project: colors, font and footer of new emails and public pages (docs/decisions/0157-brand.md).
import { z } from "zod";
import { EMAIL_FONT_NAMES } from "./email-fonts.ts";

export const FOOTER_ALIGNMENTS = ["left", "center", "right"] as const;

const colour = z
  .string()
  .regex(/^#[0-9a-fA-F]{6}$/, "Must be a color like #1a2b3c.")
  .transform((text) => text.toLowerCase());

const FIELDS = {
  background: colour.describe("Color around the email, such as #f5f5f4."),
  surface: colour.describe("Background color of the email."),
  ink: colour.describe("Text color, with a contrast of at least 4.5:1 on `surface`."),
  accent: colour.describe("Color of buttons and links. Labels on it are black or white."),
  font: z.enum(EMAIL_FONT_NAMES).describe("A stack of fonts that are installed on most devices."),
  footerAlign: z.enum(FOOTER_ALIGNMENTS).describe("Alignment of the footer that MARKETING emails get."),
  footerLogo: z.boolean().describe("Whether that footer shows the logo."),
};

export const brand = z.object(FIELDS);
export type Brand = z.output<typeof brand>;

export const brandChange = z.object(FIELDS).partial();
