// Removes a line of a form.
import { X } from "lucide-react";

export function RemoveButton({ label, onClick }: { label: string; onClick: () => void }) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      onClick={onClick}
      className="grid size-8 shrink-0 place-items-center rounded-md text-faint hover:bg-hover hover:text-ink"
    >
      <X size={14} aria-hidden />
    </button>
  );
}
