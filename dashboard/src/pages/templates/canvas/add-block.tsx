// Inserts a block at a place of the email.
import { Plus } from "lucide-react";
import { useRef, type ReactNode } from "react";
import { t } from "../../../text/t.ts";
import { Menu, MenuItem } from "../../../ui/menu.tsx";
import { BLOCK_NAMES, type BlockKind, type Place } from "../blocks/block-tree.ts";
import { BLOCK_ICONS } from "./block-icons.ts";
import { useCanvas } from "./canvas-context.ts";
import { focusableOfNew } from "./focus-block.ts";
import { GAP } from "./use-dragging.ts";

interface AddBlockProps {
  kinds: readonly BlockKind[];
  /** Adds a block and returns its id. */
  onAdd: (kind: BlockKind) => string;
}

const AT_THE_END =
  "flex h-9 w-full items-center justify-center gap-1.5 rounded-md border border-dashed border-line-strong text-sm text-soft hover:bg-hover hover:text-ink";

/** Adds a block at the end. */
export function AddBlock(props: AddBlockProps) {
  return (
    <KindMenu {...props} label={t("Add block")} className={AT_THE_END}>
      <Plus size={14} aria-hidden /> {t("Add block")}
    </KindMenu>
  );
}

/** The circle appears while the pointer is near, and always on touch screens. */
const CIRCLE =
  "absolute left-1/2 grid size-6 -translate-x-1/2 -translate-y-1/2 place-items-center rounded-full border border-line-strong bg-surface text-soft opacity-0 hover:bg-accent-fill hover:text-on-accent hover:opacity-100 focus-visible:opacity-100 data-popup-open:opacity-100 group-hover/gap:opacity-100 pointer-coarse:opacity-80";

interface GapProps extends AddBlockProps {
  place: Place;
  /** Whether the list has no blocks, so that the gap needs room of its own. */
  isAlone?: boolean;
}

/** The line between two blocks, which inserts a block there and shows where a dragged block would be. */
export function Gap({ place, isAlone = false, ...props }: GapProps) {
  const { dropPlace } = useCanvas();
  const isTarget =
    dropPlace !== null &&
    dropPlace.columns === place.columns &&
    dropPlace.column === place.column &&
    dropPlace.at === place.at;
  return (
    <div
      {...{ [GAP]: JSON.stringify(place) }}
      className={`group/gap relative z-[1] ${isAlone ? "flex h-16 items-center rounded-md border border-dashed border-line-strong" : "h-0"}`}
    >
      {!isAlone && <span aria-hidden className="absolute inset-x-0 -top-3 h-4" />}
      {isTarget && <span className="absolute inset-x-0 -top-2.5 h-1 rounded-full bg-accent-fill" />}
      <KindMenu
        {...props}
        label={t("Add block here")}
        className={`${CIRCLE} ${isAlone ? "top-1/2 opacity-100" : "-top-2"}`}
      >
        <Plus size={14} aria-hidden />
      </KindMenu>
    </div>
  );
}

interface KindMenuProps extends AddBlockProps {
  label: string;
  className: string;
  children: ReactNode;
}

function KindMenu({ kinds, onAdd, label, className, children }: KindMenuProps) {
  const added = useRef<string | null>(null);
  const focusAfter = () => {
    const id = added.current;
    added.current = null;
    return id === null ? null : focusableOfNew(id);
  };
  return (
    <Menu label={label} className={className} button={children} focusAfter={focusAfter}>
      {kinds.map((kind) => {
        const Icon = BLOCK_ICONS[kind];
        return (
          <MenuItem
            key={kind}
            onSelect={() => {
              added.current = onAdd(kind);
            }}
          >
            <Icon size={15} aria-hidden /> {BLOCK_NAMES[kind]}
          </MenuItem>
        );
      })}
    </Menu>
  );
}
