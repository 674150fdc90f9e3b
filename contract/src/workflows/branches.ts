// The steps with named branches: BRANCH and RANDOM_SPLIT (decision 0139).
import { z } from "zod";
import { issue } from "../field.ts";
import { nameText } from "../name-text.ts";
import { LIMITS } from "../limits/limits.ts";
import { withValues } from "../translation.ts";
import { workflowCondition } from "./condition.ts";

/** The branch of a BRANCH for contacts that match none of its filters. */
export const ELSE = "else";

const MOST = LIMITS.stepBranches.value;
/** Percent have up to two decimals, so they are added as hundredths. */
const WHOLE = 10_000;

/** The branch of a transition, in a request and in a response. */
export const branch = z.string().min(1).max(LIMITS.nameLength.value);

const branchName = nameText.refine((name) => name.toLowerCase() !== ELSE, {
  message: "This name is reserved for contacts that match no branch.",
  params: { code: "custom" },
});

interface Named {
  name: string;
}

/** Reports each name that an earlier branch has, in any case, because people could not tell the two apart. */
function checkNames(list: "branches" | "shares", items: readonly Named[], context: z.RefinementCtx): void {
  const places = Map.groupBy(items.entries(), ([, { name }]) => name.toLowerCase());
  for (const [, ...repeated] of places.values())
    for (const [at, { name }] of repeated)
      context.addIssue(
        issue(withValues('Another branch of this step is named "{name}".', { name }), "custom", name, [
          list,
          at,
          "name",
        ]),
      );
}

/** The config of a BRANCH. A contact takes the first branch whose filter matches, or else the branch `else`. */
export const branchConfig = z
  .object({
    branches: z
      .array(z.object({ name: branchName, filter: workflowCondition }))
      .min(1)
      .max(MOST),
  })
  .superRefine(({ branches }, context) => checkNames("branches", branches, context));

const hundredths = (percent: number) => Math.round(percent * 100);

const percent = z
  .number()
  .min(0.01)
  .max(99.99)
  .refine((value) => Math.abs(value * 100 - hundredths(value)) < 1e-6, {
    message: "May have up to two decimals.",
    params: { code: "custom" },
  });

/** The config of a RANDOM_SPLIT. */
export const randomSplitConfig = z
  .object({
    shares: z
      .array(z.object({ name: branchName, percent }))
      .min(2)
      .max(MOST),
  })
  .superRefine(({ shares }, context) => {
    checkNames("shares", shares, context);
    const sum = shares.reduce((total, one) => total + hundredths(one.percent), 0);
    if (sum !== WHOLE)
      context.addIssue(
        issue(
          withValues("The shares must add up to 100 percent, not {sum}.", { sum: sum / 100 }),
          "custom",
          shares,
          ["shares"],
        ),
      );
  });

export type Share = z.output<typeof randomSplitConfig>["shares"][number];

/** Returns the shares in hundredths of a percent, which add up to 10,000. */
export function weightsOf(shares: readonly Share[]): number[] {
  return shares.map((share) => hundredths(share.percent));
}
