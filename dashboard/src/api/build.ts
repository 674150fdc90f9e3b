// Whether the server has a newer build of the dashboard than this tab: it was upgraded meanwhile.

const PAGE = "/app/";

/** False also where it cannot be told. */
export async function isUpgraded(signal: AbortSignal): Promise<boolean> {
  const own = document.querySelector<HTMLScriptElement>("script[type=module][src]")?.src;
  const response = await fetch(PAGE, { signal }).catch(() => null);
  if (own === undefined || response?.ok !== true) return false;
  return !(await response.text()).includes(new URL(own).pathname);
}
