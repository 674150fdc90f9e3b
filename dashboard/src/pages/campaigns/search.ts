// What the URLs of the campaigns say.
import type { CampaignStatus } from "@postloft/contract/campaigns.ts";
import type { EmailStatus } from "@postloft/contract/emails.ts";

export interface CampaignsSearch {
  search?: string;
  status?: CampaignStatus;
}
export const STEPS = ["audience", "content", "review"] as const;
export type Step = (typeof STEPS)[number];

export interface CampaignSearch {
  /** Of a draft. */
  step?: Step;
  /** A line of the HTML in the content step. */
  line?: number;
  /** Of one that left: what it says, in place of the report. */
  view?: "mail";
  /** Of the recipients of one that left. */
  status?: EmailStatus;
}

const NAME_OF_STATUS = /^[A-Z]+$/;

/** What of the URL is understood; the rest is left out. */
export function readCampaignsSearch({ search, status }: Record<string, unknown>): CampaignsSearch {
  return {
    ...(typeof search === "string" && search !== "" ? { search } : {}),
    ...(typeof status === "string" && NAME_OF_STATUS.test(status)
      ? { status: status as CampaignStatus }
      : {}),
  };
}

/** The same for one campaign. */
export function readCampaignSearch({ step, line, view, status }: Record<string, unknown>): CampaignSearch {
  return {
    ...(typeof line === "number" && Number.isSafeInteger(line) && line > 0 ? { line } : {}),
    ...(STEPS.some((one) => one === step) ? { step: step as Step } : {}),
    ...(view === "mail" ? { view } : {}),
    ...(typeof status === "string" && NAME_OF_STATUS.test(status) ? { status: status as EmailStatus } : {}),
  };
}
