// Says that something was done and offers to take it back: by doing the opposite, where that brings everything back.
import { useQueryClient } from "@tanstack/react-query";
import { t } from "../text/t.ts";
import { useToast } from "../ui/toasts.tsx";

interface Way {
  description?: string;
  /** Brings back what was; it fails loudly. */
  undo: () => Promise<unknown>;
  /** The way back takes longer, and the page shows how far it is. */
  isShownElsewhere?: boolean;
}

/** Gives the function that shows what was done, with Undo. */
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
      await queries.invalidateQueries({ queryKey: ["project", projectId] });
    }
  };
  return (title, way) =>
    void toast(title, {
      ...(way.description === undefined ? {} : { description: way.description }),
      action: { label: t("Undo"), run: () => void takeBack(way) },
    });
}
