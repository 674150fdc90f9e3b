// A choice between a few options, displayed as a filter or as tabs.
import { useEffect, useRef } from "react";

interface ChoicesProps<Value extends string> {
  /** Accessible name of the group. */
  label: string;
  options: ReadonlyArray<{ value: Value; label: string }>;
  value: Value;
  onChoose: (value: Value) => void;
  look?: "filter" | "tabs";
  /** Replaces the default bottom border and margin of tabs. */
  className?: string;
}

const OPTION = {
  filter:
    "inline-flex h-8 items-center rounded-md px-3 text-sm font-medium text-soft transition-colors hover:bg-hover hover:text-ink aria-pressed:bg-press aria-pressed:text-ink",
  tabs: "-mb-px inline-flex h-9 items-center border-b-2 border-transparent px-0.5 text-sm font-medium whitespace-nowrap text-soft transition-colors hover:text-ink aria-pressed:border-accent aria-pressed:text-ink",
};
const GROUP = {
  filter: "flex flex-wrap gap-0.5",
  // On phones the tabs scroll, because many rows of them would push the page down.
  tabs: "relative flex gap-x-5 max-md:overflow-x-auto max-md:pb-px md:flex-wrap",
};
const EDGE = { filter: "", tabs: "mb-5 border-b border-line" };

export function Choices<Value extends string>({
  label,
  options,
  value,
  onChoose,
  look = "filter",
  className = EDGE[look],
}: ChoicesProps<Value>) {
  const group = useRef<HTMLDivElement>(null);
  // Scroll the selected tab into view if the tabs overflow.
  useEffect(() => {
    const chosen = group.current?.querySelector<HTMLElement>("[aria-pressed=true]");
    if (group.current == null || chosen == null) return;
    group.current.scrollLeft = chosen.offsetLeft - (group.current.clientWidth - chosen.offsetWidth) / 2;
  }, [value]);
  return (
    <div ref={group} className={`${GROUP[look]} ${className}`} role="group" aria-label={label}>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === value}
          onClick={() => onChoose(option.value)}
          className={OPTION[look]}
        >
          {option.label}
        </button>
      ))}
    </div>
  );
}
