// Puts a text into the clipboard. The browser's way needs https or localhost; the older way works on plain http, where many begin.

/** Whether it was copied: browsers refuse for reasons of their own. */
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
