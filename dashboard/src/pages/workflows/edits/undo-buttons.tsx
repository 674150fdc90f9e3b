// The buttons that undo and redo edits of a workflow, and their keyboard shortcuts.
import { Redo2, Undo2 } from "lucide-react";
import { useEffect, useRef } from "react";
import { t } from "../../../text/t.ts";
import { Button } from "../../../ui/button.tsx";
import { isTaken } from "../../palette/shortcuts.ts";
import type { Direction } from "./edit-history.ts";
import { editText } from "./edit-text.ts";
import { useEdits } from "./use-edits.tsx";

const KEYS = { undo: "Control+Z Meta+Z", redo: "Control+Shift+Z Meta+Shift+Z Control+Y" };

/** Returns what a key asks for. An input undoes its own text. */
function directionOf(event: KeyboardEvent): Direction | null {
  const { ctrlKey, metaKey, shiftKey, altKey } = event;
  if (!(ctrlKey || metaKey) || altKey || isTaken(event)) return null;
  const key = event.key.toLowerCase();
  if (key === "z") return shiftKey ? "redo" : "undo";
  return key === "y" && ctrlKey ? "redo" : null;
}

export function UndoButtons() {
  const { isBlocked, take } = useEdits();
  const latest = useRef(take);
  useEffect(() => {
    latest.current = take;
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const direction = directionOf(event);
      if (direction === null) return;
      event.preventDefault();
      latest.current(direction);
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  return (
    <>
      <div role="group" aria-label={t("Edits")} className="flex gap-1">
        <UndoButton direction="undo" />
        <UndoButton direction="redo" />
      </div>
      {isBlocked && (
        <p role="status" className="order-last w-full text-sm text-soft">
          {t("Someone else changed this workflow, so your earlier edits can't be undone.")}
        </p>
      )}
    </>
  );
}

function UndoButton({ direction }: { direction: Direction }) {
  const { offered, isPending, take } = useEdits();
  const edit = offered[direction];
  const text = edit === null ? "" : editText(edit);
  const isUndo = direction === "undo";
  const plain = isUndo ? t("Nothing to undo") : t("Nothing to redo");
  const full = isUndo ? t("Undo: {edit}", { edit: text }) : t("Redo: {edit}", { edit: text });
  const label = edit === null ? plain : full;
  const Icon = isUndo ? Undo2 : Redo2;
  // A disabled button would lose the focus after its last edit.
  return (
    <Button
      aria-label={label}
      title={label}
      aria-keyshortcuts={KEYS[direction]}
      aria-disabled={edit === null || isPending}
      className="px-2 aria-disabled:opacity-50"
      onClick={() => take(direction)}
    >
      <Icon size={14} aria-hidden />
    </Button>
  );
}
