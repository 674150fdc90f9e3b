// Builds emails from blocks, as people do in the editor.
import { DESIGN_FORMAT } from "@postloft/contract/design.ts";

/** The text of an email. */
export interface Written {
  name: string;
  subject: string;
  blocks: readonly object[];
  /** The addresses of its links, the most attractive first. */
  links: readonly string[];
}

const LOOK = {
  background: "#eef0f7",
  surface: "#ffffff",
  ink: "#17181c",
  accent: "#4a4fd6",
  font: "sans",
  width: 600,
};

export const heading = (text: string) => ({ kind: "heading", level: 1, text, align: "left" });
export const paragraph = (text: string) => ({
  kind: "text",
  align: "left",
  text: { type: "doc", content: [{ type: "paragraph", content: [{ type: "text", text }] }] },
});
export const button = (label: string, url: string) => ({ kind: "button", label, url, align: "left" });

/** Returns the design of an email. Its blocks get numbers as IDs. */
export function blocks(parts: readonly object[], hasFooter: boolean) {
  const all = hasFooter ? [...parts, { kind: "footer", align: "center" }] : parts;
  const numbered = all.map((part, at) => ({ id: `block-${at + 1}`, ...part }));
  return { format: DESIGN_FORMAT, version: 1, look: LOOK, language: "en", preheader: "", blocks: numbered };
}
