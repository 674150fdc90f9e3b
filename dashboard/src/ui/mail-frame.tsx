// The HTML of a mail as it looks, in a frame that can run nothing, reach nothing of this page and has its own origin.
interface MailFrameProps {
  /** What is in it, for screen readers. */
  title: string;
  html: string;
  className?: string;
}

export function MailFrame({ title, html, className = "h-128 w-full" }: MailFrameProps) {
  return (
    <iframe
      title={title}
      srcDoc={html}
      sandbox="allow-popups allow-popups-to-escape-sandbox"
      referrerPolicy="no-referrer"
      className={`rounded-md border border-line bg-[#fff] ${className}`}
    />
  );
}
