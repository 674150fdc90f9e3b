// Global keyboard shortcuts. ⌘K and Ctrl K always work; users can turn off single letters (WCAG 2.1.4).
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { PLACES } from "../places.ts";

const STORED_AS = "postloft.shortcuts";
const OFF = "off";
/** Time allowed between `g` and the next letter. */
const SEQUENCE_MS = 1_200;

export function areLettersOn(): boolean {
  return localStorage.getItem(STORED_AS) !== OFF;
}

export function turnLetters(isOn: boolean): void {
  if (isOn) localStorage.removeItem(STORED_AS);
  else localStorage.setItem(STORED_AS, OFF);
}

/** Resources created in a dialog that opens on any page. */
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

/** Toasts are dialogs too, but do not trap focus. */
const OTHERS =
  "input, textarea, select, [contenteditable], [role=dialog]:not([aria-modal=false]), [role=menu], [role=listbox]";

/** Returns whether a key or a clipboard event belongs to a focused input, menu or dialog. */
export function isTaken({ target, defaultPrevented }: Event): boolean {
  return defaultPrevented || (target instanceof HTMLElement && target.closest(OTHERS) !== null);
}

function focusSearch(event: KeyboardEvent): void {
  const search = document.querySelector<HTMLInputElement>("main input[type=search]");
  if (search === null) return;
  event.preventDefault();
  search.focus();
}
