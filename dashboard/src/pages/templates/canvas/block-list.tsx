// The blocks of an email or of a column, with places between them to insert others.
import { columnStyle, NARROW_COLUMN } from "@postloft/contract/design-styles.ts";
import type { Block, Columns, Leaf } from "@postloft/contract/design.ts";
import { Fragment } from "react";
import { useProject } from "../../project-shell.tsx";
import {
  duplicated,
  inserted,
  LEAF_KINDS,
  moved,
  newBlock,
  replaced,
  without,
  type BlockKind,
} from "../blocks/block-tree.ts";
import { Gap } from "./add-block.tsx";
import { BlockContent } from "./block-content.tsx";
import { BlockFrame } from "./block-frame.tsx";
import { useCanvas } from "./canvas-context.ts";
import { removeAndFocusNext } from "./focus-block.ts";
import { styleOf } from "./style-of.ts";

interface BlockListProps<One extends Block> {
  blocks: readonly One[];
  /** The kinds of blocks that can be inserted. */
  kinds: readonly One["kind"][];
  /** The column that the list is; null for the whole email. */
  column: { of: string; at: number } | null;
  onChange: (blocks: One[]) => void;
}

export function BlockList<One extends Block>({ blocks, kinds, column, onChange }: BlockListProps<One>) {
  const project = useProject();
  const { onSelect } = useCanvas();
  const gap = (at: number) => (
    <Gap
      place={{ columns: column?.of ?? null, column: column?.at ?? 0, at }}
      kinds={kinds}
      isAlone={column !== null && blocks.length === 0}
      onAdd={(kind: BlockKind) => {
        const block = newBlock(kind, project) as One;
        onChange(inserted(blocks, at, block));
        onSelect(block.id);
        return block.id;
      }}
    />
  );
  return (
    <>
      {blocks.map((block, at) => (
        <Fragment key={block.id}>
          {gap(at)}
          <BlockFrame
            block={block}
            isFirst={at === 0}
            isLast={at === blocks.length - 1}
            onChange={(changed) => onChange(replaced(blocks, changed as One))}
            onMove={(by) => onChange(moved(blocks, block.id, by))}
            onDuplicate={() => onChange(duplicated(blocks, block.id))}
            onRemove={() => removeAndFocusNext(block.id, () => onChange(without(blocks, block.id)))}
          >
            {block.kind === "columns" ? (
              <ColumnsContent
                block={block}
                onChange={(changed) => onChange(replaced(blocks, changed as One))}
              />
            ) : (
              <BlockContent
                block={block as Leaf}
                onChange={(changed) => onChange(replaced(blocks, changed as One))}
              />
            )}
          </BlockFrame>
        </Fragment>
      ))}
      {gap(blocks.length)}
    </>
  );
}

interface ColumnsContentProps {
  block: Columns;
  onChange: (block: Columns) => void;
}

function ColumnsContent({ block, onChange }: ColumnsContentProps) {
  const { isNarrow } = useCanvas();
  const { columns } = block;
  const put = (at: number, leaves: Leaf[]) =>
    onChange({ ...block, columns: columns.map((old, place) => (place === at ? leaves : old)) });
  return (
    <div className={isNarrow ? "" : "flex"}>
      {columns.map((leaves, at) => (
        <div
          // oxlint-disable-next-line react/no-array-index-key -- columns have no identity but their position
          key={at}
          style={styleOf(isNarrow ? NARROW_COLUMN : columnStyle(at, columns.length))}
        >
          <BlockList
            blocks={leaves}
            kinds={LEAF_KINDS as Leaf["kind"][]}
            column={{ of: block.id, at }}
            onChange={(changed) => put(at, changed)}
          />
        </div>
      ))}
    </div>
  );
}
