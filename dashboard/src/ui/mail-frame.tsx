// Renders an email's HTML in a sandboxed frame that runs no scripts and has its own origin.
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
