// The compared conditions of a step, each with its result.
import { Check, X } from "lucide-react";
import { t } from "../../../text/t.ts";
import type { Comparison } from "./trial-words.ts";

export function Comparisons({ comparisons }: { comparisons: readonly Comparison[] }) {
  return (
    <ul className="text-soft">
      {comparisons.map(({ text, matches }, index) => (
        <li key={index} className="flex gap-1.5">
          {matches ? (
            <Check size={14} className="mt-0.75 shrink-0 text-good" aria-label={t("True")} />
          ) : (
            <X size={14} className="mt-0.75 shrink-0 text-faint" aria-label={t("False")} />
          )}
          <span className="min-w-0 wrap-anywhere">{text}</span>
        </li>
      ))}
    </ul>
  );
}
