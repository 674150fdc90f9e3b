// Blocks sending an unfinished campaign with merge tags, placeholders, example links, broken links or an empty body.
import { isConfirmable } from "@postloft/contract/campaign-findings.ts";
import type { CampaignKind } from "@postloft/contract/campaigns.ts";
import { withValues } from "@postloft/contract/translation.ts";
import type { Database } from "../platform/database/database.ts";
import { AppError } from "../platform/app-error.ts";
import type { AskedRenderer } from "../rendering/asked-renderer.ts";
import { BUILT_IN_VARIABLES } from "../rendering/template-variables.ts";
import type { Domains } from "../domains/domains.ts";
import { readMergeTagFacts } from "../templates/footers.ts";
import type { Linter } from "../templates/linter.ts";
import type { Warning } from "../templates/warnings.ts";
import { listKnownFields } from "./check-queries.ts";

export interface LintParts {
  renderer: AskedRenderer;
  domains: Domains;
  linter: Linter;
}

/** The parts of a campaign that are checked. */
export interface LintedCampaign {
  subject: string;
  previewText?: string | null | undefined;
  body: string;
  kind: string;
}

/** Returns the warnings about the content of a campaign. Nothing is rejected. */
export async function lintCampaign(
  database: Database,
  linter: Linter,
  projectId: string,
  { subject, previewText = null, body, kind }: LintedCampaign,
): Promise<Warning[]> {
  const project = await readMergeTagFacts(database, projectId);
  return linter.lint(projectId, {
    subject,
    previewText,
    html: body,
    text: null,
    type: kind as CampaignKind,
    knownVariables: new Set([...BUILT_IN_VARIABLES, ...(await listKnownFields(database, projectId))]),
    renderedBytes: Buffer.byteLength(body),
    footerHasAddress: project.postalAddress !== null,
    project,
  });
}

/**
 * Checks that a campaign may be sent or scheduled.
 *
 * @param confirmed codes of findings that the caller has seen and accepts
 * @throws AppError CAMPAIGN_NOT_READY with each unconfirmed finding
 */
export async function requireFinished(
  database: Database,
  linter: Linter,
  projectId: string,
  campaign: LintedCampaign,
  confirmed: readonly string[],
): Promise<void> {
  const warnings = await lintCampaign(database, linter, projectId, campaign);
  const blocks = warnings.filter(({ code }) => isConfirmable(code) && !confirmed.includes(code));
  const [first] = blocks;
  if (first === undefined) return;
  const codes = [...new Set(blocks.map(({ code }) => `"${code}"`))].join(", ");
  throw new AppError("CAMPAIGN_NOT_READY", {
    ...withValues(
      'The campaign is not ready ({field}): {problem} To send it anyway, add "confirm": [{codes}].',
      { field: first.where.field, problem: first.message, codes },
    ),
    fields: blocks.map(({ where, message }) => ({
      field: where.field,
      code: "custom",
      ...(where.line === null
        ? { message }
        : withValues("Line {line}, column {column}: {problem}", {
            line: where.line,
            column: String(where.column),
            problem: message,
          })),
    })),
  });
}
