// Texts about moves of executions.
import type { ApiResponse } from "../../../api/address.ts";
import type { api } from "../../../api/endpoints.ts";
import { plural, t } from "../../../text/t.ts";
import { formatNumber } from "../../../ui/format.ts";

export type Preview = ApiResponse<typeof api.workflows.previewMove>;
export type Move = ApiResponse<typeof api.workflows.getMove>;
type Group = Preview["groups"][number];
type Counts = NonNullable<Move["job"]["result"]>;

/** The people at one step, on any earlier version. */
export interface StepGroup extends Pick<Group, "step" | "target" | "next"> {
  count: number;
  versions: number[];
  changes: ReadonlySet<Group["changes"][number]>;
}

/** Returns the groups by step, because a choice is for a step. */
export function byStep(groups: readonly Group[]): StepGroup[] {
  return [...Map.groupBy(groups, ({ step }) => step.id).values()].flatMap((own) => {
    const [first] = own;
    if (first === undefined) return [];
    return [
      {
        step: first.step,
        target: own.every(({ target }) => target !== null) ? first.target : null,
        next: first.next,
        count: own.reduce((sum, { count }) => sum + count, 0),
        versions: own.map(({ version }) => version),
        changes: new Set(own.flatMap(({ changes }) => changes)),
      },
    ];
  });
}

const CHANGES: Record<Group["changes"][number], string> = {
  delay: t("Its delay changed."),
  event: t("It waits for another event now."),
  config: t("Its settings changed."),
};

export const changeTexts = ({ changes }: StepGroup): string[] =>
  [...changes].map((change) => CHANGES[change]);

const LEFT_OUT: Record<Counts["leftOut"][number]["reason"], (count: string) => string> = {
  STAY: (count) => t("{count} stayed on their version.", { count }),
  NO_CHOICE: (count) => t("{count} reached a removed step in the meantime.", { count }),
  WEBHOOK: (count) => t("{count} wait for a webhook. Try again soon.", { count }),
  HELD: (count) => t("{count} are held since a database rollback.", { count }),
};

/** Returns who ended or stayed, and why. */
export function leftOutText({ ended, leftOut }: Counts): string {
  const left = leftOut.map(({ reason, count }) => LEFT_OUT[reason](formatNumber(count)));
  return [
    ...(ended === 0 ? [] : [plural(ended, "{n} left the workflow.", "{n} left the workflow.")]),
    ...left,
  ].join(" ");
}
