// Lists blocks, one of them open for editing, with buttons to insert, move, copy and remove them.
import type { Block, Columns, Leaf } from "@postloft/contract/design.ts";
import {
  ArrowDown,
  ArrowUp,
  Code,
  Columns2,
  Copy,
  Heading,
  Image,
  ImagePlus,
  MailX,
  Minus,
  MousePointerClick,
  MoveVertical,
  PanelBottom,
  Plus,
  Share2,
  Trash2,
  Type,
  type LucideIcon,
} from "lucide-react";
import { useId } from "react";
import { t } from "../../../text/t.ts";
import { Button } from "../../../ui/button.tsx";
import { Menu, MenuItem } from "../../../ui/menu.tsx";
import { useProject } from "../../project-shell.tsx";
import { BlockForm } from "./block-form.tsx";
import {
  BLOCK_NAMES,
  duplicated,
  inserted,
  LEAF_KINDS,
  moved,
  newBlock,
  replaced,
  summaryOf,
  without,
  type BlockKind,
} from "./block-tree.ts";

const ICONS: Readonly<Record<BlockKind, LucideIcon>> = {
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

interface BlockListProps<One extends Block> {
  projectId: string;
  blocks: readonly One[];
  /** The kinds of blocks that can be inserted. */
  kinds: readonly One["kind"][];
  /** Id of the open block, in this list or in one of its columns. */
  open: string | null;
  onOpen: (id: string | null) => void;
  onChange: (blocks: One[]) => void;
  onUploaded: (id: string, url: string) => void;
}

export function BlockList<One extends Block>({
  kinds,
  blocks,
  onChange,
  onOpen,
  ...rest
}: BlockListProps<One>) {
  const project = useProject();
  const add = (at: number) => (kind: BlockKind) => {
    const block = newBlock(kind, project) as One;
    onChange(inserted(blocks, at, block));
    onOpen(block.id);
  };
  return (
    <ol className="flex flex-col">
      {blocks.map((block, at) => (
        <li key={block.id}>
          <BlockCard
            {...rest}
            block={block}
            isFirst={at === 0}
            isLast={at === blocks.length - 1}
            onOpen={onOpen}
            onChange={(changed) => onChange(replaced(blocks, changed as One))}
            onMove={(by) => onChange(moved(blocks, block.id, by))}
            onDuplicate={() => onChange(duplicated(blocks, block.id))}
            onRemove={() => onChange(without(blocks, block.id))}
          />
          {at < blocks.length - 1 && <AddBlock kinds={kinds} onAdd={add(at + 1)} isBetween />}
        </li>
      ))}
      <li>
        <AddBlock kinds={kinds} onAdd={add(blocks.length)} />
      </li>
    </ol>
  );
}

interface AddBlockProps {
  kinds: readonly BlockKind[];
  onAdd: (kind: BlockKind) => void;
  isBetween?: boolean;
}

const BETWEEN =
  "my-0.5 flex h-6 w-full items-center justify-center rounded-sm text-faint opacity-60 hover:bg-hover hover:text-ink hover:opacity-100 focus-visible:opacity-100";
const AT_THE_END =
  "mt-2 flex h-9 w-full items-center justify-center gap-1.5 rounded-md border border-dashed border-line-strong text-sm text-soft hover:bg-hover hover:text-ink";

function AddBlock({ kinds, onAdd, isBetween = false }: AddBlockProps) {
  return (
    <Menu
      label={isBetween ? t("Add block here") : t("Add block")}
      className={isBetween ? BETWEEN : AT_THE_END}
      button={
        <>
          <Plus size={14} aria-hidden /> {!isBetween && t("Add block")}
        </>
      }
    >
      {kinds.map((kind) => {
        const Icon = ICONS[kind];
        return (
          <MenuItem key={kind} onSelect={() => onAdd(kind)}>
            <Icon size={15} aria-hidden /> {BLOCK_NAMES[kind]}
          </MenuItem>
        );
      })}
    </Menu>
  );
}

interface BlockCardProps {
  projectId: string;
  block: Block;
  open: string | null;
  isFirst: boolean;
  isLast: boolean;
  onOpen: (id: string | null) => void;
  onChange: (block: Block) => void;
  onUploaded: (id: string, url: string) => void;
  onMove: (by: -1 | 1) => void;
  onDuplicate: () => void;
  onRemove: () => void;
}

function BlockCard({ block, open, onOpen, ...props }: BlockCardProps) {
  const id = useId();
  const isOpen = open === block.id || holds(block, open);
  const Icon = ICONS[block.kind];
  return (
    <div className={`rounded-md border bg-surface ${isOpen ? "border-accent" : "border-line"}`}>
      <button
        type="button"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => onOpen(isOpen ? null : block.id)}
        className="flex w-full items-center gap-2.5 rounded-md px-3 py-2 text-left text-sm hover:bg-hover"
      >
        <Icon size={15} className="shrink-0 text-soft" aria-hidden />
        <span className="font-medium">{BLOCK_NAMES[block.kind]}</span>
        <bdi className="min-w-0 flex-1 truncate text-faint">{summaryOf(block)}</bdi>
      </button>
      {isOpen && (
        <div id={id} className="flex flex-col gap-3 border-t border-line p-3">
          {block.kind === "columns" ? (
            <ColumnsForm {...props} block={block} open={open} onOpen={onOpen} />
          ) : (
            <BlockForm
              projectId={props.projectId}
              block={block}
              onChange={props.onChange}
              onUploaded={props.onUploaded}
            />
          )}
          <Actions {...props} />
        </div>
      )}
    </div>
  );
}

function holds(block: Block, id: string | null): boolean {
  return block.kind === "columns" && block.columns.some((leaves) => leaves.some((leaf) => leaf.id === id));
}

function Actions({
  isFirst,
  isLast,
  onMove,
  onDuplicate,
  onRemove,
}: Omit<BlockCardProps, "block" | "open" | "onOpen">) {
  return (
    <div className="-mx-1 flex flex-wrap gap-1">
      <Button look="quiet" disabled={isFirst} onClick={() => onMove(-1)}>
        <ArrowUp size={14} aria-hidden /> {t("Move up")}
      </Button>
      <Button look="quiet" disabled={isLast} onClick={() => onMove(1)}>
        <ArrowDown size={14} aria-hidden /> {t("Move down")}
      </Button>
      <Button look="quiet" onClick={onDuplicate}>
        <Copy size={14} aria-hidden /> {t("Duplicate")}
      </Button>
      <Button look="quiet" onClick={onRemove}>
        <Trash2 size={14} aria-hidden /> {t("Remove")}
      </Button>
    </div>
  );
}

interface ColumnsFormProps {
  projectId: string;
  block: Columns;
  open: string | null;
  onOpen: (id: string | null) => void;
  onChange: (block: Block) => void;
  onUploaded: (id: string, url: string) => void;
}

const MOST_COLUMNS = 3;

function ColumnsForm({ projectId, block, open, onOpen, onChange, onUploaded }: ColumnsFormProps) {
  const { columns } = block;
  const put = (at: number, leaves: Leaf[]) =>
    onChange({ ...block, columns: columns.map((old, place) => (place === at ? leaves : old)) });
  return (
    <>
      {columns.map((leaves, at) => (
        // oxlint-disable-next-line react/no-array-index-key -- columns have no identity but their position
        <section key={at}>
          <h4 className="mb-1.5 text-sm font-medium">{t("Column {n}", { n: at + 1 })}</h4>
          <BlockList
            projectId={projectId}
            blocks={leaves}
            kinds={LEAF_KINDS as Leaf["kind"][]}
            open={open}
            // Closing a block within a column keeps the columns block open.
            onOpen={(id) => onOpen(id ?? block.id)}
            onChange={(changed) => put(at, changed)}
            onUploaded={onUploaded}
          />
        </section>
      ))}
      <div className="flex gap-1">
        {columns.length < MOST_COLUMNS && (
          <Button onClick={() => onChange({ ...block, columns: [...columns, []] })}>{t("Add column")}</Button>
        )}
        {columns.length > 2 && (
          <Button look="quiet" onClick={() => onChange({ ...block, columns: columns.slice(0, -1) })}>
            {t("Remove last column")}
          </Button>
        )}
      </div>
    </>
  );
}
