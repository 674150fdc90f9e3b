// Copyable text: a one-line value or a block of code. If the browser refuses to copy, a dialog shows the text for manual copying.
import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
import { t } from "../text/t.ts";
import { Button } from "./button.tsx";
import { copyText } from "./copy-text.ts";
import { Dialog } from "./dialog.tsx";
import { TextArea } from "./field.tsx";

const SAYS_COPIED_FOR_MS = 1500;
const SHOWN_OF_SECRET = 6;
const DOTS = 12;

/** Returns the start of a secret, which identifies it, followed by dots. */
export function mask(secret: string): string {
  return secret.slice(0, SHOWN_OF_SECRET) + "•".repeat(DOTS);
}

export function CopyButton({ text, label }: { text: string; label: string }) {
  const [isCopied, setCopied] = useState(false);
  const [isRefused, setRefused] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setCopied(false), SAYS_COPIED_FOR_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = async () => {
    const isDone = await copyText(text);
    setCopied(isDone);
    setRefused(!isDone);
  };
  return (
    <>
      <button
        type="button"
        onClick={() => void copy()}
        aria-label={isCopied ? t("Copied") : label}
        className="inline-grid size-7 shrink-0 place-items-center rounded-sm text-faint transition-colors hover:bg-hover hover:text-ink"
      >
        {isCopied ? <Check size={14} className="text-good" /> : <Copy size={14} />}
      </button>
      {isRefused && <ByHandDialog text={text} onClose={() => setRefused(false)} />}
    </>
  );
}

/** Shows the full text selected, because the page may show it masked or not at all. */
function ByHandDialog({ text, onClose }: { text: string; onClose: () => void }) {
  return (
    <Dialog
      title={t("Couldn't copy")}
      description={t("Your browser blocked copying. The text is selected, so press Ctrl C or ⌘C.")}
      open
      onClose={onClose}
    >
      <TextArea
        label={t("Text to copy")}
        isCode
        readOnly
        autoFocus
        rows={5}
        value={text}
        onFocus={({ target }) => target.select()}
      />
      <div className="mt-4 flex justify-end">
        <Button onClick={onClose}>{t("Close")}</Button>
      </div>
    </Dialog>
  );
}

interface SnippetProps {
  code: string;
  /** A part of the code that is masked. */
  secret?: string;
  label: string;
}

export function Snippet({ code, secret, label }: SnippetProps) {
  const shown = secret === undefined ? code : code.replaceAll(secret, mask(secret));
  return (
    <div className="relative rounded-md border border-line bg-side">
      <pre tabIndex={0} className="overflow-x-auto py-3 pr-12 pl-4 font-mono text-xs leading-5">
        {shown}
      </pre>
      <div className="absolute top-1.5 right-1.5 rounded-sm bg-side">
        <CopyButton text={code} label={label} />
      </div>
    </div>
  );
}
