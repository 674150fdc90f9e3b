// Edits the list of named branches of a step, and keeps or removes the paths of branches that are renamed or removed.
import { ArrowDown, ArrowUp, Ellipsis, Trash2 } from "lucide-react";
import { useState } from "react";
import { ELSE } from "@postloft/contract/workflows/branches.ts";
import { t } from "../../../text/t.ts";
import { Menu, MenuItem } from "../../../ui/menu.tsx";
import type { RenamedBranches } from "./step-config.ts";

interface Line<Value> {
  key: number;
  name: string;
  value: Value;
}

type Named<Value> = Pick<Line<Value>, "name" | "value">;

/**
 * Holds the lines while they are edited.
 * @param onChange gets the lines, or null while a name is missing or taken, and the new names of stored branches
 */
export function useLines<Value>(
  stored: ReadonlyArray<Named<Value>>,
  onChange: (lines: ReadonlyArray<Named<Value>> | null, renamed: RenamedBranches) => void,
) {
  const [former] = useState(stored);
  const [lines, setLines] = useState(() => stored.map((one, key): Line<Value> => ({ ...one, key })));
  const [nextKey, setNextKey] = useState(lines.length);
  const change = (next: Line<Value>[]) => {
    setLines(next);
    const written = next.map(({ name, value }) => ({ name: name.trim(), value }));
    const isWhole = next.every((line) => line.name.trim() !== "" && nameProblem(line, next) === undefined);
    onChange(isWhole ? written : null, renamedFrom(former, next));
  };
  const edit = (key: number, part: Partial<Named<Value>>) =>
    change(lines.map((line) => (line.key === key ? { ...line, ...part } : line)));
  return {
    lines,
    edit,
    problemOf: (line: Line<Value>) => nameProblem(line, lines),
    add: (line: Named<Value>) => {
      change([...lines, { ...line, key: nextKey }]);
      setNextKey(nextKey + 1);
    },
    remove: (key: number) => change(lines.filter((line) => line.key !== key)),
    move: (key: number, by: -1 | 1) => {
      const at = lines.findIndex((line) => line.key === key);
      const [line, other] = [lines[at], lines[at + by]];
      if (line === undefined || other === undefined) return;
      change(lines.with(at, other).with(at + by, line));
    },
  };
}

/** Returns new names by former name, or null for a branch that was removed. A line keeps its key, so the key identifies its branch. */
function renamedFrom<Value>(
  former: ReadonlyArray<Named<Value>>,
  lines: ReadonlyArray<Line<Value>>,
): RenamedBranches {
  const changes = former.flatMap(({ name }, key): Array<[string, string | null]> => {
    const now = lines.find((line) => line.key === key)?.name.trim() ?? null;
    return now === name ? [] : [[name, now]];
  });
  return Object.fromEntries(changes);
}

function nameProblem<Value>(line: Line<Value>, lines: ReadonlyArray<Line<Value>>): string | undefined {
  const name = line.name.trim().toLowerCase();
  if (name === ELSE) return t("This name is reserved for contacts that match no branch.");
  const isTaken = lines.some((other) => other.key !== line.key && other.name.trim().toLowerCase() === name);
  return isTaken && name !== "" ? t("Another line has this name.") : undefined;
}

interface LineMenuProps {
  label: string;
  onMove: (by: -1 | 1) => void;
  /** Missing if the step needs the line. */
  onRemove?: (() => void) | undefined;
}

export function LineMenu({ label, onMove, onRemove }: LineMenuProps) {
  return (
    <Menu
      label={label}
      className="grid size-8 shrink-0 place-items-center rounded-md text-faint hover:bg-hover hover:text-ink"
      button={<Ellipsis size={15} aria-hidden />}
    >
      <MenuItem onSelect={() => onMove(-1)}>
        <ArrowUp size={14} className="text-faint" aria-hidden /> {t("Move up")}
      </MenuItem>
      <MenuItem onSelect={() => onMove(1)}>
        <ArrowDown size={14} className="text-faint" aria-hidden /> {t("Move down")}
      </MenuItem>
      {onRemove !== undefined && (
        <MenuItem onSelect={onRemove}>
          <Trash2 size={14} className="text-faint" aria-hidden /> {t("Remove")}
        </MenuItem>
      )}
    </Menu>
  );
}
