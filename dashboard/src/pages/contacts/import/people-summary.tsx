// Shows how many rows get each status, and the rows that can't be imported, before anything is sent.
import { useQuery } from "@tanstack/react-query";
import { plural, t } from "../../../text/t.ts";
import { Card } from "../../../ui/page.tsx";
import { rowFaultText } from "../row-fault-text.ts";
import { countPeople, type PeopleCount } from "./count-people.ts";
import type { ChosenFile } from "./import-plan.ts";
import { statusCountsText } from "./status-names.ts";

/** Counts again when the plan changes. Undefined during the first count. */
export function usePeopleCount({ planned, options }: ChosenFile) {
  const { decimal } = options;
  // Field names do not affect the count.
  const plan = planned.columns.map(({ target, type, dateFormat, values }) => ({
    target,
    type,
    dateFormat,
    values,
  }));
  return useQuery({
    queryKey: ["people-count", planned.name, planned.text.length, decimal, plan],
    queryFn: ({ signal }) => countPeople(planned, { decimal }, signal),
    placeholderData: (before) => before,
    // Works offline, because the file is in this tab.
    networkMode: "always",
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
}

interface PeopleSummaryProps {
  count: PeopleCount | undefined;
  isCounting: boolean;
  resubscribes: boolean;
}

export function PeopleSummary({ count, isCounting, resubscribes }: PeopleSummaryProps) {
  if (count === undefined) return <p className="text-sm text-soft">{t("Counting…")}</p>;
  const { byStatus, withoutStatus, failed, faults, contradictions } = count;
  const text = statusCountsText({ ...byStatus, skipped: byStatus.skip, withoutStatus });
  const notes = [
    withoutStatus > 0 && t("New contacts without a status are subscribed. Existing contacts keep theirs."),
    byStatus.subscribed > 0 && !resubscribes && t("Existing contacts who unsubscribed stay unsubscribed."),
    byStatus.suppressed > 0 && t("Suppressed addresses are unsubscribed and added to the suppression list."),
    byStatus.skip > 0 && t("Skipped rows aren't imported."),
    contradictions > 0 &&
      plural(
        contradictions,
        "Status columns of {n} row contradict each other. The stricter one counts.",
        "Status columns of {n} rows contradict each other. The stricter one counts.",
      ),
  ].filter((note) => note !== false);
  return (
    <Card className="p-5">
      <h2 className="font-semibold">{t("Summary")}</h2>
      <p role="status" aria-busy={isCounting} className={`mt-1 text-lg ${isCounting ? "text-faint" : ""}`}>
        {text}
      </p>
      {notes.length > 0 && (
        <ul className="mt-1 text-sm text-soft">
          {notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
      {failed > 0 && (
        <div className="mt-3 text-sm wrap-anywhere text-warn">
          <p>{plural(failed, "{n} row can't be imported:", "{n} rows can't be imported:")}</p>
          <ul>
            {faults.map(({ row, fault }) => (
              <li key={row}>{t("Row {row}: {why}", { row, why: rowFaultText(fault) })}</li>
            ))}
          </ul>
        </div>
      )}
    </Card>
  );
}
