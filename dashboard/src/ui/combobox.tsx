// A searchable select: a button with the current value and a grouped list. Supports arrow keys, Enter and Escape.
import { Combobox as Base } from "@base-ui/react/combobox";
import { ChevronsUpDown } from "lucide-react";
import { useState, type ReactNode } from "react";
import { t } from "../text/t.ts";
import { INPUT_CLASS } from "./field.tsx";

export interface ComboboxItem {
  value: string;
  label: string;
  /** The item's kind, at the end of the line. */
  note?: string;
  /** Shown before the label. */
  picture?: ReactNode;
}
export interface ComboboxGroup {
  label: string;
  items: ComboboxItem[];
}

interface ComboboxProps {
  /** Accessible name. */
  label: string;
  /** Content of the button. */
  shown: ReactNode;
  groups: readonly ComboboxGroup[];
  value: string;
  onChoose: (value: string) => void;
  /** Called before the list opens. */
  onOpen?: () => void;
  isInvalid?: boolean;
  /** Focuses the button on mount. */
  hasFocus?: boolean;
  /** Returns items that can be created from the typed text if none has that name. */
  madeOf?: (typed: string) => ComboboxItem[];
}

// A type alias because Base UI requires an index signature, which interfaces lack.
type Listed = { value: string; items: ComboboxItem[] };

export function Combobox({
  label,
  shown,
  groups,
  value,
  onChoose,
  onOpen,
  isInvalid = false,
  hasFocus = false,
  madeOf,
}: ComboboxProps) {
  const [isOpen, setOpen] = useState(false);
  const [typed, setTyped] = useState("");
  const listed = isOpen ? find(groups, typed, madeOf) : [];
  return (
    <Base.Root<ComboboxItem>
      items={listed}
      filteredItems={listed}
      value={listed.flatMap(({ items }) => items).find((item) => item.value === value) ?? null}
      onValueChange={(item) => item !== null && onChoose(item.value)}
      inputValue={typed}
      onInputValueChange={setTyped}
      open={isOpen}
      onOpenChange={(open) => {
        setOpen(open);
        setTyped("");
        if (open) onOpen?.();
      }}
      autoHighlight
    >
      <Base.Trigger
        aria-label={label}
        autoFocus={hasFocus}
        aria-invalid={isInvalid ? true : undefined}
        className={`${INPUT_CLASS} flex items-center justify-between gap-2 text-left`}
      >
        <span className="truncate">{shown}</span>
        <ChevronsUpDown size={13} className="shrink-0 text-faint" aria-hidden />
      </Base.Trigger>
      <Base.Portal>
        <Base.Positioner align="start" sideOffset={5} className="z-20">
          <Base.Popup
            aria-label={label}
            className="flex max-h-[min(24rem,var(--available-height))] w-80 max-w-(--available-width) flex-col rounded-lg bg-raised shadow-float"
          >
            <div className="border-b border-line p-1.5">
              <Base.Input aria-label={t("Search")} placeholder={t("Search")} className={INPUT_CLASS} />
            </div>
            <Base.Empty className="p-3 text-sm text-soft empty:hidden">
              {listed.length === 0 && t("No results")}
            </Base.Empty>
            <Base.List className="overflow-y-auto p-1 empty:hidden">
              {(group: Listed) => (
                <Base.Group key={group.value} items={group.items} className="pb-1">
                  <Base.GroupLabel className="px-2 pt-1.5 pb-1 text-xs font-medium text-faint">
                    {group.value}
                  </Base.GroupLabel>
                  <Base.Collection>
                    {(item: ComboboxItem) => <Line key={item.value} item={item} />}
                  </Base.Collection>
                </Base.Group>
              )}
            </Base.List>
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

function Line({ item }: { item: ComboboxItem }) {
  return (
    <Base.Item
      value={item}
      className="flex min-h-8 cursor-pointer items-center justify-between gap-3 rounded-sm px-2 text-sm outline-none select-none data-highlighted:bg-hover data-selected:font-medium"
    >
      <span className="flex min-w-0 items-center gap-2.5">
        {item.picture}
        <bdi className="truncate">{item.label}</bdi>
      </span>
      {item.note !== undefined && <span className="shrink-0 text-xs text-faint">{item.note}</span>}
    </Base.Item>
  );
}

/** Returns the items that contain the typed text (case-insensitive) and the items that can be created from it. Omits empty groups. */
function find(
  groups: readonly ComboboxGroup[],
  typed: string,
  creatableItems: ComboboxProps["madeOf"] = () => [],
): Listed[] {
  const wanted = typed.trim().toLowerCase();
  const found = groups.map(({ label, items }) => ({
    value: label,
    items: wanted === "" ? items : items.filter((item) => item.label.toLowerCase().includes(wanted)),
  }));
  const made = { value: t("New"), items: wanted === "" ? [] : creatableItems(typed.trim()) };
  return [...found, made].filter(({ items }) => items.length > 0);
}
