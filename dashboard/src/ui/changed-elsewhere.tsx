// Resolves a conflict when something was changed elsewhere while it was being edited here.
import { useState, type ReactNode } from "react";
import { t } from "../text/t.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { formatInstant } from "./format.ts";

interface ChangedElsewhereProps<Saved extends { updatedAt: string }> {
  /** Says that it was changed, and when. */
  said: string;
  /** The saved version; undefined while loading. */
  saved: Saved | undefined;
  show: (saved: Saved) => ReactNode;
  /** Overwrites the saved version with the local edits; undefined while they cannot be saved. */
  onSaveOver: ((saved: Saved) => void) | undefined;
  /** Discards the local edits and continues with the saved version. */
  onTaken: (saved: Saved) => void;
}

export function ChangedElsewhere<Saved extends { updatedAt: string }>({
  said,
  saved,
  show,
  onSaveOver,
  onTaken,
}: ChangedElsewhereProps<Saved>) {
  const [isLooking, setLooking] = useState(false);
  const over = (
    <Button
      disabled={saved === undefined || onSaveOver === undefined}
      onClick={() => {
        if (saved !== undefined) onSaveOver?.(saved);
        setLooking(false);
      }}
    >
      {t("Overwrite")}
    </Button>
  );
  return (
    <div role="alert" className="mb-5 rounded-md border border-line bg-warn-wash px-3.5 py-2.5 text-sm">
      <p className="font-medium text-warn">{said}</p>
      <p className="mt-0.5 text-soft">{t("Your changes are still here but not saved.")}</p>
      <div className="mt-2 flex flex-wrap gap-2">
        <Button disabled={saved === undefined} onClick={() => setLooking(true)}>
          {t("View saved version")}
        </Button>
        {over}
      </div>
      {isLooking && saved !== undefined && (
        <Dialog
          title={t("Saved version")}
          description={t("Updated {when}", { when: formatInstant(saved.updatedAt) })}
          open
          onClose={() => setLooking(false)}
        >
          {show(saved)}
          <p className="mt-4 text-sm text-warn">{t("Using the saved version discards your changes.")}</p>
          <div className="mt-3 flex flex-wrap justify-end gap-2">
            <Button look="quiet" onClick={() => setLooking(false)}>
              {t("Close")}
            </Button>
            <Button onClick={() => onTaken(saved)}>{t("Use saved version")}</Button>
            {over}
          </div>
        </Dialog>
      )}
    </div>
  );
}
