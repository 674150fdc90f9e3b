// The footer of a list: its total and a button that loads the next page.
import type { ReactNode } from "react";
import { t } from "../text/t.ts";
import { Button } from "./button.tsx";

interface MoreProps {
  /** The total as text; empty while unknown. */
  count: ReactNode;
  list: {
    rows: readonly unknown[] | undefined;
    hasNextPage: boolean;
    isFetchingNextPage: boolean;
    fetchNextPage: () => Promise<unknown>;
  };
}

export function More({ count, list }: MoreProps) {
  // Rendered together with the first page so that the layout does not shift.
  if (list.rows === undefined) return null;
  return (
    <footer className="mt-3 flex min-h-8 items-center justify-between gap-3 text-sm text-soft">
      <span aria-live="polite">{count}</span>
      {list.hasNextPage && (
        <Button busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          {t("Show more")}
        </Button>
      )}
    </footer>
  );
}
