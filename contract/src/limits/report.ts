// The limits of reports.
import { limit, type Limit } from "./limit.ts";

export const REPORT_LIMITS = {
  reportDays: limit(732, "days", "The period of a report, two years."),
  reportRows: limit(1000, "rows", "Rows in `GET /analytics/breakdown`."),
  topRows: limit(10, "rows", "Default rows in `GET /analytics/top-campaigns` and `/analytics/top-events`."),
  countedArrivals: limit(
    100_000,
    "entries",
    "Entries in the consent logs of a period's newest contacts that `GET /analytics/audience` reads.",
  ),
  activityHours: limit(72, "hours", "`hours` of `GET /campaigns/:id/activity`."),
  minuteHours: limit(6, "hours", "The longest time that `GET /campaigns/:id/activity` counts by the minute."),
  minuteRecipients: limit(
    50_000,
    "recipients",
    "The largest campaign that `GET /campaigns/:id/activity` counts by the minute.",
  ),
  comparedCampaigns: limit(10, "campaigns", "Campaigns in `GET /campaigns/:id/previous`."),
  countedRecipients: limit(
    50_000,
    "recipients",
    "Recipients of one status that `GET /campaigns/:id/recipient-counts` counts.",
  ),
} as const satisfies Record<string, Limit>;
