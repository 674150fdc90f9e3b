// A button that opens a list of choices; arrows, typing and Escape work.
import { Menu as Base } from "@base-ui/react/menu";
import type { ReactNode } from "react";

interface MenuProps {
  /** What the button says to a screen reader. */
  label: string;
  button: ReactNode;
  className: string;
  /** Above it, for a button at the bottom of the window: placed below first, the list would be seen to jump. */
  side?: "top";
  children: ReactNode;
}

export function Menu({ label, button, className, side, children }: MenuProps) {
  return (
    <Base.Root>
      <Base.Trigger aria-label={label} className={className}>
        {button}
      </Base.Trigger>
      <Base.Portal>
        {/* Fixed: the page is locked behind it, and what scrolls all the same does not take it away under a finger. */}
        <Base.Positioner
          positionMethod="fixed"
          {...(side === undefined ? {} : { side })}
          align="start"
          sideOffset={5}
          className="z-20"
        >
          <Base.Popup className="min-w-52 origin-(--transform-origin) rounded-lg bg-raised p-1 shadow-float transition duration-100 data-ending-style:opacity-0 data-starting-style:scale-98 data-starting-style:opacity-0">
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

export function MenuItem({ onSelect, children }: { onSelect: () => void; children: ReactNode }) {
  return (
    <Base.Item
      onClick={onSelect}
      className="flex h-8 cursor-pointer items-center gap-2 rounded-sm px-2 text-sm outline-none select-none data-highlighted:bg-hover"
    >
      {children}
    </Base.Item>
  );
}

export function MenuLine() {
  return <Base.Separator className="my-1 h-px bg-line" />;
}
