// Who gets a campaign, as it is chosen: each choice is saved at once, and one that could not be is kept and goes with the next try.
import { useBlocker } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { askToLeave } from "../../ui/use-leave-warning.ts";
import { useOnline } from "../../ui/use-online.ts";
import { useKnown, useSavingCampaign, type Campaign, type CampaignBody } from "./campaign-queries.ts";

type Change = Partial<CampaignBody>;

/** Leaving waits for what is being saved, and asks where that fails. */
export function useAudienceDraft(projectId: string, campaign: Campaign) {
  const saving = useSavingCampaign(projectId, campaign);
  const [known, setKnown] = useKnown(campaign);
  /** What was chosen and is not stored yet. */
  const [unsaved, setUnsaved] = useState<Change>({});
  const isUnsaved = Object.keys(unsaved).length > 0;
  const last = useRef<Promise<boolean>>(Promise.resolve(true));
  useBlocker({
    shouldBlockFn: async () => !(await last.current) && !askToLeave(),
    enableBeforeUnload: () => isUnsaved,
    disabled: !isUnsaved,
  });
  const send = async (all: Change): Promise<boolean> => {
    try {
      setKnown(await saving.mutateAsync(all));
      setUnsaved((now) => (now === all ? {} : now));
      return true;
    } catch {
      return false; // The mutation holds the error, and the page shows it.
    }
  };
  const save = (change: Change): void => {
    const all = { ...unsaved, ...change };
    setUnsaved(all);
    last.current = send(all);
  };
  const isOnline = useOnline();
  useEffect(() => {
    if (isOnline && isUnsaved) save({});
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- once each time the network is back
  }, [isOnline]);
  return {
    saving,
    /** What was just chosen is shown while it is saved, and when that failed. */
    shown: { ...known, ...unsaved } as Campaign,
    save,
    retry: () => save({}),
    /** Whether the last choice is stored, once that is known. */
    settled: () => last.current,
  };
}
