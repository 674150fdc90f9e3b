// Search parameters of the campaign pages.
import type { CampaignStatus } from "@postloft/contract/campaigns.ts";
import type { EmailStatus } from "@postloft/contract/emails.ts";
import { textOf } from "../emails/search.ts";

export interface CampaignsSearch {
  search?: string;
  status?: CampaignStatus;
}
export const STEPS = ["audience", "content", "review"] as const;
export type Step = (typeof STEPS)[number];

export const CONTENT_FIELDS = ["subject", "previewText", "from", "replyTo"] as const;
export type ContentField = (typeof CONTENT_FIELDS)[number];

/** A place in the content step. */
export type Place = Pick<CampaignSearch, "line" | "field">;

export interface CampaignSearch {
  /** Only for drafts. */
  step?: Step;
  /** A line of the HTML in the content step. */
  line?: number;
  /** The field at which the content step starts. */
  field?: ContentField;
  /** Shows the content of a sent campaign, or the clicks on its links, instead of its report. */
  view?: "mail" | "clicks";
  /** Filters the recipients of a sent campaign. */
  status?: EmailStatus;
  /** Searches the recipients of a sent campaign by address, in all statuses. */
  search?: string;
}

const NAME_OF_STATUS = /^[A-Z]+$/;

/** Parses the search parameters of the list and drops invalid ones. */
export function readCampaignsSearch({ search, status }: Record<string, unknown>): CampaignsSearch {
  return {
    ...(typeof search === "string" && search !== "" ? { search } : {}),
    ...(typeof status === "string" && NAME_OF_STATUS.test(status)
      ? { status: status as CampaignStatus }
      : {}),
  };
}

/** Parses the search parameters of one campaign and drops invalid ones. */
export function readCampaignSearch({
  step,
  line,
  field,
  view,
  status,
  search: sought,
}: Record<string, unknown>): CampaignSearch {
  const search = textOf(sought);
  return {
    ...(search === undefined ? {} : { search }),
    ...(typeof line === "number" && Number.isSafeInteger(line) && line > 0 ? { line } : {}),
    ...(CONTENT_FIELDS.includes(field as ContentField) ? { field: field as ContentField } : {}),
    ...(STEPS.includes(step as Step) ? { step: step as Step } : {}),
    ...(view === "mail" || view === "clicks" ? { view } : {}),
    ...(typeof status === "string" && NAME_OF_STATUS.test(status) ? { status: status as EmailStatus } : {}),
  };
}
