// Keeps the body of a template or campaign consistent with its design blocks. The body is what gets sent, and a design that no longer
// produces the body is dropped (docs/decisions/0062-blocks.md).
import { DESIGN_FORMAT, type Design } from "@postloft/contract/design.ts";
import { designHtml, withoutPreviewPadding } from "@postloft/contract/design-html.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { withValues } from "@postloft/contract/translation.ts";
import { invalidField } from "../platform/app-error.ts";
import { blankAsNull } from "./rules.ts";

interface Written {
  previewText?: string | null | undefined;
  body?: string | undefined;
  design?: Readonly<Record<string, unknown>> | null | undefined;
}

/** Returns whether a design is one of ours; the contract has checked its content. */
function isBlocks(design: unknown): design is Design {
  return (
    typeof design === "object" && design !== null && "format" in design && design.format === DESIGN_FORMAT
  );
}

/** The stored fields of an email that determine its preview text. */
export interface StoredDesign {
  design: unknown;
  previewText: string | null;
}

/** Returns the preview text of an email, which for blocks is in the design. Null if there is none. */
export function shownPreviewText({ design, previewText }: StoredDesign): string | null {
  return isBlocks(design) ? blankAsNull(design.preheader) : previewText;
}

/** Returns the column of an edit that sets the preview text or blocks. Blocks have it in their design only. */
export function storedPreviewText({
  design,
  previewText,
}: {
  design?: unknown;
  previewText?: string | null | undefined;
}): { previewText?: string | null } {
  if (isBlocks(design)) return { previewText: null };
  return previewText === undefined ? {} : { previewText: blankAsNull(previewText) };
}

/**
 * Returns the input with the body rendered from its blocks, and with its preview text in the design.
 * @throws AppError VALIDATION_ERROR for a preview text or a body that differs from the blocks, and for blocks that render too much HTML
 */
export function withMadeBody<T extends Written>(written: T): T {
  if (!isBlocks(written.design)) return written;
  const design = withPreheader(written.design, written.previewText ?? "");
  const html = designHtml(design);
  if (Buffer.byteLength(html) > LIMITS.htmlBytes.value)
    throw invalidField(
      "design",
      "too_big",
      withValues("The design produces more than {most} bytes of HTML.", { most: LIMITS.htmlBytes.value }),
    );
  // A body that was stored by an earlier version has no padding.
  const madeBodies = [html, designHtml(written.design), withoutPreviewPadding(html)];
  if (written.body !== undefined && !madeBodies.includes(written.body))
    throw invalidField(
      "body",
      "custom",
      "The body is generated from the design's blocks. Remove this field, or send `design` as null.",
    );
  return { ...written, design, previewText: null, body: html };
}

function withPreheader(design: Design, previewText: string): Design {
  if (previewText === "" || previewText === design.preheader) return design;
  if (design.preheader === "") return { ...design, preheader: previewText };
  throw invalidField(
    "previewText",
    "custom",
    "The design has a different `preheader`. Remove this field, or send the same text in both.",
  );
}

/**
 * Returns an edit that fits the stored design. Another body drops blocks that would render a different one, and another preview text
 * changes the blocks.
 * @throws AppError VALIDATION_ERROR for blocks that render too much HTML
 */
export function fittingDesign<T extends Written>(edit: T, stored: { body: string; design: unknown }): T {
  if (edit.design !== undefined || !isBlocks(stored.design)) return edit;
  if (edit.body !== undefined && edit.body !== stored.body) return { ...edit, design: null };
  if (edit.previewText === undefined) return edit;
  const design = { ...stored.design, preheader: edit.previewText ?? "" };
  return withMadeBody({ ...edit, body: undefined, design });
}
