// Keeps the body of a template or campaign consistent with its design blocks. The body is what gets sent, and a design that no longer
// produces the body is dropped (docs/decisions/0062-blocks.md).
import { DESIGN_FORMAT, type Design } from "@postloft/contract/design.ts";
import { designHtml } from "@postloft/contract/design-html.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { withValues } from "@postloft/contract/translation.ts";
import { invalidField } from "../platform/app-error.ts";

interface Written {
  body?: string | undefined;
  design?: Readonly<Record<string, unknown>> | null | undefined;
}

/** Returns whether a design is one of ours; the contract has checked its content. */
function isBlocks(design: unknown): design is Design {
  return (
    typeof design === "object" && design !== null && "format" in design && design.format === DESIGN_FORMAT
  );
}

/**
 * Returns the input with the body rendered from its blocks.
 * @throws AppError VALIDATION_ERROR for a body that differs from the rendered blocks, and for blocks that render too much HTML
 */
export function withMadeBody<T extends Written>(written: T): T {
  if (!isBlocks(written.design)) return written;
  const html = designHtml(written.design);
  if (Buffer.byteLength(html) > LIMITS.htmlBytes.value)
    throw invalidField(
      "design",
      "too_big",
      withValues("The design produces more than {most} bytes of HTML.", { most: LIMITS.htmlBytes.value }),
    );
  if (written.body !== undefined && written.body !== html)
    throw invalidField(
      "body",
      "custom",
      "The body is generated from the design's blocks. Remove this field, or send `design` as null.",
    );
  return { ...written, body: html };
}

/** Returns whether an edit changes the body but keeps blocks that would render a different body. */
export function leavesDesignBehind(edit: Written, stored: { body: string; design: unknown }): boolean {
  return (
    edit.design === undefined &&
    edit.body !== undefined &&
    edit.body !== stored.body &&
    isBlocks(stored.design)
  );
}
