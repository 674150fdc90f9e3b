// Tests every combination of tracking mode and email.
import { expect, test } from "vitest";
import { TRACKING_MODES } from "@postloft/contract/projects.ts";
import { isTracked } from "./tracking-rules.ts";

const MAILS = {
  transactional: { tracked: true, listKind: null, isOfCampaign: false },
  marketing: { tracked: true, listKind: "MARKETING", isOfCampaign: false },
  headless: { tracked: true, listKind: "HEADLESS", isOfCampaign: false },
  "transactional campaign": { tracked: true, listKind: null, isOfCampaign: true },
  "marketing campaign": { tracked: true, listKind: "MARKETING", isOfCampaign: true },
  "not wanted": { tracked: false, listKind: "MARKETING", isOfCampaign: true },
} as const;

test("tracks emails by project mode unless the email opts out", () => {
  const tracked = TRACKING_MODES.map((mode) => [
    mode,
    ...Object.entries(MAILS).flatMap(([name, mail]) => (isTracked(mode, mail) ? [name] : [])),
  ]);
  expect(tracked).toEqual([
    ["ENABLED", "transactional", "marketing", "headless", "transactional campaign", "marketing campaign"],
    ["DISABLED"],
    ["MARKETING_ONLY", "marketing", "headless", "transactional campaign", "marketing campaign"],
  ]);
});
