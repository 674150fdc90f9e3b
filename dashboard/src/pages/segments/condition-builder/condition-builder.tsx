// Edits a filter as nested groups of conditions. The parent holds the tree.
import { Plus, Trash2 } from "lucide-react";
import type { Dispatch } from "react";
import { problemWith } from "../../../api/call.ts";
import { t } from "../../../text/t.ts";
import { Button } from "../../../ui/button.tsx";
import { canNest, hasRoom, isGroup, type Group, type Tree, type TreeAction } from "./condition-tree.ts";
import { ConditionRow } from "./condition-row.tsx";
import type { Fields } from "./fields.ts";

interface ConditionBuilderProps {
  tree: Tree;
  fields: Fields;
  /** Error of the last call with this filter. Each message appears at the condition it belongs to. */
  error: unknown;
  /** Path of the filter in that call's body. */
  path?: string;
  onAction: Dispatch<TreeAction>;
}

export function ConditionBuilder({ tree, fields, error, path = "filters", onAction }: ConditionBuilderProps) {
  return (
    <GroupOfConditions
      group={tree.root}
      depth={1}
      path={path}
      shared={{ fields, error, onAction, mayAdd: hasRoom(tree) }}
    />
  );
}

interface GroupProps {
  group: Group;
  depth: number;
  /** Path of the group in the call's body. */
  path: string;
  shared: Pick<ConditionBuilderProps, "fields" | "error" | "onAction"> & { mayAdd: boolean };
}

function GroupOfConditions({ group, depth, path, shared }: GroupProps) {
  const { fields, error, onAction, mayAdd } = shared;
  return (
    <div role="group" aria-label={depth === 1 ? t("Condition") : t("Condition group")}>
      <div className="mb-2 flex items-center justify-between gap-2">
        <Joiner group={group} onAction={onAction} />
        {depth > 1 && (
          <button
            type="button"
            aria-label={t("Remove group")}
            title={t("Remove group")}
            onClick={() => onAction({ do: "remove", part: group.key })}
            className="grid size-8 place-items-center rounded-md text-faint hover:bg-hover hover:text-ink"
          >
            <Trash2 size={14} aria-hidden />
          </button>
        )}
      </div>
      <div className="flex flex-col gap-2.5">
        {group.parts.map((part, at) => {
          const place = `${path}.conditions.${at}`;
          return isGroup(part) ? (
            <div key={part.key} className="rounded-md border border-line bg-page p-2 sm:p-3">
              <GroupOfConditions group={part} depth={depth + 1} path={place} shared={shared} />
            </div>
          ) : (
            <ConditionRow
              key={part.key}
              row={part}
              fields={fields}
              mayNest={canNest(depth)}
              problem={problemWith(error, place)}
              onAction={onAction}
            />
          );
        })}
      </div>
      <div className="mt-2.5 flex flex-wrap gap-1">
        <Button look="quiet" disabled={!mayAdd} onClick={() => onAction({ do: "add", group: group.key })}>
          <Plus size={14} aria-hidden /> {t("Add condition")}
        </Button>
        {canNest(depth) && (
          <Button
            look="quiet"
            disabled={!mayAdd}
            onClick={() => onAction({ do: "addGroup", group: group.key })}
          >
            <Plus size={14} aria-hidden /> {t("Add group")}
          </Button>
        )}
      </div>
    </div>
  );
}

function Joiner({ group, onAction }: Pick<GroupProps, "group"> & Pick<ConditionBuilderProps, "onAction">) {
  return (
    <label className="flex items-center gap-2 text-sm text-soft">
      <span className="sr-only">{t("Match")}</span>
      <select
        value={group.operator}
        onChange={({ target }) =>
          onAction({ do: "join", group: group.key, operator: target.value === "OR" ? "OR" : "AND" })
        }
        className="h-8 rounded-md border border-line-strong bg-surface px-2 text-sm font-medium text-ink focus:border-accent focus:ring-3 focus:ring-accent-wash focus:outline-none"
      >
        <option value="AND">{t("Match all")}</option>
        <option value="OR">{t("Match any")}</option>
      </select>
    </label>
  );
}
