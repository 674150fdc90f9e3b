// Detects that the server has been upgraded to a newer dashboard build than this tab runs.

const PAGE = "/app/";

/** Returns false if the check fails. */
export async function isUpgraded(signal: AbortSignal): Promise<boolean> {
  const own = document.querySelector<HTMLScriptElement>("script[type=module][src]")?.src;
  const response = await fetch(PAGE, { signal }).catch(() => null);
  if (own === undefined || response?.ok !== true) return false;
  return !(await response.text()).includes(new URL(own).pathname);
}
