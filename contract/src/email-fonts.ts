// Fonts for emails: stacks of fonts that are installed on most devices, because few email programs load others.

export const EMAIL_FONTS = {
  sans: "-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif",
  serif: "Georgia,'Times New Roman',serif",
  arial: "Arial,Helvetica,sans-serif",
  verdana: "Verdana,Geneva,sans-serif",
  tahoma: "Tahoma,Verdana,sans-serif",
  trebuchet: "'Trebuchet MS',Tahoma,sans-serif",
  times: "'Times New Roman',Times,serif",
  mono: "'Courier New',Courier,monospace",
} as const;

export type EmailFont = keyof typeof EMAIL_FONTS;
export const EMAIL_FONT_NAMES = Object.keys(EMAIL_FONTS) as [EmailFont, ...EmailFont[]];
