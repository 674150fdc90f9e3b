// Whether the window has room for the canvas.
import { useSyncExternalStore } from "react";

const WIDE = "(min-width: 48rem)";

/** Returns whether the window has room for the canvas. */
export function useIsWide(): boolean {
  return useSyncExternalStore(
    (onChange) => {
      const wide = matchMedia(WIDE);
      wide.addEventListener("change", onChange);
      return () => wide.removeEventListener("change", onChange);
    },
    () => matchMedia(WIDE).matches,
  );
}
