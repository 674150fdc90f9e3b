// A button that opens a menu, with support for arrow keys, typing and Escape.
import { Menu as Base } from "@base-ui/react/menu";
import type { ReactNode } from "react";

interface MenuProps {
  /** Accessible name of the button. */
  label: string;
  button: ReactNode;
  className: string;
  /** Opens the menu above its button at the bottom of the window, because opening below first would make it jump. */
  side?: "top";
  /** Returns the element that gets the focus when the menu closes, unless the user has moved the focus; null for the button. */
  focusAfter?: () => HTMLElement | null;
  children: ReactNode;
}

export function Menu({ label, button, className, side, focusAfter, children }: MenuProps) {
  return (
    <Base.Root>
      <Base.Trigger aria-label={label} className={className}>
        {button}
      </Base.Trigger>
      <Base.Portal>
        {/* Fixed, because the page scroll is locked but touch scrolling could still move the menu away. */}
        <Base.Positioner
          positionMethod="fixed"
          {...(side === undefined ? {} : { side })}
          align="start"
          sideOffset={5}
          className="z-20"
        >
          <Base.Popup
            {...(focusAfter === undefined
              ? {}
              : { finalFocus: () => !isFocusElsewhere() && (focusAfter() ?? true) })}
            className="min-w-52 origin-(--transform-origin) rounded-lg bg-raised p-1 shadow-float transition duration-100 data-ending-style:opacity-0 data-starting-style:scale-98 data-starting-style:opacity-0"
          >
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

/** Returns whether the focus left the menu before it closed. */
function isFocusElsewhere(): boolean {
  const now = document.activeElement;
  return now !== null && now !== document.body && now.closest("[role=menu]") === null;
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
