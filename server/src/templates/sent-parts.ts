// Builds the parts of a message template from its written fields.
import type { TemplateType } from "@postloft/contract/templates.ts";
import { withPreviewText } from "../rendering/with-preview-text.ts";
import { withFooter } from "./with-footer.ts";

/** The written fields that determine the parts of an email. */
export interface WrittenParts {
  type: TemplateType | null;
  body: string;
  previewText: string | null;
  /** null if the text is generated from the HTML. */
  text?: string | null;
}

/** Returns the parts as they are sent: with the preview text, and for MARKETING with a place for the footer. */
export function sentParts({ type, body, previewText, text = null }: WrittenParts): {
  html: string;
  text: string | null;
} {
  const written = { html: withPreviewText(body, previewText), text };
  return type === "MARKETING" ? withFooter(written) : written;
}
