// Reports an action and offers to undo it with the opposite action.
import { useQueryClient } from "@tanstack/react-query";
import { projectKey } from "../api/query-key.ts";
import { t } from "../text/t.ts";
import { useToast } from "../ui/toasts.tsx";

interface Way {
  description?: string;
  /** Restores the previous state; throws on failure. */
  undo: () => Promise<unknown>;
  /** Set if undoing takes a while and the page shows its progress. */
  isShownElsewhere?: boolean;
}

/** Returns a function that shows a toast with an Undo button. */
export function useUndoToast(projectId: string): (title: string, way: Way) => void {
  const toast = useToast();
  const queries = useQueryClient();
  const takeBack = async ({ undo, isShownElsewhere = false }: Way) => {
    try {
      await undo();
      if (!isShownElsewhere) toast(t("Undone"));
    } catch (error) {
      toast(t("Couldn't undo"), error instanceof Error ? error.message : "");
    } finally {
      await queries.invalidateQueries({ queryKey: projectKey(projectId) });
    }
  };
  return (title, way) =>
    void toast(title, {
      ...(way.description === undefined ? {} : { description: way.description }),
      action: { label: t("Undo"), run: () => void takeBack(way) },
    });
}
