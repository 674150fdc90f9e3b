// The parts of the canvas that every block of it needs.
import type { Block, Look } from "@postloft/contract/design.ts";
import { createContext, useContext, type PointerEvent } from "react";
import type { Place } from "../blocks/block-tree.ts";

export interface Canvas {
  projectId: string;
  look: Look;
  /** Whether the email is as narrow as on a phone, so that columns are below each other. */
  isNarrow: boolean;
  /** Id of the selected block, at the top level or in a column. */
  selected: string | null;
  onSelect: (id: string | null) => void;
  /** The bar above the email for the tools of the selected block. */
  bar: HTMLElement | null;
  /** The element for the settings of the selected block; null to show them in a dialog. */
  settings: HTMLElement | null;
  /** Called when an image upload finishes, even if the block is no longer selected by then. */
  onUploaded: (id: string, url: string) => void;
  /** Starts to drag a block by its handle. */
  onDrag: (event: PointerEvent<HTMLElement>, block: Block) => void;
  /** The place where the dragged block would be dropped. */
  dropPlace: Place | null;
}

export const CanvasContext = createContext<Canvas | null>(null);

export function useCanvas(): Canvas {
  const canvas = useContext(CanvasContext);
  if (canvas === null) throw new Error("Blocks are only shown in a canvas.");
  return canvas;
}

/** The element in the toolbar of a block for the tools of its content; null while the block is not selected. */
export const ToolsContext = createContext<HTMLElement | null>(null);
