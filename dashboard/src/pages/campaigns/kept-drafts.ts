// Defines where the browser keeps unsaved campaign edits, and when they expire.
const PREFIX = "postloft.draft.";
const KEPT_FOR_MS = 30 * 86_400_000;

/** Returns the storage key, which contains the account so that another user of this browser does not see the edits. */
export const draftStorageKey = (accountId: string, id: string) => `${PREFIX}${accountId}.${id}`;

function drop(isMeant: (name: string, kept: string) => boolean): void {
  for (const store of [sessionStorage, localStorage])
    for (const name of Object.keys(store))
      if (name.startsWith(PREFIX) && isMeant(name, store.getItem(name) ?? "")) store.removeItem(name);
}

/** Returns the stored form of the edits, with the current time. */
export const serializeKeptDraft = (typed: object) => JSON.stringify({ ...typed, at: Date.now() });
const AT_ITS_END = /"at":(\d+)\}$/;

/** Drops the edits of every account in this browser for a deleted campaign. */
export function deleteKeptDrafts(id: string): void {
  drop((name) => name.endsWith(`.${id}`));
}

/** Drops edits older than 30 days. */
export function deleteOldKeptDrafts(): void {
  const since = Date.now() - KEPT_FOR_MS;
  drop((_name, kept) => Number(AT_ITS_END.exec(kept)?.[1] ?? 0) < since);
}
