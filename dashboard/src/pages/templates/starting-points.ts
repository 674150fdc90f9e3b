// Starting points for new emails: blocks that work in every client and with screen readers, or HTML for users with their own.
import { designHtml } from "@postloft/contract/design-html.ts";
import type { Block } from "@postloft/contract/design.ts";
import type { TemplateType } from "@postloft/contract/templates.ts";
import { t } from "../../text/t.ts";
import { designOf, newBlock, textOf, type BrandedProject } from "./blocks/block-tree.ts";

export interface StartingPoint {
  key: string;
  label: string;
  about: string;
  type: TemplateType;
  subject: string;
  /** HTML, or a function so that each email's blocks get new ids. */
  content: (() => Block[]) | string;
}

/** Returns the body and design of a new email in the brand of the project. HTML has no design. */
export function beginningOf({ content }: Pick<StartingPoint, "content">, project: BrandedProject) {
  if (typeof content === "string") return { body: content, design: null };
  const logo = project.logoUrl === null ? [] : [newBlock("logo", project)];
  const design = designOf([...logo, ...content()], project);
  return { body: designHtml(design), design };
}

export const heading = (text: string): Block => ({ ...newBlock("heading"), text }) as Block;
export const text = (...paragraphs: string[]): Block =>
  ({ ...newBlock("text"), text: textOf(...paragraphs) }) as Block;
export const button = (label: string, url: string): Block => ({ ...newBlock("button"), label, url }) as Block;
const right = (block: Block): Block => ({ ...block, align: "right" }) as Block;
const columns = (...cells: Block[]): Block =>
  ({ ...newBlock("columns"), columns: cells.map((cell) => [cell]) }) as Block;

export const STARTING_POINTS: readonly StartingPoint[] = [
  {
    key: "blank",
    label: t("Blank"),
    about: t("An empty layout."),
    type: "MARKETING",
    subject: t("A subject"),
    content: () => [text(t("Write here."))],
  },
  {
    key: "announcement",
    label: t("Announcement"),
    about: t("A heading, a short text and a button."),
    type: "MARKETING",
    subject: t("Something new for you"),
    content: () => [
      heading(t("Something new")),
      text(
        `${t("Hello")} {{firstName ?? "${t("friend")}"}},`,
        t("Say in two sentences what is new and why it helps."),
      ),
      button(t("See what's new"), "https://example.com"),
    ],
  },
  {
    key: "receipt",
    label: t("Receipt"),
    about: t("Order details and the total."),
    type: "TRANSACTIONAL",
    subject: t("Your receipt"),
    content: () => [
      heading(t("Thank you for your order")),
      columns(text("{{item}}"), right(text("{{price}}"))),
      newBlock("divider"),
      text(t("Questions? Reply to this email.")),
    ],
  },
  {
    key: "password",
    label: t("Password reset"),
    about: t("A link that expires soon."),
    type: "TRANSACTIONAL",
    subject: t("Reset your password"),
    content: () => [
      heading(t("Reset your password")),
      button(t("Choose a new password"), "{{link}}"),
      text(t("This link is valid for one hour. If this wasn't you, ignore this email.")),
    ],
  },
  {
    key: "html",
    label: t("Custom HTML"),
    about: t("A code editor with your variables."),
    type: "MARKETING",
    subject: t("A subject"),
    content: `<p>${t("Write here.")}</p>\n`,
  },
];
