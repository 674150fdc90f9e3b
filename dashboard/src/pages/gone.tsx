// Shown at the URL of a resource that this tab is deleting or has deleted.
import { useQuery } from "@tanstack/react-query";
import { pendingDeletionsQuery } from "../api/going.ts";
import { t } from "../text/t.ts";
import { Card, Page } from "../ui/page.tsx";
import { Empty } from "../ui/states.tsx";

/** Returns whether the resource is being deleted, which can still be undone. */
export function useIsBeingDeleted(id: string): boolean {
  return useQuery(pendingDeletionsQuery).data.has(id);
}

export function Gone({ name }: { name: string }) {
  return (
    <Page title={name}>
      <Card>
        <Empty title={t("This item was deleted")}>{t("You can still undo this in the notification.")}</Empty>
      </Card>
    </Page>
  );
}
