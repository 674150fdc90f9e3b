// Deletes what could not be made again as it was: it leaves the lists at once and the server a little later, so it can be kept.
import { useQueryClient } from "@tanstack/react-query";
import { goingQuery } from "../api/going.ts";
import { t } from "../text/t.ts";
import { useToast } from "../ui/toasts.tsx";

interface Deletion {
  id: string;
  name: string;
  /** Deletes it on the server. */
  remove: () => Promise<unknown>;
}

/** Gives the function that announces a deletion; it is done when the toast goes, or the page. */
export function useDelayedDeletion(projectId: string): (deletion: Deletion) => void {
  const queries = useQueryClient();
  const toast = useToast();
  const mark = (id: string, isGoing: boolean) =>
    queries.setQueryData(goingQuery.queryKey, (old) =>
      isGoing ? new Set([...(old ?? []), id]) : new Set([...(old ?? [])].filter((one) => one !== id)),
    );
  return ({ id, name, remove }) => {
    let isDecided = false;
    const decide = () => {
      const isFirst = !isDecided;
      isDecided = true;
      removeEventListener("pagehide", finish);
      return isFirst;
    };
    const finish = () => {
      if (!decide()) return;
      remove()
        .catch((error: Error) => {
          mark(id, false);
          toast(t("Couldn't delete “{name}”", { name }), error.message);
        })
        .finally(() => void queries.invalidateQueries({ queryKey: ["project", projectId] }));
    };
    const keep = () => {
      if (decide()) mark(id, false);
    };
    mark(id, true);
    addEventListener("pagehide", finish);
    toast(t("“{name}” deleted", { name }), {
      action: { label: t("Undo"), run: keep },
      onPassed: finish,
    });
  };
}
