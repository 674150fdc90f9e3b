// Text to copy: a value in one line, or a block of code. Copying says so on the button.
import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";

const SAYS_COPIED_FOR_MS = 1500;

export function CopyButton({ text, label }: { text: string; label: string }) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setCopied(false), SAYS_COPIED_FOR_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
  };
  return (
    <button
      type="button"
      onClick={() => void copy()}
      aria-label={isCopied ? "Copied" : label}
      className="inline-grid size-7 shrink-0 place-items-center rounded-sm text-faint transition-colors hover:bg-hover hover:text-ink"
    >
      {isCopied ? <Check size={14} className="text-good" /> : <Copy size={14} />}
    </button>
  );
}

export function Snippet({ code, label }: { code: string; label: string }) {
  return (
    <div className="relative rounded-md border border-line bg-side">
      <pre className="overflow-x-auto py-3 pr-12 pl-4 font-mono text-xs leading-5">{code}</pre>
      <div className="absolute top-1.5 right-1.5">
        <CopyButton text={code} label={label} />
      </div>
    </div>
  );
}
