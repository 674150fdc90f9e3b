// The check before a campaign is sent: what stops it, and what a careful person would look at, each with its place.
// Before it: routes.ts. After it: a person decides; sending refuses what is listed as a block.
import type { CampaignKind } from "@postloft/contract/campaigns.ts";
import { domainOf } from "@postloft/contract/address.ts";
import type { Database } from "../platform/database.ts";
import { transaction } from "../platform/database.ts";
import { Refusal } from "../platform/refusal.ts";
import { BUILT_IN_VARIABLES } from "../rendering/template-variables.ts";
import { checkContent } from "../templates/check-content.ts";
import type { Warning } from "../templates/lint-content.ts";
import { footerHasAddress } from "../templates/footers.ts";
import type { Linter } from "../templates/linter.ts";
import { requireVerifiedSender } from "../templates/templates.ts";
import { countAudience, countUnsubscribedOf } from "./audience.ts";
import { getCampaignRow, type CampaignParts } from "./campaigns.ts";
import { findLargestSend, findRecentTwin, listKnownFields } from "./check-queries.ts";
import type { CampaignRow } from "./queries.ts";

export interface Finding {
  code: string;
  message: string;
  where: { field: string; line: number | null; column: number | null };
}

export interface CampaignCheck {
  ready: boolean;
  blocks: Finding[];
  warnings: Finding[];
}

/** So many times the largest audience so far is worth a second look. */
const UNUSUAL_GROWTH = 10;

/** @throws Refusal CAMPAIGN_NOT_FOUND. */
export async function checkCampaign(
  { renderer, domains, linter }: CampaignParts & { linter: Linter },
  database: Database,
  projectId: string,
  id: string,
): Promise<CampaignCheck> {
  const row = await getCampaignRow(database, projectId, id);
  const content = { subject: row.subject, html: row.body, text: null };
  const sender = await refusalOf("from", "sender_not_verified", () =>
    transaction(database, (tx) => requireVerifiedSender(tx, domains, projectId, row.fromAddress)),
  );
  const syntax = await refusalOf("body", "template_fault", () =>
    checkContent(renderer, projectId, content, row.kind === "MARKETING"),
  );
  let eligible = 0;
  let unsubscribed = 0;
  const audience = await refusalOf("segmentId", "audience_missing", async () => {
    eligible = (await countAudience(database, projectId, row)).eligible;
    if (row.kind === "TRANSACTIONAL") unsubscribed = await countUnsubscribedOf(database, projectId, row);
  });
  const empty: Finding[] =
    audience.length === 0 && eligible === 0
      ? [at("audienceType", "audience_empty", "Nobody would get it: choose another audience.")]
      : [];
  const blocks = [...sender, ...syntax, ...audience, ...empty];
  const warnings = [
    ...(syntax.length > 0 ? [] : await lint(linter, database, projectId, row)),
    ...(await senderAdvice(domains, projectId, row)),
    ...(unsubscribed === 0 ? [] : [toUnsubscribed(unsubscribed)]),
    ...(await compareWithOthers(database, projectId, row, eligible)),
    ...(row.replyTo === null || domainOf(row.replyTo) === domainOf(row.fromAddress)
      ? []
      : [at("replyTo", "reply_to_elsewhere", "Answers go to another domain than the sender's.")]),
  ];
  return { ready: blocks.length === 0, blocks, warnings };
}

function toUnsubscribed(count: number): Finding {
  const who = count === 1 ? "1 contact of the audience has" : `${count} contacts of the audience have`;
  return at(
    "kind",
    "transactional_to_unsubscribed",
    `${who} unsubscribed, and would get it all the same: a TRANSACTIONAL campaign goes to everybody. Advertising is MARKETING.`,
  );
}

/** What DNS lacks of the sender's domain: receivers hold it against the mail. */
async function senderAdvice(
  domains: CampaignParts["domains"],
  projectId: string,
  row: CampaignRow,
): Promise<Finding[]> {
  const records = await domains.advisoryRecords(projectId, domainOf(row.fromAddress));
  return records.flatMap(({ purpose, name, status, advice }) =>
    status === "MISSING" || status === "MISMATCH"
      ? [
          at(
            "from",
            `${purpose}_${status === "MISSING" ? "missing" : "faulty"}`,
            `${name}: ${advice ?? status}`,
          ),
        ]
      : [],
  );
}

function at(field: string, code: string, message: string): Finding {
  return { code, message, where: { field, line: null, column: null } };
}

/** What a check refuses, as findings; nothing when it passes. */
async function refusalOf(field: string, code: string, check: () => Promise<void>): Promise<Finding[]> {
  try {
    await check();
    return [];
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const fields = error.fields ?? [];
    return fields.length === 0
      ? [at(field, code, error.message)]
      : fields.map((one) => at(one.field, code, one.message));
  }
}

async function lint(
  linter: Linter,
  database: Database,
  projectId: string,
  row: CampaignRow,
): Promise<Warning[]> {
  const fields = await listKnownFields(database, projectId);
  return linter.lint(projectId, {
    subject: row.subject,
    html: row.body,
    text: null,
    type: row.kind as CampaignKind,
    knownVariables: new Set([...BUILT_IN_VARIABLES, ...fields]),
    renderedBytes: Buffer.byteLength(row.body),
    footerHasAddress: await footerHasAddress(database, projectId),
  });
}

async function compareWithOthers(
  database: Database,
  projectId: string,
  row: CampaignRow,
  eligible: number,
): Promise<Finding[]> {
  const largest = await findLargestSend(database, projectId, row.id);
  const twin = await findRecentTwin(database, projectId, row);
  return [
    ...(largest > 0 && eligible > largest * UNUSUAL_GROWTH
      ? [
          at(
            "audienceType",
            "audience_unusually_large",
            `${eligible} recipients are more than ${UNUSUAL_GROWTH} times the largest campaign so far (${largest}).`,
          ),
        ]
      : []),
    ...(twin === null
      ? []
      : [
          at(
            "subject",
            "sent_before",
            `The campaign "${twin}" with the same subject went to the same audience within a day.`,
          ),
        ]),
  ];
}
