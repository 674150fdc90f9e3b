// The frame of a page's content: its title, what it is about, and what one may do there.
import { useEffect, type ReactNode } from "react";

interface PageProps {
  title: string;
  about?: string;
  actions?: ReactNode;
  /** Two columns of work beside each other need more than reading does. */
  width?: "reading" | "wide";
  children: ReactNode;
}

export function Page({ title, about, actions, width = "reading", children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Postloft`;
  }, [title]);
  return (
    <div
      className={`mx-auto w-full px-5 pt-8 pb-16 md:px-10 md:pt-10 ${width === "wide" ? "max-w-[96rem]" : "max-w-5xl"}`}
    >
      <header className="mb-6 flex flex-wrap items-start justify-between gap-3">
        {/* A name or an address may be long and have no space. */}
        <div className="min-w-0 wrap-anywhere">
          <h1 className="text-xl font-semibold tracking-tight">{title}</h1>
          {about !== undefined && <p className="mt-0.5 text-soft">{about}</p>}
        </div>
        {/* On a phone they begin a line: words without a frame begin where the title does. */}
        {actions !== undefined && (
          <div className="flex flex-wrap gap-2 max-md:[&>.text-soft:first-child]:-ml-3">{actions}</div>
        )}
      </header>
      {children}
    </div>
  );
}

interface CardProps {
  children: ReactNode;
  className?: string;
  /** Leads there, behind `#`. */
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
