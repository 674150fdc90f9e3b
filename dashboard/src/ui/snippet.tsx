// Text to copy: a value in one line, or a block of code. Copying says so on the button; where the browser refuses, the text is there to copy by hand.
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

/** The beginning of a secret, by which it is recognized, and dots. */
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

/** What the page shows may be dots, or not there at all: here it stands whole, and selected. */
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
  /** What is copied. */
  code: string;
  /** A part of it that is shown as dots. */
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
