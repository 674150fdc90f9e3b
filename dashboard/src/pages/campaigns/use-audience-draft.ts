// Who gets a campaign, as it is chosen: each choice is saved at once, and one that could not be is kept and goes with the next try.
// Before it: audience-step.tsx. After it: campaign-queries.ts.
import { useRef, useState } from "react";
import { useLeaveWarning } from "../../ui/use-leave-warning.ts";
import { useSavingCampaign, type Campaign, type CampaignBody } from "./campaign-queries.ts";

type Change = Partial<CampaignBody>;

export function useAudienceDraft(projectId: string, campaign: Campaign) {
  const saving = useSavingCampaign(projectId, campaign);
  /** What was chosen and is not stored yet. */
  const [unsaved, setUnsaved] = useState<Change>({});
  useLeaveWarning(saving.isError);
  const last = useRef<Promise<boolean>>(Promise.resolve(true));
  const send = async (all: Change): Promise<boolean> => {
    try {
      await saving.mutateAsync(all);
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
  return {
    saving,
    /** What was just chosen is shown while it is saved, and when that failed. */
    shown: { ...campaign, ...unsaved } as Campaign,
    save,
    retry: () => save({}),
    /** Whether the last choice is stored, once that is known. */
    settled: () => last.current,
  };
}
