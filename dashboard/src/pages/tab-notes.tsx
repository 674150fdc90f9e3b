// Notices about the tab itself: it is offline, or older than the server.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { isUpgraded } from "../api/build.ts";
import { t } from "../text/t.ts";
import { Button } from "../ui/button.tsx";
import { useOnline } from "../ui/use-online.ts";

const POLL_EVERY_MS = 5 * 60_000;
const FRESH_FOR_MS = 60_000;
const KEY = ["upgraded"];

export function TabNotes() {
  const queries = useQueryClient();
  const isOnline = useOnline();
  const upgraded = useQuery({
    queryKey: KEY,
    queryFn: ({ signal }) => isUpgraded(signal),
    refetchInterval: POLL_EVERY_MS,
    staleTime: FRESH_FOR_MS,
  });
  useEffect(() => {
    // A missing file of this build is usually the first sign of an upgrade.
    const look = () => void queries.invalidateQueries({ queryKey: KEY });
    addEventListener("vite:preloadError", look);
    return () => removeEventListener("vite:preloadError", look);
  }, [queries]);
  return (
    <div role="status">
      {!isOnline && (
        <div className="m-2.5 rounded-md border border-line bg-warn-wash p-3 text-sm">
          <p className="font-medium text-warn">{t("You're offline")}</p>
          <p className="text-soft">
            {t("You can't save until you're back online. Keep this tab open to keep your changes.")}
          </p>
        </div>
      )}
      {upgraded.data === true && (
        <div className="m-2.5 rounded-md border border-line bg-surface p-3 text-sm">
          <p className="font-medium">{t("Postloft was updated")}</p>
          <p className="mb-2 text-soft">{t("Reload to get the new version.")}</p>
          <Button onClick={() => location.reload()}>{t("Reload")}</Button>
        </div>
      )}
    </div>
  );
}
