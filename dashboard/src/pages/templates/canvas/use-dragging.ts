// Drags a block by its handle to another place of the email.
import type { Block } from "@postloft/contract/design.ts";
import { useEffect, useRef, useState, type PointerEvent as ReactPointerEvent } from "react";
import type { Place } from "../blocks/block-tree.ts";

/** A shorter movement is a click. */
const DRAGS_FROM_PX = 5;
/** Near this edge of the window, dragging scrolls. */
const EDGE_PX = 60;
const SCROLL_PX = 14;

/** The attribute of the elements between blocks, with the {@link Place} there as JSON. */
export const GAP = "data-gap";

interface Drag {
  block: Block;
  canvas: HTMLElement;
  from: { x: number; y: number };
}

/**
 * Returns the function that starts to drag, and the place where the block would be dropped now.
 * @param onDrop called with the block and its new place; Escape cancels
 */
export function useDragging(onDrop: (id: string, place: Place) => void) {
  const [drag, setDrag] = useState<Drag | null>(null);
  const [place, setPlace] = useState<Place | null>(null);
  const latest = useRef({ onDrop, place });
  latest.current = { onDrop, place };
  useEffect(() => {
    if (drag === null) return;
    const stop = () => {
      setDrag(null);
      setPlace(null);
    };
    const move = (event: PointerEvent) => {
      const isClick = Math.hypot(event.clientX - drag.from.x, event.clientY - drag.from.y) < DRAGS_FROM_PX;
      if (isClick && latest.current.place === null) return;
      event.preventDefault();
      if (event.clientY < EDGE_PX) scrollerOf(drag.canvas).scrollBy(0, -SCROLL_PX);
      if (event.clientY > innerHeight - EDGE_PX) scrollerOf(drag.canvas).scrollBy(0, SCROLL_PX);
      setPlace(nearestPlace(drag, event));
    };
    const drop = () => {
      if (latest.current.place !== null) latest.current.onDrop(drag.block.id, latest.current.place);
      stop();
    };
    const cancel = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      stop();
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", drop);
    addEventListener("pointercancel", stop);
    addEventListener("keydown", cancel, true);
    return () => {
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", drop);
      removeEventListener("pointercancel", stop);
      removeEventListener("keydown", cancel, true);
    };
  }, [drag]);
  return {
    place,
    start: (event: ReactPointerEvent<HTMLElement>, block: Block) => {
      const canvas = event.currentTarget.closest<HTMLElement>("[data-canvas]");
      if (event.button !== 0 || canvas === null) return;
      // Otherwise a frame of an HTML block below the pointer would get its movements.
      event.currentTarget.setPointerCapture(event.pointerId);
      setDrag({ block, canvas, from: { x: event.clientX, y: event.clientY } });
    },
  };
}

/** Returns what scrolls an element: a dialog around it, or the page. */
function scrollerOf(element: HTMLElement): Element {
  return element.closest("[role=dialog]") ?? document.documentElement;
}

/** Returns the place nearest to the pointer. Columns can't be in columns. */
function nearestPlace({ block, canvas }: Drag, { clientX, clientY }: PointerEvent): Place | null {
  const gaps = [...canvas.querySelectorAll<HTMLElement>(`[${GAP}]`)].map((gap) => {
    const { left, right, top, width } = gap.getBoundingClientRect();
    const aside = Math.max(left - clientX, 0, clientX - right);
    // The first place of a column is as high as the one before the columns. Below that line the column is meant.
    const order = clientY < top ? -width : width;
    return {
      order,
      place: JSON.parse(gap.getAttribute(GAP) ?? "null") as Place,
      far: aside + Math.abs(top - clientY),
    };
  });
  const allowed = gaps.filter(({ place }) => block.kind !== "columns" || place.columns === null);
  return allowed.toSorted((one, other) => one.far - other.far || one.order - other.order)[0]?.place ?? null;
}
