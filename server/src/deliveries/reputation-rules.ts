// Classifies a project's bounce and complaint rates as healthy, warning or critical (decisions §2). Pure.
import { LEVELS, type Level } from "@postloft/contract/security.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { SendingCounts } from "../emails/results/sending-hours.ts";
import type { BadRate } from "@postloft/contract/security.ts";

export interface Rates extends SendingCounts {
  /** In percent. */
  bounceRate: number;
  complaintRate: number;
}

interface Threshold {
  /** The name of the level in the response. */
  level: LevelName;
  of: "bounces" | "complaints";
  window: "sevenDay" | "allTime";
  /** In percent, inclusive. */
  warning: number;
  critical: number;
}

export type LevelName = "bounce7Day" | "bounceAllTime" | "complaint7Day" | "complaintAllTime";

/** One row for each classified rate. */
const THRESHOLDS: readonly Threshold[] = [
  { level: "bounce7Day", of: "bounces", window: "sevenDay", warning: 5, critical: 10 },
  { level: "bounceAllTime", of: "bounces", window: "allTime", warning: 4, critical: 8 },
  { level: "complaint7Day", of: "complaints", window: "sevenDay", warning: 0.075, critical: 0.15 },
  { level: "complaintAllTime", of: "complaints", window: "allTime", warning: 0.03, critical: 0.12 },
];

/** A critical rate disables a project only from these counts on. One complaint in a hundred emails says nothing about the others. */
export const DISABLING = {
  bounces: LIMITS.criticalBounces.value,
  complaints: LIMITS.criticalComplaints.value,
};
const WINDOW_NAMES = { sevenDay: "over 7 days", allTime: "over all time" };

export interface Evaluation {
  levels: Record<LevelName, Level>;
  isHealthy: boolean;
  shouldDisable: boolean;
  isNewProject: boolean;
  violations: string[];
  warnings: string[];
  /** The rates behind the sentences, critical ones first, so that users get them in their language. */
  badRates: BadRate[];
}

/** Returns the counts with their rates. The rates are 0 without emails. */
export function ratesOf(counts: SendingCounts): Rates {
  const rate = (count: number) => (counts.total === 0 ? 0 : round((count * 100) / counts.total));
  return { ...counts, bounceRate: rate(counts.bounces), complaintRate: rate(counts.complaints) };
}

/** Compares whole numbers, so that a rate exactly at its threshold counts as reached. */
const SCALE = 100_000;

export function evaluate(windows: Record<"sevenDay" | "allTime", SendingCounts>): Evaluation {
  const levels: Record<LevelName, Level> = {
    bounce7Day: "healthy",
    bounceAllTime: "healthy",
    complaint7Day: "healthy",
    complaintAllTime: "healthy",
  };
  const bad: BadRate[] = [];
  let shouldDisable = false;
  for (const threshold of THRESHOLDS) {
    const counts = windows[threshold.window];
    if (counts.total < LIMITS.ratedMails.value) continue;
    const count = counts[threshold.of];
    const isOver = (percent: number) => count * SCALE >= Math.round((percent * SCALE) / 100) * counts.total;
    const level = LEVELS.findLast((one) => one === "healthy" || isOver(threshold[one])) ?? "healthy";
    levels[threshold.level] = level;
    if (level === "critical" && count >= DISABLING[threshold.of]) shouldDisable = true;
    if (level !== "healthy")
      bad.push({
        of: threshold.of,
        window: threshold.window,
        level,
        count,
        mails: counts.total,
        rate: round((count * 100) / counts.total),
        threshold: threshold[level],
      });
  }
  const critical = bad.filter(({ level }) => level === "critical");
  const warning = bad.filter(({ level }) => level === "warning");
  return {
    levels,
    isHealthy: bad.length === 0,
    shouldDisable,
    isNewProject: windows.allTime.total < LIMITS.ratedMails.value,
    violations: critical.map(sentenceOf),
    warnings: warning.map(sentenceOf),
    badRates: [...critical, ...warning],
  };
}

function sentenceOf({ of, window, level, count, mails, rate, threshold }: BadRate): string {
  return `${count} ${of} of ${mails} emails ${WINDOW_NAMES[window]}: ${rate} %, ${level} from ${threshold} %.`;
}

/** Four digits tell 0.03 % from 0.0299 %. */
function round(percent: number): number {
  return Math.round(percent * 10_000) / 10_000;
}
