// Text without formatting that is edited in the email itself, such as a heading.
import { useEffect, useRef, type ClipboardEvent, type CSSProperties } from "react";

interface PlainTextProps {
  /** Accessible name. */
  label: string;
  value: string;
  style: CSSProperties;
  onChange: (text: string) => void;
}

/** The text has one line, so a pasted line break becomes a space. */
const inOneLine = (text: string) => text.replaceAll(/\s*[\r\n]\s*/g, " ");

export function PlainText({ label, value, style, onChange }: PlainTextProps) {
  const box = useRef<HTMLDivElement>(null);
  // React must not render the text, because replacing the text node while typing would move the caret to its start.
  useEffect(() => {
    if (box.current !== null && box.current.textContent !== value) box.current.textContent = value;
  }, [value]);
  const paste = (event: ClipboardEvent) => {
    event.preventDefault();
    const text = inOneLine(event.clipboardData.getData("text/plain"));
    // A pasted file has no text and must not replace the selected one.
    if (text === "") return;
    insertAtCaret(text);
    onChange(box.current?.textContent ?? "");
  };
  return (
    <div
      ref={box}
      role="textbox"
      tabIndex={0}
      aria-label={label}
      contentEditable="plaintext-only"
      suppressContentEditableWarning
      spellCheck
      // Preserve spaces, because browsers otherwise type non-breaking ones.
      style={{ ...style, whiteSpace: "pre-wrap", minHeight: "1.25em" }}
      onKeyDown={(event) => event.key === "Enter" && event.preventDefault()}
      onPaste={paste}
      onInput={({ currentTarget }) => onChange(currentTarget.textContent)}
    />
  );
}

function insertAtCaret(text: string): void {
  const selection = getSelection();
  if (selection === null || selection.rangeCount === 0) return;
  const range = selection.getRangeAt(0);
  range.deleteContents();
  range.insertNode(document.createTextNode(text));
  range.collapse(false);
}
