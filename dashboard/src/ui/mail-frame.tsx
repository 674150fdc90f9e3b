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
      // Another mail is another frame: a frame that changes what it shows is one more step of the back button.
      key={html}
      title={title}
      srcDoc={html}
      sandbox="allow-popups allow-popups-to-escape-sandbox"
      referrerPolicy="no-referrer"
      className={`rounded-md border border-line bg-[#fff] ${className}`}
    />
  );
}
