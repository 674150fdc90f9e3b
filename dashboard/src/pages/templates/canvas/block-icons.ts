// The icon of each kind of block.
import {
  Code,
  Columns2,
  Heading,
  Image,
  ImagePlus,
  MailX,
  Minus,
  MousePointerClick,
  MoveVertical,
  PanelBottom,
  Share2,
  Type,
  type LucideIcon,
} from "lucide-react";
import type { BlockKind } from "../blocks/block-tree.ts";

export const BLOCK_ICONS: Readonly<Record<BlockKind, LucideIcon>> = {
  text: Type,
  heading: Heading,
  button: MousePointerClick,
  image: Image,
  columns: Columns2,
  divider: Minus,
  space: MoveVertical,
  html: Code,
  logo: ImagePlus,
  social: Share2,
  footer: PanelBottom,
  unsubscribe: MailX,
};
