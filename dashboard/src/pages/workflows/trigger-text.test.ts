// Tests how triggers and states of workflows are described.
import { expect, test, vi } from "vitest";

vi.stubGlobal("localStorage", { getItem: () => null });
vi.stubGlobal("navigator", { languages: ["en-GB"] });
// Imported after the stubs, because texts are translated when their modules load. Another file of the same worker may have loaded them.
vi.resetModules();
const { triggerText } = await import("./trigger-text.ts");
const { stateOf } = await import("./workflow-state.tsx");

const SEGMENTS = new Map([["1", "VIP"]]);
const EVERYONE = { audienceType: "ALL" };

test.each([
  ["EVENT", { eventName: "trial.started" }, "When “trial.started” happens"],
  ["EVENT", {}, "No event yet"],
  ["SEGMENT_ENTRY", { segmentId: "1" }, "When someone joins “VIP”"],
  ["SEGMENT_EXIT", { segmentId: "2" }, "When someone leaves “a segment”"],
  ["SEGMENT_ENTRY", {}, "No segment yet"],
  ["SCHEDULE", { cron: "0 9 * * *", timezone: "Europe/Paris" }, "Every day at 09:00 (Europe/Paris)"],
  ["SCHEDULE", { cron: "30 9 * * 1", ...EVERYONE }, "Every Monday at 09:30 (UTC)"],
  ["SCHEDULE", { cron: "0 9 * * 0", ...EVERYONE }, "Every Sunday at 09:00 (UTC)"],
  ["SCHEDULE", { cron: "0 9 * * 7", ...EVERYONE }, "Every Sunday at 09:00 (UTC)"],
  ["SCHEDULE", { cron: "0 9 * * 1-5", ...EVERYONE }, "Monday to Friday at 09:00 (UTC)"],
  ["SCHEDULE", { cron: "0 9 1 * *", ...EVERYONE }, "On day 1 of each month at 09:00 (UTC)"],
  ["SCHEDULE", { cron: "*/5 9 * * *", ...EVERYONE }, "On the schedule */5 9 * * * (UTC)"],
  ["SCHEDULE", { cron: "0 9 1 6 *", ...EVERYONE }, "On the schedule 0 9 1 6 * (UTC)"],
  ["SCHEDULE", { cron: "0 9 1 * 1", ...EVERYONE }, "On the schedule 0 9 1 * 1 (UTC)"],
  ["SCHEDULE", {}, "No schedule yet"],
  ["DATE", {}, "No field yet"],
  ["DATE", { dateField: "data.renewsAt" }, "On “renewsAt”"],
  [
    "DATE",
    {
      dateField: "data.trialEndsAt",
      amount: 3,
      unit: "days",
      direction: "before",
      until: "09:00",
      timezone: "contact",
    },
    "3 days before “trialEndsAt”, 09:00 in the contact's time zone",
  ],
  [
    "DATE",
    { dateField: "data.birthday", amount: 1, unit: "weeks", repeat: "yearly", until: "09:00" },
    "1 week after “birthday”, each year, 09:00 (UTC)",
  ],
  ["MANUAL", {}, "Manually or through the API"],
] as const)("a trigger %s %j is described as %s", (triggerType, triggerConfig, text) => {
  expect(triggerText({ triggerType, triggerConfig }, SEGMENTS)).toBe(text);
});

const REASON = { stepId: "1", stepName: "Call", contacts: 5, error: "500" };
const PAUSED = "2026-11-28T09:00:00.000Z";

test.each([
  ["Paused by failures", { enabled: true, pausedAt: PAUSED, pausedReason: REASON }],
  ["Paused", { enabled: true, pausedAt: PAUSED, pausedReason: null }],
  ["Paused", { enabled: false, pausedAt: PAUSED, pausedReason: null }],
  ["Enabled", { enabled: true, pausedAt: null, pausedReason: null }],
  ["Disabled", { enabled: false, pausedAt: null, pausedReason: null }],
] as const)("a workflow is shown as %s: %j", (label, workflow) => {
  expect(stateOf(workflow).label).toBe(label);
});
