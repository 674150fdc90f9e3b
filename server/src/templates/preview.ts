// Previews an email without sending it, and returns warnings.
import { footerLookOf } from "@postloft/contract/footer-frame.ts";
import type { TemplateType } from "@postloft/contract/templates.ts";
import type { Database } from "../platform/database/database.ts";
import { NO_ONE } from "../platform/ids.ts";
import { invalidField } from "../platform/app-error.ts";
import { hashTexts } from "../emails/outbox/emails.ts";
import type { AskedRenderer } from "../rendering/asked-renderer.ts";
import { inboxTextOf } from "../rendering/inbox-text.ts";
import {
  asksForFooter,
  BUILT_IN_VARIABLES,
  fallbackWords,
  templateVariables,
} from "../rendering/template-variables.ts";
import { getContact } from "../contacts/contacts.ts";
import { findKnownKeys } from "../contacts/fields/fields.ts";
import type { ContactLinks } from "../contacts/links.ts";
import { readDataPatch } from "../contacts/rules.ts";
import { checkContent } from "./check-content.ts";
import { readFooters, readMergeTagFacts } from "./footers.ts";
import type { Linter } from "./linter.ts";
import { listFieldNames } from "./queries.ts";
import type { Warning } from "./warnings.ts";
import { sentParts } from "./sent-parts.ts";

export interface PreviewDependencies {
  database: Database;
  renderer: AskedRenderer;
  linter: Linter;
  linksOf: (projectId: string, contactId: string) => ContactLinks;
  /** Returns the public id of a project for use in headers. */
  publicIdOf: (projectId: string) => string;
}

export interface PreviewDraft {
  subject: string;
  previewText?: string | null | undefined;
  body: string;
  type?: TemplateType | undefined;
  contactId?: string | undefined;
  data?: Readonly<Record<string, unknown>> | undefined;
}

export interface Preview {
  subject: string;
  /** The text that inboxes show after the subject. */
  previewText: string;
  html: string;
  text: string;
  warnings: Warning[];
}

const EXAMPLE_ADDRESS = "recipient@example.com";

/**
 * Renders a draft for a contact or an example recipient.
 * @throws AppError VALIDATION_ERROR for invalid variables and for content that is too slow or too large; CONTACT_NOT_FOUND
 */
export async function previewContent(
  { database, renderer, linter, linksOf }: PreviewDependencies,
  projectId: string,
  draft: PreviewDraft,
): Promise<Preview> {
  const { subject, previewText = null, body, type = null } = draft;
  const written = { subject, previewText, html: body, text: null };
  await checkContent(renderer, projectId, written, type === "MARKETING");
  const contact =
    draft.contactId === undefined ? null : await getContact(database, projectId, draft.contactId);
  const { set, transient, remove } = readDataPatch(draft.data);
  const gone = new Set(remove);
  const kept = Object.entries(contact?.data ?? {}).filter(([key]) => !gone.has(key));
  const data = { ...Object.fromEntries(kept), ...set, ...transient };
  const links = linksOf(projectId, NO_ONE);
  const content = { subject, ...sentParts({ type, body, previewText }) };
  const [footer = null] = asksForFooter(content)
    ? await readFooters(database, [
        { projectId, locale: data["locale"], look: footerLookOf(content.html), ...links },
      ])
    : [];
  const variables = templateVariables({
    id: contact?.id ?? null,
    email: contact?.email ?? EXAMPLE_ADDRESS,
    subscribed: contact?.subscribed ?? true,
    data,
    links,
    footer,
    knownFields: await findKnownKeys(database, projectId, fallbackWords(content)),
  });
  const contentKey = `preview ${hashTexts(content)}`;
  const rendered = await renderer.render(projectId, { contentKey, content, variables });
  if (!rendered.ok) throw invalidField("body", "custom", rendered.reason);
  const knownVariables = new Set([
    ...BUILT_IN_VARIABLES,
    ...Object.keys(data),
    ...(await listFieldNames(database, projectId)),
  ]);
  const renderedBytes = Buffer.byteLength(rendered.html);
  const project = await readMergeTagFacts(database, projectId);
  const warnings = await linter.lint(projectId, {
    ...written,
    type,
    knownVariables,
    renderedBytes,
    footerHasAddress: type === "MARKETING" && project.postalAddress !== null,
    project,
  });
  const { html, text } = rendered;
  return { subject: rendered.subject, previewText: inboxTextOf(html), html, text, warnings };
}
