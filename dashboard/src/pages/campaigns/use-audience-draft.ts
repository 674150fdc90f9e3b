// Saves each audience choice immediately. A choice that fails to save is kept and sent with the next attempt.
import { useBlocker } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { holdHistory } from "../../ui/hold-history.ts";
import { confirmLeaving } from "../../ui/leave-question.ts";
import { useOnline } from "../../ui/use-online.ts";
import {
  useLatestCampaign,
  useSavingCampaign,
  type Campaign,
  type CampaignBody,
} from "./campaign-queries.ts";

type Change = Partial<CampaignBody>;

/** Blocks navigation until the save finishes, and asks before leaving if it failed. */
export function useAudienceDraft(projectId: string, campaign: Campaign) {
  const saving = useSavingCampaign(projectId, campaign);
  const [known, setKnown] = useLatestCampaign(campaign);
  /** Choices that are not saved yet. */
  const [unsaved, setUnsaved] = useState<Change>({});
  const isUnsaved = Object.keys(unsaved).length > 0;
  const last = useRef<Promise<boolean>>(Promise.resolve(true));
  useBlocker({
    shouldBlockFn: () => holdHistory(async () => !(await last.current) && !(await confirmLeaving())),
    enableBeforeUnload: () => isUnsaved,
    disabled: !isUnsaved,
  });
  const send = async (all: Change): Promise<boolean> => {
    try {
      setKnown(await saving.mutateAsync(all));
      setUnsaved((now) => (now === all ? {} : now));
      return true;
    } catch {
      return false; // The mutation keeps the error, which the page displays.
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
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- run once whenever the network is back
  }, [isOnline]);
  return {
    saving,
    /** Includes unsaved choices, also after a failed save. */
    shown: { ...known, ...unsaved } as Campaign,
    save,
    retry: () => save({}),
    /** Resolves to whether the last choice was saved. */
    settled: () => last.current,
  };
}
