// Shows how many contacts match: the total, the search progress, or a lower bound with a button to count.
import { problemOf } from "../../api/call.ts";
import { plural, t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { formatNumber } from "../../ui/format.ts";
import type { ContactsList } from "./contact-list.ts";

type Counted = Pick<ContactsList, "total" | "countAll" | "rows" | "lookedAt">;

export function ContactCount({ list: { total, countAll, rows = [], lookedAt } }: { list: Counted }) {
  if (lookedAt !== null)
    return (
      <>
        {t("Still searching…")}{" "}
        {/* The count changes several times a second, so screen readers don't announce it. */}
        <span aria-hidden className="font-normal text-soft tabular-nums">
          {t("{n} contacts searched", { n: formatNumber(lookedAt) })}
        </span>
      </>
    );
  if (total !== undefined) return plural(total, "{n} contact", "{n} contacts");
  if (countAll === null) return null;
  const { isBusy, error, start } = countAll;
  return (
    <span className="inline-flex flex-wrap items-center gap-x-2">
      {t("{n}+ contacts", { n: formatNumber(rows.length) })}
      <Button look="quiet" busy={isBusy} onClick={start}>
        {t("Get exact count")}
      </Button>
      {error !== null && <span className="text-sm text-bad">{problemOf(error) ?? error.message}</span>}
    </span>
  );
}
