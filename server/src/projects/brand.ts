// Presents and checks the brand of a project (docs/decisions/0157-brand.md).
import type { Brand } from "@postloft/contract/brand.ts";
import { contrastOf, TEXT_CONTRAST } from "@postloft/contract/color.ts";
import { isPublicHttps } from "@postloft/contract/projects.ts";
import { withValues } from "@postloft/contract/translation.ts";
import { invalidField } from "../platform/app-error.ts";
import type { Tx } from "../platform/database/database.ts";
import type { BrandColumns, OwnChanges } from "./queries.ts";

export function presentBrand(row: BrandColumns): Brand {
  return {
    background: row.brandBackground,
    surface: row.brandSurface,
    ink: row.brandInk,
    accent: row.brandAccent,
    font: row.brandFont as Brand["font"],
    footerAlign: row.brandFooterAlign as Brand["footerAlign"],
    footerLogo: row.brandFooterLogo,
  };
}

/** Returns the columns of the given fields. */
export function brandColumns({
  background,
  surface,
  ink,
  accent,
  font,
  footerAlign,
  footerLogo,
}: { [Name in keyof Brand]?: Brand[Name] | undefined }): Partial<BrandColumns> {
  return {
    ...(background === undefined ? {} : { brandBackground: background }),
    ...(surface === undefined ? {} : { brandSurface: surface }),
    ...(ink === undefined ? {} : { brandInk: ink }),
    ...(accent === undefined ? {} : { brandAccent: accent }),
    ...(font === undefined ? {} : { brandFont: font }),
    ...(footerAlign === undefined ? {} : { brandFooterAlign: footerAlign }),
    ...(footerLogo === undefined ? {} : { brandFooterLogo: footerLogo }),
  };
}

/**
 * Locks an image that the project stores, given its URL, so that it is not deleted before the commit. Returns null for a URL that is not
 * an image of the project, and otherwise whether the image exists.
 */
export type LockOwnImage = (tx: Tx, projectId: string, url: string) => Promise<boolean | null>;

/**
 * Checks the changes against the settings that stay.
 * @throws AppError VALIDATION_ERROR if text would be hard to read, or if the logo is no image of the project
 */
export async function checkBrand(
  tx: Tx,
  projectId: string,
  {
    before,
    changes,
    lockOwnImage,
  }: { before: BrandColumns; changes: OwnChanges; lockOwnImage: LockOwnImage },
): Promise<void> {
  if (changes.brandInk !== undefined || changes.brandSurface !== undefined)
    requireContrast({ ...before, ...changes });
  const { logoUrl = null } = changes;
  if (logoUrl === null) return;
  const exists = await lockOwnImage(tx, projectId, logoUrl);
  if (exists === false)
    throw invalidField("logoUrl", "custom", "The image was deleted. Upload it again, or choose another one.");
  if (exists === null && !isPublicHttps(logoUrl))
    throw invalidField(
      "logoUrl",
      "invalid_string",
      "Must be an image of this project, or an https address without a user name, a password or a port.",
    );
}

function requireContrast({ brandInk, brandSurface }: BrandColumns): void {
  const contrast = contrastOf(brandInk, brandSurface);
  if (contrast < TEXT_CONTRAST)
    throw invalidField(
      "brand.ink",
      "custom",
      withValues(
        "The text is hard to read on the background: the contrast is {contrast}:1, and at least {least}:1 is needed. Choose a darker or a lighter color.",
        // Rounded down, so that a contrast just below the limit doesn't look like the limit.
        { contrast: Math.floor(contrast * 10) / 10, least: TEXT_CONTRAST },
      ),
    );
}
