// The body of a template or a campaign and the blocks it was made of, kept together: the body is what is sent, and a design that no longer
// makes it goes (docs/decisions/0062-blocks.md).
import { DESIGN_FORMAT, type Design } from "@postloft/contract/design.ts";
import { designHtml } from "@postloft/contract/design-html.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { invalidField } from "../platform/refusal.ts";

interface Written {
  body?: string | undefined;
  design?: Readonly<Record<string, unknown>> | null | undefined;
}

/** What the contract has checked to be one of ours. */
function isBlocks(design: unknown): design is Design {
  return (
    typeof design === "object" && design !== null && "format" in design && design.format === DESIGN_FORMAT
  );
}

/**
 * What is written, with the body that its blocks make.
 * @throws Refusal VALIDATION_ERROR for a body beside blocks that make another, and for blocks that make too much.
 */
export function withMadeBody<T extends Written>(written: T): T {
  if (!isBlocks(written.design)) return written;
  const html = designHtml(written.design);
  if (Buffer.byteLength(html) > LIMITS.htmlBytes.value)
    throw invalidField("design", "too_big", `Makes more than ${LIMITS.htmlBytes.value} bytes of HTML.`);
  if (written.body !== undefined && written.body !== html)
    throw invalidField(
      "body",
      "custom",
      "Is made of the design's blocks: leave it out, or send `design` as null.",
    );
  return { ...written, body: html };
}

/** Whether an edit leaves blocks behind that would make another body. */
export function leavesDesignBehind(edit: Written, stored: { body: string; design: unknown }): boolean {
  return (
    edit.design === undefined &&
    edit.body !== undefined &&
    edit.body !== stored.body &&
    isBlocks(stored.design)
  );
}
