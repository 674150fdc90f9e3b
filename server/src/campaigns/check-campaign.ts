// Checks a campaign before it is sent and returns blocking findings and warnings, each with its location.
import { inOneText, type AdviceValues } from "@postloft/contract/advice.ts";
import {
  findInCampaign,
  isConfirmable,
  type CampaignFindingCode,
  type FindingPart,
} from "@postloft/contract/campaign-findings.ts";
import { domainOf } from "@postloft/contract/address.ts";
import type { FieldError } from "@postloft/contract/errors.ts";
import type { Database } from "../platform/database/database.ts";
import { transaction } from "../platform/database/database.ts";
import { AppError } from "../platform/app-error.ts";
import { checkContent } from "../templates/check-content.ts";
import { requireVerifiedSender } from "../templates/templates.ts";
import { countAudience, countUnsubscribedOf } from "./audience.ts";
import { getCampaignRow, type CampaignDependencies } from "./campaigns.ts";
import { findLargestSend, findRecentDuplicate } from "./check-queries.ts";
import { lintCampaign, type LintParts } from "./content-blocks.ts";
import type { CampaignRow } from "./queries.ts";

export interface Finding {
  code: string;
  message: string;
  /** The message as codes with values; empty if there is no code. */
  messageParts: FindingPart[];
  where: { field: string; line: number | null; column: number | null };
  /** The text to replace a merge tag with. */
  replacement?: string | null;
}

export interface CampaignCheck {
  ready: boolean;
  blocks: Finding[];
  warnings: Finding[];
}

/** Warns about an audience larger than this multiple of the largest one so far. */
const UNUSUAL_GROWTH = 10;

/** @throws AppError CAMPAIGN_NOT_FOUND */
export async function checkCampaign(
  database: Database,
  { renderer, domains, linter }: LintParts,
  projectId: string,
  id: string,
): Promise<CampaignCheck> {
  const row = await getCampaignRow(database, projectId, id);
  const content = {
    subject: row.subject,
    previewText: row.previewText,
    html: row.body,
    text: null,
  };
  const sender = await errorOf(
    () => at("from", "sender_not_verified", { domain: domainOf(row.fromAddress) }),
    () => transaction(database, (tx) => requireVerifiedSender(tx, domains, projectId, row.fromAddress)),
  );
  const syntax = await errorOf(faultOfContent, () =>
    checkContent(renderer, projectId, content, row.kind === "MARKETING"),
  );
  let eligible = 0;
  let unsubscribed = 0;
  const audience = await errorOf(missingSegment, async () => {
    eligible = (await countAudience(database, projectId, row)).eligible;
    if (row.kind === "TRANSACTIONAL") unsubscribed = await countUnsubscribedOf(database, projectId, row);
  });
  const empty: Finding[] =
    audience.length === 0 && eligible === 0 ? [at("audienceType", "audience_empty")] : [];
  const linted: Finding[] = syntax.length > 0 ? [] : await lintCampaign(database, linter, projectId, row);
  const unfinished = linted.filter(({ code }) => isConfirmable(code));
  const blocks = [...sender, ...syntax, ...unfinished, ...audience, ...empty];
  const warnings = [
    ...linted.filter(({ code }) => !isConfirmable(code)),
    ...(await senderAdvice(domains, projectId, row)),
    ...(unsubscribed === 0 ? [] : [toUnsubscribed(unsubscribed)]),
    ...(await compareWithOthers(database, projectId, row, eligible)),
    ...(row.replyTo === null || domainOf(row.replyTo) === domainOf(row.fromAddress)
      ? []
      : [at("replyTo", "reply_to_elsewhere")]),
  ];
  return { ready: blocks.length === 0, blocks, warnings };
}

function toUnsubscribed(count: number): Finding {
  const code = "transactional_to_unsubscribed";
  return count === 1
    ? { ...at("kind", "transactional_to_one_unsubscribed"), code }
    : at("kind", code, { count });
}

/** Returns warnings about missing or faulty DNS records of the sender domain, because receivers penalize them. */
async function senderAdvice(
  domains: CampaignDependencies["domains"],
  projectId: string,
  row: CampaignRow,
): Promise<Finding[]> {
  const records = await domains.advisoryRecords(projectId, domainOf(row.fromAddress));
  return records.flatMap(({ purpose, name, status, adviceParts }) => {
    if (status !== "MISSING" && status !== "MISMATCH") return [];
    const code = `${purpose}_${status === "MISSING" ? "missing" : "faulty"}`;
    return [saying("from", code, [findInCampaign("record", { name }), ...adviceParts])];
  });
}

function at(field: string, code: CampaignFindingCode, values: AdviceValues = {}): Finding {
  return saying(field, code, [findInCampaign(code, values)]);
}

function saying(field: string, code: string, messageParts: FindingPart[]): Finding {
  return { code, message: inOneText(messageParts), messageParts, where: { field, line: null, column: null } };
}

function faultOfContent({ field, message, messageParts = [] }: RefusedField): Finding {
  return { ...saying(field ?? "body", "template_fault", [...messageParts]), message };
}

function missingSegment({ field, message }: RefusedField): Finding {
  if (field === undefined) return { ...saying("segmentId", "audience_missing", []), message };
  if (field === "segmentId") return at(field, "audience_missing");
  return { ...at(field, "audience_names_missing"), code: "audience_missing" };
}

/** A rejected field; without a name the whole request. */
type RefusedField = Partial<FieldError> & { message: string };

/** Returns the error of a check as findings, or none if it passes. */
async function errorOf(
  findingOf: (refused: RefusedField) => Finding,
  check: () => Promise<void>,
): Promise<Finding[]> {
  try {
    await check();
    return [];
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return (error.fields ?? [{ message: error.message }]).map(findingOf);
  }
}

async function compareWithOthers(
  database: Database,
  projectId: string,
  row: CampaignRow,
  eligible: number,
): Promise<Finding[]> {
  const largest = await findLargestSend(database, projectId, row.id);
  const twin = await findRecentDuplicate(database, projectId, row);
  return [
    ...(largest > 0 && eligible > largest * UNUSUAL_GROWTH
      ? [
          at("audienceType", "audience_unusually_large", {
            count: eligible,
            times: UNUSUAL_GROWTH,
            largest,
          }),
        ]
      : []),
    ...(twin === null ? [] : [at("subject", "sent_before", { name: twin })]),
  ];
}
