// What stands at the address of something that this tab is deleting, or has deleted: nobody writes on in it.
import { useQuery } from "@tanstack/react-query";
import { goingQuery } from "../api/going.ts";
import { t } from "../text/t.ts";
import { Card, Page } from "../ui/page.tsx";
import { Empty } from "../ui/states.tsx";

/** Whether it is deleted, unless that is undone. */
export function useIsGoing(id: string): boolean {
  return useQuery(goingQuery).data.has(id);
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
