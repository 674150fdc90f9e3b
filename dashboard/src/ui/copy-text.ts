// Copies text to the clipboard. The modern API requires https or localhost, so plain http uses the older one.

/** Returns whether the text was copied, because browsers may refuse. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyByCommand(text);
  }
}

function copyByCommand(text: string): boolean {
  let isTaken = false;
  const give = (event: ClipboardEvent) => {
    event.clipboardData?.setData("text/plain", text);
    event.preventDefault();
    event.stopPropagation();
    isTaken = true;
  };
  document.addEventListener("copy", give, { capture: true });
  const isDone = document.execCommand("copy");
  document.removeEventListener("copy", give, { capture: true });
  return isDone && isTaken;
}
