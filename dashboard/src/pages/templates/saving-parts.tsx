// Parts that the editors of a template and of its languages share: the way back, the save button and its key.
import { Link } from "@tanstack/react-router";
import { ArrowLeft } from "lucide-react";
import { useEffect } from "react";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";

export function BackToTemplates({ projectId }: { projectId: string }) {
  return (
    <Link
      to="/$projectId/templates"
      params={{ projectId }}
      className="-mt-3 mb-5 inline-flex items-center gap-1.5 text-sm text-soft hover:text-ink"
    >
      <ArrowLeft size={14} aria-hidden /> {t("All templates")}
    </Link>
  );
}

interface SaveButtonProps {
  /** Null if nothing is unsaved. */
  save: (() => Promise<unknown>) | null;
  isSaving: boolean;
}

export function SaveButton({ save, isSaving }: SaveButtonProps) {
  return (
    <Button
      look="primary"
      busy={isSaving}
      disabled={save === null}
      // The page shows errors.
      onClick={() => void save?.().catch(() => undefined)}
    >
      {save === null ? t("Saved") : t("Save")}
    </Button>
  );
}

/** Saves on Ctrl+S or ⌘S. */
export function useSaveKey(save: () => void) {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.key !== "s" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      save();
    };
    addEventListener("keydown", listen);
    return () => removeEventListener("keydown", listen);
  });
}
