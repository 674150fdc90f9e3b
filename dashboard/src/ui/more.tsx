// Below a list: how much there is, and the next part of it.
import type { ReactNode } from "react";
import { t } from "../text/t.ts";
import { Button } from "./button.tsx";

interface MoreProps {
  /** How many there are in all, in words; nothing while it is not known. */
  count: ReactNode;
  list: {
    rows: readonly unknown[] | undefined;
    hasNextPage: boolean;
    isFetchingNextPage: boolean;
    fetchNextPage: () => Promise<unknown>;
  };
}

export function More({ count, list }: MoreProps) {
  // With the first page, so that it does not move when that comes.
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
