// The page layout: title, description, actions and content.
import { useEffect, type ReactNode } from "react";

interface PageProps {
  title: string;
  about?: string;
  actions?: ReactNode;
  children: ReactNode;
}

export function Page({ title, about, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Postloft`;
  }, [title]);
  return (
    <div className="mx-auto w-full max-w-[84rem] px-5 pt-8 pb-16 md:px-10 md:pt-10">
      <header className="mb-6 flex flex-wrap items-start justify-between gap-3">
        {/* Long names and addresses may contain no space. */}
        <div className="min-w-0 wrap-anywhere">
          <h1 className="text-xl font-semibold tracking-tight">{title}</h1>
          {about !== undefined && <p className="mt-0.5 text-soft">{about}</p>}
        </div>
        {/* On phones the actions wrap to a new line. A borderless button is shifted so that its text aligns with the title. */}
        {actions !== undefined && (
          <div className="flex flex-wrap gap-2 max-md:[&>.text-soft:first-child]:-ml-3">{actions}</div>
        )}
      </header>
      {children}
    </div>
  );
}

/** Limits text and form controls in a card to a readable width. The card itself has the width of the page. */
export const READABLE_CLASS = "[&>*]:max-w-160";

interface CardProps {
  children: ReactNode;
  className?: string;
  /** Anchor of the card in URLs. */
  id?: string;
}

export function Card({ children, className = "", id }: CardProps) {
  return (
    <section id={id} className={`min-w-0 rounded-lg border border-line bg-surface ${className}`}>
      {children}
    </section>
  );
}

export type Tone = "good" | "neutral" | "warn" | "bad";
const TONES: Record<Tone, string> = {
  good: "bg-good-wash text-good",
  neutral: "bg-hover text-soft",
  warn: "bg-warn-wash text-warn",
  bad: "bg-bad-wash text-bad",
};

export function Badge({ tone, children }: { tone: Tone; children: ReactNode }) {
  return (
    <span className={`inline-flex h-5 items-center rounded-sm px-1.5 text-xs font-medium ${TONES[tone]}`}>
      {children}
    </span>
  );
}
