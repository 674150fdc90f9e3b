// Edits one value in place. Enter saves, Escape cancels, and errors appear below.
import { Check, X } from "lucide-react";
import { useId, useState, type KeyboardEvent, type ReactNode } from "react";
import { t } from "../../../text/t.ts";
import { Button } from "../../../ui/button.tsx";
import { AREA_CLASS, INPUT_CLASS } from "../../../ui/field.tsx";
import type { Kind } from "./field-value.ts";

interface ValueFormProps {
  /** Content before the value. */
  children: ReactNode;
  kind: Kind;
  /** Accessible name of the input. */
  label: string;
  /** The field's name, for the labels of the buttons. */
  name: string;
  draft: string;
  onDraft: (draft: string) => void;
  problem: string | undefined;
  isBusy: boolean;
  /** Focuses the value on mount. */
  hasFocus: boolean;
  className: string;
  onSave: () => void;
  onCancel: () => void;
}

export function ValueForm({
  children,
  kind,
  label,
  name,
  draft,
  onDraft,
  problem,
  isBusy,
  hasFocus,
  className,
  onSave,
  onCancel,
}: ValueFormProps) {
  const noteId = useId();
  // Decided once, so that the input does not change its type while the user types.
  const [hasLines] = useState(draft.includes("\n"));
  const isLong = kind === "json" || (kind === "text" && hasLines);
  const note = problem ?? (isLong ? t("Press Enter to save, or Shift+Enter for a new line.") : undefined);
  const tied = {
    "aria-label": label,
    "aria-invalid": problem === undefined ? undefined : true,
    "aria-describedby": note === undefined ? undefined : noteId,
    autoFocus: hasFocus,
  } as const;
  const byKey = (event: KeyboardEvent) => {
    // An open list is rendered elsewhere in the page and handles Escape itself.
    const isOwn = event.currentTarget.contains(event.target as Node);
    if (event.key === "Escape" && isOwn && !event.nativeEvent.isComposing) onCancel();
  };
  return (
    <form
      noValidate
      className={className}
      onKeyDown={byKey}
      onSubmit={(event) => {
        event.preventDefault();
        if (!isBusy) onSave();
      }}
    >
      {children}
      <div className="min-w-0">
        <ValueControl kind={kind} isLong={isLong} draft={draft} onDraft={onDraft} tied={tied} />
        {note !== undefined && (
          <p
            id={noteId}
            role={problem === undefined ? undefined : "alert"}
            className={`mt-1 text-sm ${problem === undefined ? "text-faint" : "text-bad"}`}
          >
            {note}
          </p>
        )}
      </div>
      <div className="-mr-3 flex">
        <Button look="quiet" type="submit" busy={isBusy} aria-label={t("Save {name}", { name })}>
          <Check size={15} aria-hidden />
        </Button>
        <Button look="quiet" aria-label={t("Discard changes to {name}", { name })} onClick={onCancel}>
          <X size={15} aria-hidden />
        </Button>
      </div>
    </form>
  );
}

const INPUT_TYPES = { text: "text", number: "number", day: "date", instant: "datetime-local" } as const;

interface ControlProps {
  kind: Kind;
  /** Whether the value has several lines. */
  isLong: boolean;
  draft: string;
  onDraft: (draft: string) => void;
  tied: { "aria-label": string; autoFocus?: boolean };
}

/** The input of a value. */
export function ValueControl({ kind, isLong, draft, onDraft, tied }: ControlProps) {
  if (kind === "boolean")
    return (
      <label className="flex h-8 w-fit items-center gap-2">
        <input
          {...tied}
          type="checkbox"
          checked={draft === "true"}
          onChange={({ target }) => onDraft(String(target.checked))}
          className="size-4 accent-accent-fill"
        />
        <span aria-hidden>{draft === "true" ? t("yes") : t("no")}</span>
      </label>
    );
  if (isLong || kind === "json")
    return (
      <textarea
        {...tied}
        spellCheck={kind === "text"}
        rows={Math.min(12, Math.max(2, draft.split("\n").length))}
        value={draft}
        onChange={({ target }) => onDraft(target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          event.currentTarget.form?.requestSubmit();
        }}
        className={`block ${AREA_CLASS} ${kind === "json" ? "font-mono text-xs leading-5" : ""}`}
      />
    );
  return (
    <input
      {...tied}
      type={INPUT_TYPES[kind]}
      step={kind === "number" ? "any" : undefined}
      dir={kind === "text" ? "auto" : undefined}
      value={draft}
      onFocus={({ target }) => target.select()}
      onChange={({ target }) => onDraft(target.value)}
      className={INPUT_CLASS}
    />
  );
}
