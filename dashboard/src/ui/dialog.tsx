// A modal dialog that traps focus, closes on Escape and restores focus afterwards. A click outside closes it only until something has been
// typed, so that a stray click cannot lose pasted text.
import { Dialog as Base } from "@base-ui/react/dialog";
import { useRef, useState, type FormEvent, type ReactNode } from "react";
import { t } from "../text/t.ts";
import { AroundField, FIRST } from "./first-focus.ts";
import { useLeaveWarning } from "./use-leave-warning.ts";

/** Returns whether the event typed into a field other than a search box. */
const isTypedIn = ({ target }: FormEvent) =>
  !(target instanceof HTMLInputElement && target.type === "search");

const SHOWN_ONCE = { title: t("Leave this page?"), description: t("You won't be able to see this again.") };

const SIZES = {
  narrow: "top-[14vh] max-h-[76vh] w-[min(30rem,calc(100vw-2rem))]",
  wide: "top-[3vh] max-h-[94vh] w-[min(84rem,calc(100vw-1rem))]",
};

interface DialogProps {
  title: string;
  description?: string;
  open: boolean;
  /** Without it, Escape and outside clicks do not close the dialog, so the user must choose. */
  onClose?: () => void;
  /** Set when the dialog shows something only once. Only its own buttons close it, and leaving the page asks first. */
  isHeld?: boolean;
  /** "wide" is for editors, which need most of the window. */
  size?: "narrow" | "wide";
  children: ReactNode;
}

export function Dialog({
  title,
  description,
  open,
  onClose,
  isHeld = false,
  size = "narrow",
  children,
}: DialogProps) {
  useLeaveWarning(isHeld, SHOWN_ONCE);
  const popup = useRef<HTMLDivElement>(null);
  const [isTyped, setTyped] = useState(false);
  /** Focus synchronously, not in the next frame, so that no typed letter is lost. Without such a field the dialog chooses. */
  const focusFirst = () => {
    const first = popup.current?.querySelector<HTMLElement>(FIRST);
    first?.focus();
    return first == null;
  };
  return (
    <Base.Root
      open={open}
      onOpenChange={(isOpen) => !isOpen && !isHeld && onClose?.()}
      onOpenChangeComplete={(isOpen) => !isOpen && setTyped(false)}
      disablePointerDismissal={onClose === undefined || isHeld || isTyped}
    >
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 bg-veil transition-opacity duration-150 data-ending-style:opacity-0 data-starting-style:opacity-0" />
        <Base.Popup
          ref={popup}
          onInput={(event) => isTypedIn(event) && setTyped(true)}
          initialFocus={focusFirst}
          className={`fixed left-1/2 -translate-x-1/2 overflow-y-auto rounded-lg bg-raised p-5 shadow-float transition duration-150 ease-out data-ending-style:scale-98 data-ending-style:opacity-0 data-starting-style:scale-98 data-starting-style:opacity-0 ${SIZES[size]}`}
        >
          <Base.Title className="text-lg font-semibold tracking-tight">{title}</Base.Title>
          {description !== undefined && (
            <Base.Description className="mt-1 text-soft">{description}</Base.Description>
          )}
          <AroundField value={popup}>
            <div className="mt-4">{children}</div>
          </AroundField>
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
