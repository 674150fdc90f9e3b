// Renders an email's HTML in a sandboxed frame that runs no scripts and has its own origin, in full or as a small picture for lists.
import { useEffect, useRef, useState, type ReactNode } from "react";
import { t } from "../text/t.ts";

interface MailFrameProps {
  /** Accessible name of the frame. */
  title: string;
  html: string;
  className?: string;
}

export function MailFrame({ title, html, className = "h-128 w-full" }: MailFrameProps) {
  return (
    <iframe
      // Remount the frame for another email, because changing `srcDoc` adds an entry to the browser history.
      key={html}
      title={title}
      srcDoc={html}
      sandbox="allow-popups allow-popups-to-escape-sandbox"
      referrerPolicy="no-referrer"
      className={`rounded-md border border-line bg-[#fff] ${className}`}
    />
  );
}

/** The size of the email inside the frame, in pixels. CSS scales it to the box. */
const WIDTH = 640;
const HEIGHT = 480;
const BOX_WIDTH = 48;
/** Rows that scroll past quickly load nothing. */
const RESTS_MS = 200;
/** Enough for what the box shows. */
const MOST_CHARACTERS = 60_000;

interface MailThumbnailProps {
  /** Undefined while the email is loading. */
  html: string | undefined;
  /** Called once the box is on the screen. */
  onSeen?: () => void;
  /** The width of the box in pixels. */
  width?: number;
  className?: string;
}

export function MailThumbnail({ html, onSeen, width = BOX_WIDTH, className = "" }: MailThumbnailProps) {
  const box = useRef<HTMLSpanElement>(null);
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    if (box.current === null || isSeen) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const observer = new IntersectionObserver((entries) => {
      clearTimeout(timer);
      if (entries.at(-1)?.isIntersecting !== true) return;
      timer = setTimeout(() => {
        setSeen(true);
        onSeen?.();
      }, RESTS_MS);
    });
    observer.observe(box.current);
    return () => {
      clearTimeout(timer);
      observer.disconnect();
    };
  }, [isSeen, onSeen]);
  return (
    <span
      ref={box}
      aria-hidden
      className={`relative block shrink-0 overflow-hidden rounded-sm border border-line bg-[#fff] ${className}`}
      style={{ width, height: (width * HEIGHT) / WIDTH }}
    >
      {isSeen && html !== undefined && (
        <iframe
          key={html}
          title={t("Email content")}
          srcDoc={safe(html)}
          sandbox=""
          tabIndex={-1}
          referrerPolicy="no-referrer"
          className="pointer-events-none absolute top-0 left-0 origin-top-left border-0"
          style={{ width: WIDTH, height: HEIGHT, transform: `scale(${width / WIDTH})` }}
        />
      )}
    </span>
  );
}

/** The policy doesn't cover connections that a link announces. */
const ANNOUNCED = /<link\b[^>]*>/gi;

/** Returns the email with a policy that loads only images of this installation. */
function safe(html: string): string {
  const policy = `default-src 'none'; style-src 'unsafe-inline'; img-src ${location.origin} data:`;
  return `<meta http-equiv="Content-Security-Policy" content="${policy}"><meta http-equiv="x-dns-prefetch-control" content="off"><style>html{overflow:hidden}</style>${html.slice(0, MOST_CHARACTERS).replaceAll(ANNOUNCED, "")}`;
}

/** A name after the picture of its email, which is hidden on phones, where the name needs the room. */
export function WithThumbnail({ children, ...thumbnail }: MailThumbnailProps & { children: ReactNode }) {
  return (
    <span className="flex min-w-0 items-center gap-3">
      <MailThumbnail {...thumbnail} className="max-sm:hidden" />
      <span className="min-w-0 truncate">{children}</span>
    </span>
  );
}
