// Progress bars.
import { formatShare } from "./format.ts";

interface ProgressProps {
  label: string;
  share: number;
  /** Text next to the label; defaults to the percentage. */
  text?: string;
}

export function Progress({ label, share, text }: ProgressProps) {
  const bounded = Math.min(1, Math.max(0, share));
  return (
    <div>
      <div className="mb-1.5 flex justify-between gap-3 text-sm">
        <span className="font-medium">{label}</span>
        <span className="text-soft tabular-nums">{text ?? formatShare(bounded)}</span>
      </div>
      <Bar label={label} share={bounded} />
    </div>
  );
}

/** The bar without visible text, for places that already show a label. */
export function Bar({ label, share }: { label: string; share: number }) {
  const percent = Math.min(1, Math.max(0, share)) * 100;
  return (
    <div
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(percent)}
      className="h-1.5 overflow-hidden rounded-sm bg-press"
    >
      <div
        className="h-full rounded-sm bg-accent-fill transition-[width] duration-300 ease-out"
        style={{ width: `${percent}%` }}
      />
    </div>
  );
}
