// Reusable templates for emails (decisions §6).
import type * as contract from "@postloft/contract/templates.ts";
import { domainOf } from "@postloft/contract/address.ts";
import type { TemplateType } from "@postloft/contract/templates.ts";
import type { z } from "zod";
import { asChecked, type Checked } from "../platform/checked.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import { isId, newId } from "../platform/ids.ts";
import { fittingLimit, toPage, type Page, type PageRequest } from "../platform/http/page.ts";
import { AppError, requireUnchanged } from "../platform/app-error.ts";
import type { AskedRenderer } from "../rendering/asked-renderer.ts";
import type { Domains } from "../domains/domains.ts";
import { notVerified } from "../domains/errors.ts";
import { checkContent } from "./check-content.ts";
import { fittingDesign, shownPreviewText, storedPreviewText } from "./designs.ts";
import {
  countTemplates,
  findTemplate,
  findTemplateForUpdate,
  findTemplatesById,
  insertTemplate,
  listTemplateRows,
  updateTemplateRow,
  type TemplateFields,
  type TemplateFilter,
  type TemplateRow,
  type WholeTemplateRow,
} from "./queries.ts";
import { blankAsNull, contentDiffers, copyNameOf } from "./rules.ts";
import { checkVariants } from "./variants.ts";
import { copyVariants } from "./variant-queries.ts";
import { keepVersion } from "./versions.ts";

export type TemplateView = z.output<typeof contract.template>;
export type WholeTemplateView = z.output<typeof contract.wholeTemplate>;

function present(row: TemplateRow): TemplateView {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    type: row.type as TemplateType,
    subject: row.subject,
    body: row.body,
    from: row.fromAddress,
    fromName: row.fromName,
    replyTo: row.replyTo,
    locales: row.locales,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

function presentWhole(row: WholeTemplateRow): WholeTemplateView {
  return {
    ...present(row),
    previewText: shownPreviewText(row),
    design: row.design as Record<string, unknown> | null,
  };
}

/** A template as written by a caller. undefined keeps a field and null clears it. */
export interface TemplateEdit {
  name?: string | undefined;
  description?: string | null | undefined;
  type?: TemplateType | undefined;
  subject?: string | undefined;
  previewText?: string | null | undefined;
  body?: string | undefined;
  from?: string | null | undefined;
  fromName?: string | null | undefined;
  replyTo?: string | null | undefined;
  design?: Readonly<Record<string, unknown>> | null | undefined;
}

/** An edit that applies only if the template was last changed at that time. */
export type TemplateChange = TemplateEdit & { expectedUpdatedAt?: string | undefined };

export type NewTemplate = TemplateEdit & { name: string; type: TemplateType; subject: string; body: string };

/** Returns the columns of the fields that are set. A blank description or name becomes null. */
function columnsOf(edit: TemplateEdit): Partial<TemplateFields> {
  return {
    ...(edit.name === undefined ? {} : { name: edit.name }),
    ...(edit.description === undefined ? {} : { description: blankAsNull(edit.description) }),
    ...(edit.type === undefined ? {} : { type: edit.type }),
    ...(edit.subject === undefined ? {} : { subject: edit.subject }),
    ...storedPreviewText(edit),
    ...(edit.body === undefined ? {} : { body: edit.body }),
    ...(edit.from === undefined ? {} : { fromAddress: edit.from }),
    ...(edit.fromName === undefined ? {} : { fromName: blankAsNull(edit.fromName) }),
    ...(edit.replyTo === undefined ? {} : { replyTo: edit.replyTo }),
    ...(edit.design === undefined
      ? {}
      : { design: edit.design === null ? null : JSON.stringify(edit.design) }),
  };
}

/** @throws AppError TEMPLATE_NOT_FOUND, also for the id of another project */
export async function getTemplate(
  database: Database,
  projectId: string,
  id: string,
): Promise<WholeTemplateView> {
  const row = isId(id) ? await findTemplate(database, projectId, id) : undefined;
  if (row === undefined) throw new AppError("TEMPLATE_NOT_FOUND");
  return presentWhole(row);
}

/**
 * Returns templates, newest first. `total` is counted on the first page only. Returns a partial page if the full one would be too large.
 */
export async function listTemplates(
  database: Database,
  projectId: string,
  filter: TemplateFilter,
  request: PageRequest,
): Promise<Page<TemplateView> & { total: number }> {
  const rows = await listTemplateRows(database, projectId, filter, request);
  const limit = fittingLimit(request.limit, rows);
  const total = request.before === null ? await countTemplates(database, projectId, filter) : 0;
  return { ...toPage("templates", { ...request, limit }, rows, present), total };
}

export interface TemplateDependencies {
  renderer: AskedRenderer;
  domains: Domains;
}

/** @throws AppError VALIDATION_ERROR with line and column */
export async function checkNewTemplate(
  { renderer }: TemplateDependencies,
  projectId: string,
  template: NewTemplate,
): Promise<Checked<NewTemplate>> {
  await checkContent(renderer, projectId, contentOf(template), template.type === "MARKETING");
  return asChecked(template);
}

/** @throws AppError DOMAIN_NOT_VERIFIED */
export async function createTemplate(
  tx: Tx,
  { domains }: TemplateDependencies,
  projectId: string,
  template: Checked<NewTemplate>,
): Promise<WholeTemplateView> {
  await requireVerifiedSender(tx, domains, projectId, template.from);
  const id = newId();
  const { name, type, subject, body } = template;
  const empty = {
    description: null,
    previewText: null,
    fromAddress: null,
    fromName: null,
    replyTo: null,
    design: null,
  };
  await insertTemplate(tx, projectId, id, { ...empty, ...columnsOf(template), name, type, subject, body });
  return getTemplate(tx, projectId, id);
}

/** @throws AppError VALIDATION_ERROR with line and column */
export async function checkTemplateChange(
  { renderer }: TemplateDependencies,
  projectId: string,
  edit: TemplateChange,
): Promise<Checked<TemplateChange>> {
  await checkContent(renderer, projectId, contentOf(edit), false);
  return asChecked(edit);
}

/**
 * Stores only the given fields. The previous content becomes a version.
 * @throws AppError DOMAIN_NOT_VERIFIED, TEMPLATE_NOT_FOUND or CHANGED_MEANWHILE; VALIDATION_ERROR with line and column
 */
export async function updateTemplate(
  tx: Tx,
  { renderer, domains }: TemplateDependencies,
  projectId: string,
  id: string,
  asked: Checked<TemplateChange>,
): Promise<WholeTemplateView> {
  await requireVerifiedSender(tx, domains, projectId, asked.from);
  const row = isId(id) ? await findTemplateForUpdate(tx, projectId, id) : undefined;
  if (row === undefined) throw new AppError("TEMPLATE_NOT_FOUND");
  requireUnchanged(row, asked.expectedUpdatedAt);
  const edit = fittingDesign(asked, row);
  const changes = columnsOf(edit);
  if (Object.keys(changes).length === 0) return getTemplate(tx, projectId, id);
  // Body and type may change separately, but only together they determine what is sent.
  const { type, previewText, body: html } = { ...row, ...changes };
  const isChanged = [edit.type, edit.previewText, edit.body].some((field) => field !== undefined);
  if (isChanged && (type === "MARKETING" || previewText !== null)) {
    const content = { subject: "", previewText, html, text: null };
    await checkContent(renderer, projectId, content, type === "MARKETING");
  }
  if (type === "MARKETING" && row.type !== "MARKETING") await checkVariants(tx, renderer, projectId, row.id);
  if (contentDiffers(row, changes)) await keepVersion(tx, projectId, id, null);
  await updateTemplateRow(tx, projectId, id, changes);
  return getTemplate(tx, projectId, id);
}

function contentOf({ subject, previewText, body }: TemplateEdit) {
  return { subject: subject ?? "", previewText: previewText ?? null, html: body ?? "", text: null };
}

/**
 * Requires that the project may send from an address, and locks its domain until the transaction ends.
 * @throws AppError DOMAIN_NOT_VERIFIED if email from this address could not be sent
 */
export async function requireVerifiedSender(
  tx: Tx,
  domains: Domains,
  projectId: string,
  from: string | null | undefined,
): Promise<void> {
  if (from === null || from === undefined) return;
  const domain = domainOf(from);
  await domains.hold(tx, { projectId, domain });
  const keys = await domains.findSigningKeys([{ projectId, domain }], tx);
  const key = keys.get(`${projectId} ${domain}`);
  if (key === undefined || key.kind === "refused") throw notVerified(domain);
}

/**
 * Copies a template with all of its languages under a name that marks it as a copy.
 * @throws AppError TEMPLATE_NOT_FOUND
 */
export async function duplicateTemplate(tx: Tx, projectId: string, id: string): Promise<WholeTemplateView> {
  const row = isId(id) ? await findTemplate(tx, projectId, id) : undefined;
  if (row === undefined) throw new AppError("TEMPLATE_NOT_FOUND");
  const { id: _id, createdAt: _createdAt, updatedAt: _updatedAt, locales: _locales, design, ...same } = row;
  const copyId = newId();
  await insertTemplate(tx, projectId, copyId, {
    ...same,
    name: copyNameOf(row.name),
    design: design === null ? null : JSON.stringify(design),
  });
  await copyVariants(tx, projectId, { fromId: row.id, toId: copyId });
  return getTemplate(tx, projectId, copyId);
}

type StoredTemplate = Awaited<ReturnType<typeof findTemplatesById>>[number];

/** A template with the content of one of its languages, or with its own content. */
export interface SendableTemplate extends StoredTemplate {
  /** The language of the content. Null for the template's own content. */
  locale: string | null;
}

/** Returns the templates of a batch of emails by `"<project> <template>"`. Unknown templates and those of other projects are missing. */
export async function readTemplates(
  database: Database,
  keys: ReadonlyArray<{ projectId: string; id: string }>,
): Promise<Map<string, SendableTemplate>> {
  const wanted = new Map(keys.map((key) => [`${key.projectId} ${key.id}`, key]));
  if (wanted.size === 0) return new Map();
  const rows = await findTemplatesById(database, [...wanted.values()]);
  return new Map(rows.map((row) => [`${row.projectId} ${row.id}`, { ...row, locale: null }]));
}
