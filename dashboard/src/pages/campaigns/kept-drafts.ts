// Where the browser keeps what was typed into campaigns and is not stored, and when that goes without having been stored.
const PREFIX = "postloft.draft.";
const KEPT_FOR_MS = 30 * 86_400_000;

/** The name under which the browser keeps what somebody typed into a campaign: nobody else who signs in there gets it. */
export const keptAs = (accountId: string, id: string) => `${PREFIX}${accountId}.${id}`;

function drop(isMeant: (name: string, kept: string) => boolean): void {
  for (const store of [sessionStorage, localStorage])
    for (const name of Object.keys(store))
      if (name.startsWith(PREFIX) && isMeant(name, store.getItem(name) ?? "")) store.removeItem(name);
}

/** As it is kept, with when. */
export const keptText = (typed: object) => JSON.stringify({ ...typed, at: Date.now() });
const AT_ITS_END = /"at":(\d+)\}$/;

/** Forgets what anybody here typed into a campaign that is deleted. */
export function dropKept(id: string): void {
  drop((name) => name.endsWith(`.${id}`));
}

/** Forgets what nobody has come back to for a month. */
export function dropOldKept(): void {
  const since = Date.now() - KEPT_FOR_MS;
  drop((_name, kept) => Number(AT_ITS_END.exec(kept)?.[1] ?? 0) < since);
}
