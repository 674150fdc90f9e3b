// One condition: field, operator and value, with help, its error and a menu.
import { ArrowDown, ArrowUp, Brackets, Ellipsis, Trash2 } from "lucide-react";
import { memo, type Dispatch } from "react";
import type { FilterOperator } from "@postloft/contract/filter-fields.ts";
import { t } from "../../../text/t.ts";
import { Combobox } from "../../../ui/combobox.tsx";
import { INPUT_CLASS } from "../../../ui/field.tsx";
import { Menu, MenuItem } from "../../../ui/menu.tsx";
import { operatorsFor, withField, withOperator, type Row, type TreeAction } from "./condition-tree.ts";
import { creatableItems, type Fields } from "./fields.ts";
import { isAboutDates, operatorHelp, operatorName } from "./operators.ts";
import { ValueInput } from "./value-input.tsx";

interface ConditionRowProps {
  row: Row;
  fields: Fields;
  /** Whether the condition may move into a nested group. */
  mayNest: boolean;
  /** The server's error for this condition. */
  problem: string | undefined;
  onAction: Dispatch<TreeAction>;
}

export const ConditionRow = memo(function ConditionRow({
  row,
  fields,
  mayNest,
  problem,
  onAction,
}: ConditionRowProps) {
  const { key, condition } = row;
  const type = fields.typeOf(condition.field);
  const change = (next: typeof condition) => onAction({ do: "change", part: key, condition: next });
  const isOfDates = isAboutDates(condition, type);
  const help = condition.field === "" ? undefined : operatorHelp(condition.operator);
  return (
    <div className="flex items-start gap-1">
      <div className="@container min-w-0 flex-1">
        <div className="grid gap-1.5 @md:grid-cols-[minmax(0,1fr)_minmax(0,0.9fr)_minmax(0,1.3fr)]">
          <Combobox
            label={t("Field")}
            shown={
              condition.field === "" ? (
                <span className="text-faint">{t("Choose a field")}</span>
              ) : (
                <bdi>{fields.nameOf(condition.field)}</bdi>
              )
            }
            groups={fields.groups}
            value={condition.field}
            onChoose={(field) => change(withField(condition, field, fields.typeOf(field)))}
            onOpen={fields.askCoverage}
            madeOf={creatableItems}
            isInvalid={problem !== undefined}
          />
          {condition.field !== "" && (
            <>
              <select
                aria-label={t("Operator")}
                value={condition.operator}
                onChange={({ target }) => change(withOperator(condition, target.value as FilterOperator))}
                className={INPUT_CLASS}
              >
                {operatorsFor(condition, type).map((operator) => (
                  <option key={operator} value={operator}>
                    {operatorName(operator, isOfDates)}
                  </option>
                ))}
              </select>
              <ValueInput condition={condition} type={type} onChange={change} />
            </>
          )}
        </div>
        {problem !== undefined ? (
          <p role="alert" className="mt-1 text-sm text-bad">
            {problem}
          </p>
        ) : (
          help !== undefined && <p className="mt-1 text-xs text-faint">{help}</p>
        )}
      </div>
      <RowMenu part={key} mayNest={mayNest} onAction={onAction} />
    </div>
  );
});

interface RowMenuProps {
  part: number;
  mayNest: boolean;
  onAction: Dispatch<TreeAction>;
}

function RowMenu({ part, mayNest, onAction }: RowMenuProps) {
  return (
    <Menu
      label={t("More actions for this condition")}
      className="grid size-8 shrink-0 place-items-center rounded-md text-faint hover:bg-hover hover:text-ink"
      button={<Ellipsis size={15} aria-hidden />}
    >
      <MenuItem onSelect={() => onAction({ do: "move", part, by: -1 })}>
        <ArrowUp size={14} className="text-faint" aria-hidden /> {t("Move up")}
      </MenuItem>
      <MenuItem onSelect={() => onAction({ do: "move", part, by: 1 })}>
        <ArrowDown size={14} className="text-faint" aria-hidden /> {t("Move down")}
      </MenuItem>
      {mayNest && (
        <MenuItem onSelect={() => onAction({ do: "nest", part })}>
          <Brackets size={14} className="text-faint" aria-hidden /> {t("Move into a group")}
        </MenuItem>
      )}
      <MenuItem onSelect={() => onAction({ do: "remove", part })}>
        <Trash2 size={14} className="text-faint" aria-hidden /> {t("Remove")}
      </MenuItem>
    </Menu>
  );
}
