// Says which monthly caps of a project are reached, and what happens to its email.
import { useQuery } from "@tanstack/react-query";
import type { CapCategory } from "@postloft/contract/limits/billing.ts";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import { t } from "../../text/t.ts";

const TEXTS: Record<CapCategory, string> = {
  transactional: t(
    "The monthly cap on transactional emails is reached, so new transactional emails are rejected.",
  ),
  campaigns: t("The monthly cap on campaign emails is reached, so campaigns can't start."),
  workflows: t("The monthly cap on workflow emails is reached, so workflows skip their emails."),
};
const CATEGORIES = Object.keys(TEXTS) as CapCategory[];

/** Returns the caps and their usage this month. */
export const capsQuery = (projectId: string) => query(api.billing.limits, { projectId });

/** Returns how many emails a cap still allows this month, or null without a cap or while it is loading. */
export const roomOf = (cap: { limit: number | null; usage: number } | undefined): number | null =>
  cap === undefined || cap.limit === null ? null : Math.max(0, cap.limit - cap.usage);

/** Returns a sentence for each reached cap. */
export function useReachedCaps(projectId: string): Array<{ category: CapCategory; text: string }> {
  const caps = useQuery(capsQuery(projectId)).data;
  if (caps === undefined) return [];
  return CATEGORIES.filter((category) => caps[category].isBlocked).map((category) => ({
    category,
    text: TEXTS[category],
  }));
}
