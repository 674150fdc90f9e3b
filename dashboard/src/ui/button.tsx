// Buttons and links that look like buttons. `busy` keeps the width and announces itself to screen readers.
import type { ButtonHTMLAttributes, ReactNode, Ref } from "react";

export type Look = "primary" | "plain" | "quiet" | "danger";

const BASE =
  "inline-flex items-center justify-center gap-1.5 rounded-md font-medium whitespace-nowrap select-none transition-colors duration-100 disabled:opacity-50 h-8 px-3 text-sm";
const LOOKS: Record<Look, string> = {
  primary: "bg-accent-fill text-on-accent not-disabled:hover:bg-accent-fill-hover",
  plain:
    "bg-raised text-ink border border-line-strong not-disabled:hover:bg-hover not-disabled:active:bg-press",
  quiet: "text-soft not-disabled:hover:bg-hover not-disabled:hover:text-ink not-disabled:active:bg-press",
  danger: "bg-bad-fill text-on-accent not-disabled:hover:opacity-90",
};

/** Returns button classes for links. */
export function buttonClass(look: Look, more = ""): string {
  return `${BASE} ${LOOKS[look]} ${more}`;
}

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  look?: Look;
  busy?: boolean;
  ref?: Ref<HTMLButtonElement>;
  children: ReactNode;
}

export function Button({ look = "plain", busy = false, className = "", children, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      aria-busy={busy}
      disabled={busy || rest.disabled === true}
      className={buttonClass(look, `relative ${className}`)}
    >
      <span className={`inline-flex items-center gap-1.5 ${busy ? "opacity-0" : ""}`}>{children}</span>
      {busy && (
        <span className="absolute size-3.5 animate-spin rounded-full border-2 border-current border-t-transparent" />
      )}
    </button>
  );
}
