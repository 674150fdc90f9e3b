// The counts of an undo in words, before and after it.
import type { UndoCounts } from "@postloft/contract/import-undo.ts";
import { plural, t } from "../../../text/t.ts";

const NAMES = [
  "removedCount",
  "removedWithEmailCount",
  "removedWithActivityCount",
  "restoredCount",
  "keptCount",
  "subscriptionRestoredCount",
  "subscriptionKeptCount",
  "segmentRemovedCount",
] as const satisfies ReadonlyArray<keyof UndoCounts>;

/** Adds up the counts of all parts. */
export function addCounts(all: readonly UndoCounts[]): UndoCounts {
  const sums = NAMES.map((name) => [name, all.reduce((sum, counts) => sum + counts[name], 0)] as const);
  return Object.fromEntries(sums) as unknown as UndoCounts;
}

const PLANNED: ReadonlyArray<readonly [keyof UndoCounts, (n: number) => string]> = [
  ["removedCount", (n) => plural(n, "{n} new contact will be deleted.", "{n} new contacts will be deleted.")],
  [
    "removedWithEmailCount",
    (n) =>
      plural(
        n,
        "{n} of them received email. Campaign reports keep it.",
        "{n} of them received email. Campaign reports keep it.",
      ),
  ],
  [
    "removedWithActivityCount",
    (n) => plural(n, "{n} of them changed or was active since.", "{n} of them changed or were active since."),
  ],
  [
    "restoredCount",
    (n) =>
      plural(
        n,
        "{n} contact will get its previous values back.",
        "{n} contacts will get their previous values back.",
      ),
  ],
  [
    "keptCount",
    (n) =>
      plural(
        n,
        "{n} contact will keep values that changed after the import.",
        "{n} contacts will keep values that changed after the import.",
      ),
  ],
  [
    "subscriptionRestoredCount",
    (n) =>
      plural(
        n,
        "{n} contact will get its previous subscription status back.",
        "{n} contacts will get their previous subscription status back.",
      ),
  ],
  [
    "subscriptionKeptCount",
    (n) =>
      plural(
        n,
        "{n} contact will keep its subscription status.",
        "{n} contacts will keep their subscription status.",
      ),
  ],
  [
    "segmentRemovedCount",
    (n) => plural(n, "{n} contact will leave the segment.", "{n} contacts will leave the segment."),
  ],
];

const DONE: ReadonlyArray<readonly [keyof UndoCounts, (n: number) => string]> = [
  ["removedCount", (n) => plural(n, "{n} contact deleted.", "{n} contacts deleted.")],
  ["restoredCount", (n) => plural(n, "{n} contact restored.", "{n} contacts restored.")],
  ["keptCount", (n) => plural(n, "{n} contact kept newer values.", "{n} contacts kept newer values.")],
  [
    "subscriptionRestoredCount",
    (n) => plural(n, "{n} subscription status restored.", "{n} subscription statuses restored."),
  ],
  [
    "subscriptionKeptCount",
    (n) => plural(n, "{n} subscription status kept.", "{n} subscription statuses kept."),
  ],
  [
    "segmentRemovedCount",
    (n) => plural(n, "{n} contact removed from the segment.", "{n} contacts removed from the segment."),
  ],
];

export function UndoCountList({ counts, isDone }: { counts: UndoCounts; isDone: boolean }) {
  const lines = (isDone ? DONE : PLANNED).filter(([name]) => counts[name] > 0);
  if (lines.length === 0) return <p className="text-sm text-soft">{t("Nothing changes.")}</p>;
  return (
    <ul className="mt-1 flex list-disc flex-col gap-1 pl-5 text-sm">
      {lines.map(([name, text]) => (
        <li key={name}>{text(counts[name])}</li>
      ))}
    </ul>
  );
}
