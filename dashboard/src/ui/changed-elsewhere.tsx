// Somebody changed a thing while it was being written here: what is saved now, and whose stays.
import { useState, type ReactNode } from "react";
import { t } from "../text/t.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { formatInstant } from "./format.ts";

interface ChangedElsewhereProps<Saved extends { updatedAt: string }> {
  /** That it was changed, and when. */
  said: string;
  /** What is saved now; undefined while it is read. */
  saved: Saved | undefined;
  show: (saved: Saved) => ReactNode;
  /** What is written here goes over what was looked at; undefined while it cannot be saved. */
  onSaveOver: ((saved: Saved) => void) | undefined;
  /** What is saved is gone on with, in place of what is written here. */
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
