// Campaigns as records: create, read, list, replace, copy and delete, with the counts of their emails.
import type { AudienceType, CampaignKind } from "@postloft/contract/campaigns.ts";
import type { Filter } from "@postloft/contract/filters.ts";
import { asChecked, type Checked } from "../platform/checked.ts";
import { asMessage, withValues } from "@postloft/contract/translation.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import { isId, newId } from "../platform/ids.ts";
import { toPage, type PageRequest } from "../platform/http/page.ts";
import { AppError, requireUnchanged } from "../platform/app-error.ts";
import { countByProvider, countRecipients } from "../emails/outbox/campaign-emails.ts";
import { readThrottledDomains } from "../emails/throttling/throttled-domains.ts";
import type { AskedRenderer } from "../rendering/asked-renderer.ts";
import type { Domains } from "../domains/domains.ts";
import { checkContent } from "../templates/check-content.ts";
import { shownPreviewText, storedPreviewText } from "../templates/designs.ts";
import { requireVerifiedSender } from "../templates/templates.ts";
import { copyNameOf } from "../templates/rules.ts";
import { audienceOf, audienceOfRow } from "./audience.ts";
import { requireFinished, type LintParts } from "./content-blocks.ts";
import { presentCampaign, type CampaignView } from "./present-campaign.ts";
import {
  countCampaigns,
  deleteCampaignRow,
  findCampaign,
  findCampaignForUpdate,
  insertCampaign,
  listCampaignRows,
  updateCampaignTexts,
  type CampaignFilter,
  type CampaignRow,
  type CampaignTexts,
} from "./queries.ts";
import { mailRatesOf, ratesOf } from "./rules.ts";

export interface CampaignDependencies {
  renderer: AskedRenderer;
  domains: Domains;
}

/** @throws AppError CAMPAIGN_NOT_FOUND, also for a campaign of another project */
export async function getCampaignRow(
  database: Database,
  projectId: string,
  id: string,
): Promise<CampaignRow> {
  const row = isId(id) ? await findCampaign(database, projectId, id) : undefined;
  if (row === undefined) throw new AppError("CAMPAIGN_NOT_FOUND");
  return row;
}

/** @throws AppError CAMPAIGN_NOT_FOUND */
export async function getCampaign(database: Database, projectId: string, id: string): Promise<CampaignView> {
  const row = await getCampaignRow(database, projectId, id);
  const [counts] = await countRecipients(database, projectId, [row.id]);
  const pausedDestinations =
    row.finishedAt === null ? await readThrottledDomains(database, { projectId, campaignId: row.id }) : [];
  return {
    ...presentCampaign(row, counts),
    previewText: shownPreviewText(row),
    body: row.body,
    design: row.design as CampaignView["design"],
    audienceFilter: row.audienceFilter,
    pausedDestinations,
  };
}

/**
 * Returns counts and rates in percent.
 * @throws AppError CAMPAIGN_NOT_FOUND
 */
export async function getStats(database: Database, projectId: string, id: string) {
  const row = await getCampaignRow(database, projectId, id);
  const [counts] = await countRecipients(database, projectId, [row.id]);
  if (counts === undefined) throw new Error("Counts of the campaign are missing.");
  return { ...counts, ...ratesOf(counts) };
}

/**
 * Returns the same by mailbox provider, most emails first.
 * @throws AppError CAMPAIGN_NOT_FOUND
 */
export async function listProviders(database: Database, projectId: string, id: string) {
  const { id: campaignId } = await getCampaignRow(database, projectId, id);
  const providers = await countByProvider(database, { projectId, campaignId });
  const isReported = providers.some(({ deliveredCount }) => deliveredCount > 0);
  return providers.map((counts) => ({ ...counts, ...mailRatesOf(counts, isReported) }));
}

/** Returns campaigns newest first, in the page shape of the spec and as a cursor list. */
export async function listCampaigns(
  database: Database,
  projectId: string,
  filter: CampaignFilter,
  request: PageRequest,
) {
  const rows = await listCampaignRows(database, projectId, filter, request);
  const ids = rows.map((row) => row.id);
  const counts = await countRecipients(database, projectId, ids);
  const page = toPage("campaigns", request, rows, (row) => presentCampaign(row, counts[ids.indexOf(row.id)]));
  const { total, before } = await countCampaigns(database, projectId, filter, request.before);
  return {
    campaigns: page.data,
    ...page,
    page: Math.ceil(before / request.limit) + 1,
    pageSize: request.limit,
    total,
    totalPages: Math.ceil(total / request.limit),
  };
}

export interface CampaignInput {
  name: string;
  description?: string | null | undefined;
  subject: string;
  previewText?: string | null | undefined;
  body: string;
  /** The editor's document from which the body was made. */
  design?: Readonly<Record<string, unknown>> | null | undefined;
  from: string;
  fromName?: string | null | undefined;
  replyTo?: string | null | undefined;
  kind: CampaignKind;
  audienceType: AudienceType;
  segmentId?: string | null | undefined;
  audienceFilter: Filter | null;
}

function textsOf(input: CampaignInput): CampaignTexts {
  return {
    name: input.name,
    description: input.description ?? null,
    subject: input.subject,
    previewText: storedPreviewText(input).previewText ?? null,
    body: input.body,
    design: (input.design ?? null) === null ? null : JSON.stringify(input.design),
    fromAddress: input.from,
    fromName: input.fromName ?? null,
    replyTo: input.replyTo ?? null,
    kind: input.kind,
    audienceType: input.audienceType,
    segmentId: input.audienceType === "SEGMENT" ? (input.segmentId ?? null) : null,
    audienceFilter: input.audienceType === "FILTERED" ? JSON.stringify(input.audienceFilter) : null,
  };
}

/** @throws AppError VALIDATION_ERROR */
export async function checkNewCampaign(
  { renderer }: CampaignDependencies,
  projectId: string,
  input: CampaignInput,
): Promise<Checked<CampaignInput>> {
  await checkTexts(renderer, projectId, input);
  return asChecked(input);
}

/** @throws AppError DOMAIN_NOT_VERIFIED, or VALIDATION_ERROR for the audience */
export async function createCampaign(
  tx: Tx,
  { domains }: CampaignDependencies,
  projectId: string,
  input: Checked<CampaignInput>,
): Promise<CampaignView> {
  await checkReferences(tx, domains, projectId, input);
  const id = newId();
  await insertCampaign(tx, projectId, id, textsOf(input));
  return getCampaign(tx, projectId, id);
}

async function checkTexts(renderer: AskedRenderer, projectId: string, input: CampaignInput): Promise<void> {
  const { subject, previewText = null, body: html } = input;
  const content = { subject, previewText, html, text: null };
  await checkContent(renderer, projectId, content, input.kind === "MARKETING");
}

async function checkReferences(
  tx: Tx,
  domains: Domains,
  projectId: string,
  input: CampaignInput,
): Promise<void> {
  await requireVerifiedSender(tx, domains, projectId, input.from);
  await audienceOf(tx, projectId, input);
}

function inputOf(row: CampaignRow): CampaignInput {
  return {
    name: row.name,
    description: row.description,
    subject: row.subject,
    previewText: row.previewText,
    body: row.body,
    design: row.design as CampaignInput["design"],
    from: row.fromAddress,
    fromName: row.fromName,
    replyTo: row.replyTo,
    kind: row.kind as CampaignKind,
    ...audienceOfRow(row),
  };
}

export interface CampaignChange {
  input: CampaignInput;
  /** The `updatedAt` that the caller read; another value fails with CHANGED_MEANWHILE. */
  expectedUpdatedAt: string | undefined;
  /** Codes of findings that the caller accepts in a scheduled campaign. */
  confirmed: readonly string[];
}

/** A campaign's new content with its status at the time of the check. */
export interface CampaignReplacement extends Omit<CampaignChange, "confirmed"> {
  id: string;
  status: string;
}

/** @throws AppError CAMPAIGN_NOT_FOUND, VALIDATION_ERROR, or CAMPAIGN_NOT_READY for a scheduled campaign */
export async function checkReplacement(
  database: Database,
  { renderer, linter }: LintParts,
  projectId: string,
  id: string,
  { input, expectedUpdatedAt, confirmed }: CampaignChange,
): Promise<Checked<CampaignReplacement>> {
  const { status } = await getCampaignRow(database, projectId, id);
  await checkTexts(renderer, projectId, input);
  // A scheduled campaign is not checked again when it starts.
  if (status === "SCHEDULED") await requireFinished(database, linter, projectId, input, confirmed);
  return asChecked({ id, status, input, expectedUpdatedAt });
}

/**
 * Only drafts and scheduled campaigns can be replaced.
 * @throws AppError CAMPAIGN_NOT_FOUND, CHANGED_MEANWHILE, CONFLICT, DOMAIN_NOT_VERIFIED, or VALIDATION_ERROR for the audience
 */
export async function replaceCampaign(
  tx: Tx,
  { domains }: CampaignDependencies,
  projectId: string,
  { id, status, input, expectedUpdatedAt }: Checked<CampaignReplacement>,
): Promise<CampaignView> {
  const row = await findCampaignForUpdate(tx, projectId, id);
  if (row === undefined) throw new AppError("CAMPAIGN_NOT_FOUND");
  if (row.status !== "DRAFT" && row.status !== "SCHEDULED")
    throw new AppError(
      "CONFLICT",
      withValues("The campaign is {status}. Only a draft or scheduled campaign can be changed.", {
        status: row.status,
      }),
    );
  if (row.status === "SCHEDULED" && status !== "SCHEDULED")
    throw new AppError("CONFLICT", {
      message: "The campaign was scheduled during the check. Try again.",
    });
  requireUnchanged(row, expectedUpdatedAt);
  await checkReferences(tx, domains, projectId, input);
  await updateCampaignTexts(tx, projectId, row.id, textsOf(input));
  return getCampaign(tx, projectId, row.id);
}

/**
 * Creates a draft with the same content.
 * @throws AppError CAMPAIGN_NOT_FOUND
 */
export async function duplicateCampaign(tx: Tx, projectId: string, id: string): Promise<CampaignView> {
  const row = await getCampaignRow(tx, projectId, id);
  const copyId = newId();
  await insertCampaign(tx, projectId, copyId, textsOf({ ...inputOf(row), name: copyNameOf(row.name) }));
  return getCampaign(tx, projectId, copyId);
}

/** @throws AppError CAMPAIGN_NOT_FOUND; CONFLICT while it is scheduled or sending */
export async function deleteCampaign(tx: Tx, projectId: string, id: string): Promise<void> {
  const row = await getCampaignRow(tx, projectId, id);
  if (await deleteCampaignRow(tx, projectId, row.id, ["DRAFT", "SENT", "CANCELLED"])) return;
  throw new AppError(
    "CONFLICT",
    asMessage(
      row.status === "CANCELLED"
        ? "The campaign was just cancelled. Try again when its last emails are dropped."
        : withValues("The campaign is {status}. Cancel it first.", { status: row.status }),
    ),
  );
}
