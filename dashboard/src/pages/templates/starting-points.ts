// Mails to begin with: plain HTML that reads well in every program and aloud (role, lang, real headings, 16 px).
// Before it: new-template-dialog.tsx. After it: the editor, where everything can be changed.
import type { TemplateType } from "@postloft/contract/templates.ts";
import { t } from "../../text/t.ts";

export interface StartingPoint {
  key: string;
  label: string;
  about: string;
  type: TemplateType;
  subject: string;
  body: string;
}

const BUTTON =
  "display:inline-block;padding:12px 20px;border-radius:6px;background:#2f3437;color:#ffffff;text-decoration:none;font-weight:600";

function mail(content: string): string {
  return `<div style="background:#f5f5f4;padding:24px 12px">
  <table role="presentation" align="center" width="100%" style="max-width:600px;margin:0 auto;background:#ffffff;border-radius:8px">
    <tr>
      <td style="padding:32px;font:16px/1.5 -apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;color:#1c1917">
${content
  .trim()
  .split("\n")
  .map((line) => `        ${line}`)
  .join("\n")}
      </td>
    </tr>
  </table>
</div>
`;
}

export const STARTING_POINTS: readonly StartingPoint[] = [
  {
    key: "blank",
    label: t("Blank"),
    about: t("A readable column, and nothing in it."),
    type: "MARKETING",
    subject: t("A subject"),
    body: mail(`<p style="margin:0">${t("Write here.")}</p>`),
  },
  {
    key: "announcement",
    label: t("Announcement"),
    about: t("A heading, a few sentences, one button."),
    type: "MARKETING",
    subject: t("Something new for you"),
    body: mail(`
<h1 style="margin:0 0 16px;font-size:24px;line-height:1.3">${t("Something new")}</h1>
<p style="margin:0 0 16px">${t("Hello")} {{firstName ?? "${t("friend")}"}},</p>
<p style="margin:0 0 24px">${t("Say in two sentences what is new and why it helps.")}</p>
<p style="margin:0"><a href="https://example.com" style="${BUTTON}">${t("See what is new")}</a></p>`),
  },
  {
    key: "receipt",
    label: t("Receipt"),
    about: t("What was bought and for how much."),
    type: "TRANSACTIONAL",
    subject: t("Your receipt"),
    body: mail(`
<h1 style="margin:0 0 16px;font-size:24px;line-height:1.3">${t("Thank you for your order")}</h1>
<table role="presentation" width="100%" style="margin:0 0 16px">
  <tr><td style="padding:8px 0">{{item}}</td><td align="right" style="padding:8px 0">{{price}}</td></tr>
</table>
<p style="margin:0">${t("Questions? Answer this mail.")}</p>`),
  },
  {
    key: "password",
    label: t("Password reset"),
    about: t("One link that ends soon."),
    type: "TRANSACTIONAL",
    subject: t("Set a new password"),
    body: mail(`
<h1 style="margin:0 0 16px;font-size:24px;line-height:1.3">${t("Set a new password")}</h1>
<p style="margin:0 0 24px"><a href="{{link}}" style="${BUTTON}">${t("Choose a new password")}</a></p>
<p style="margin:0">${t("The link holds for an hour. If it was not you, ignore this mail: nothing changes.")}</p>`),
  },
];
