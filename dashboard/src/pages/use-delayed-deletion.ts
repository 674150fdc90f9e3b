// Deletes things that undo could not recreate. The row disappears immediately and the server deletes it a little later, so that undo can
// cancel the deletion.
import { useQueryClient } from "@tanstack/react-query";
import { pendingDeletionsQuery } from "../api/going.ts";
import { projectKey } from "../api/query-key.ts";
import { t } from "../text/t.ts";
import { useToast } from "../ui/toasts.tsx";

interface Deletion {
  id: string;
  name: string;
  remove: () => Promise<unknown>;
}

/** Returns a function that announces a deletion. The deletion is sent when the toast disappears or the page closes. */
export function useDelayedDeletion(projectId: string): (deletion: Deletion) => void {
  const queries = useQueryClient();
  const toast = useToast();
  const mark = (id: string, isGoing: boolean) =>
    queries.setQueryData(pendingDeletionsQuery.queryKey, (old) =>
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
        .finally(() => void queries.invalidateQueries({ queryKey: projectKey(projectId) }));
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
