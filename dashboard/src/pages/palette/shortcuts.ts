// Keys that work on every page: ⌘K or Ctrl K always, single letters as long as nobody has turned them off (WCAG 2.1.4).
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { PLACES } from "../places.ts";

const STORED_AS = "postloft.shortcuts";
const OFF = "off";
/** The letter behind `g` has so long to come. */
const SEQUENCE_MS = 1_200;

export function areLettersOn(): boolean {
  return localStorage.getItem(STORED_AS) !== OFF;
}

export function turnLetters(isOn: boolean): void {
  if (isOn) localStorage.removeItem(STORED_AS);
  else localStorage.setItem(STORED_AS, OFF);
}

/** What is made in a dialog, wherever one is. */
const NEW_THINGS = ["campaign", "template", "contact", "domain"] as const;
export type NewThingName = (typeof NEW_THINGS)[number];
export type Opened = "palette" | "shortcuts" | NewThingName | null;

export function isNew(opened: Opened): opened is NewThingName {
  return NEW_THINGS.some((one) => one === opened);
}

export function useShortcuts(projectId: string, open: (what: Opened) => void): void {
  const navigate = useNavigate();
  const goneAtMs = useRef(Number.NEGATIVE_INFINITY);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        return open("palette");
      }
      if (event.metaKey || event.ctrlKey || event.altKey || isTaken(event) || !areLettersOn())
        return undefined;
      const isAfterG = event.timeStamp - goneAtMs.current < SEQUENCE_MS;
      goneAtMs.current = Number.NEGATIVE_INFINITY;
      const place = isAfterG ? PLACES.find(({ letter }) => letter === event.key) : undefined;
      if (place !== undefined) return void navigate({ to: place.to, params: { projectId } });
      if (event.key === "g") goneAtMs.current = event.timeStamp;
      else if (event.key === "?") open("shortcuts");
      else if (event.key === "/") focusSearch(event);
      return undefined;
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [projectId, open, navigate]);
}

/** Toasts are dialogs that hold nobody. */
const OTHERS =
  "input, textarea, select, [contenteditable], [role=dialog]:not([aria-modal=false]), [role=menu], [role=listbox]";

/** Whether the key is for somebody else: a field that is typed in, or a menu or dialog, which hold the focus. */
function isTaken({ target, defaultPrevented }: KeyboardEvent): boolean {
  return defaultPrevented || (target instanceof HTMLElement && target.closest(OTHERS) !== null);
}

function focusSearch(event: KeyboardEvent): void {
  const search = document.querySelector<HTMLInputElement>("main input[type=search]");
  if (search === null) return;
  event.preventDefault();
  search.focus();
}
