// Calculates with colors written as #rrggbb: contrast by WCAG 2.2, and colors that are readable on others.

/** The minimum contrast between text and its background (WCAG 2.2, level AA). */
export const TEXT_CONTRAST = 4.5;
/** The least contrast of the edge of a button. */
export const EDGE_CONTRAST = 3;
/** Steps from a color to black or white. */
const SHARES = Array.from({ length: 20 }, (_, step) => step / 20);

const channelsOf = (colour: string) =>
  [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16)) as [number, number, number];

function luminanceOf(colour: string): number {
  const [red, green, blue] = channelsOf(colour).map((channel) => {
    const share = channel / 255;
    return share <= 0.040_45 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Returns the contrast of two colors, from 1 to 21. */
export function contrastOf(one: string, other: string): number {
  const [a, b] = [luminanceOf(one), luminanceOf(other)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

/** Returns white or black, depending on which is easier to read on a color. */
export function inkOn(colour: string): string {
  return contrastOf("#ffffff", colour) >= contrastOf("#000000", colour) ? "#ffffff" : "#000000";
}

/** Returns the color if text in it is readable on the background, or else white or black. */
export function legibleInk(ink: string, background: string): string {
  return contrastOf(ink, background) >= TEXT_CONTRAST ? ink : inkOn(background);
}

/** Mixes two colors. The second one has the given share, from 0 to 1. */
export function mixed(one: string, other: string, share: number): string {
  const added = channelsOf(other);
  const channels = channelsOf(one).map((channel, at) => channel + ((added[at] ?? 0) - channel) * share);
  return `#${channels.map((channel) => Math.round(channel).toString(16).padStart(2, "0")).join("")}`;
}

/** Returns the color, made darker or lighter until it has the contrast on the background. */
export function readableOn(colour: string, background: string, contrast = TEXT_CONTRAST): string {
  const ink = inkOn(background);
  return (
    SHARES.map((share) => mixed(colour, ink, share)).find(
      (candidate) => contrastOf(candidate, background) >= contrast,
    ) ?? ink
  );
}

/** Returns the color of less important text: the ink, mixed with the background as far as it stays readable. */
export function softInk(ink: string, background: string): string {
  return readableOn(mixed(ink, background, 0.3), background);
}
