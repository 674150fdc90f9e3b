// Conditions and groups of them, put together by choosing. Before it: segment-editor.tsx. After it: tree.ts changes, value-input.tsx asks.
import { FolderPlus, Plus, X } from "lucide-react";
import type { FilterOperator } from "@postloft/contract/filter-fields.ts";
import type { Filter, FilterCondition } from "@postloft/contract/filters.ts";
import { t } from "../../../text/t.ts";
import { Button } from "../../../ui/button.tsx";
import { INPUT_CLASS } from "../../../ui/field.tsx";
import type { FieldGroup } from "./fields.ts";
import {
  addTo,
  changeAt,
  formOf,
  isGroup,
  NEW_CONDITION,
  NEW_FILTER,
  operatorsOf,
  removeAt,
  withField,
  withOperator,
  type Path,
} from "./tree.ts";
import { ValueInput } from "./value-input.tsx";
import { OPERATORS } from "./words.ts";

interface BuilderProps {
  filter: Filter;
  groups: readonly FieldGroup[];
  onChange: (filter: Filter) => void;
}

export function ConditionBuilder({ filter, groups, onChange }: BuilderProps) {
  return <Group root={filter} group={filter} path={[]} groups={groups} onChange={onChange} />;
}

interface GroupProps {
  root: Filter;
  group: Filter;
  path: Path;
  groups: readonly FieldGroup[];
  onChange: (filter: Filter) => void;
}

/** Beyond it nobody can read what is meant. */
const DEEPEST = 3;

function Group({ root, group, path, groups, onChange }: GroupProps) {
  const isInner = path.length > 0;
  const replace = (changed: Partial<Filter>) =>
    onChange(changeAt(root, path, (part) => ({ ...part, ...changed }) as Filter));
  return (
    <div
      role="group"
      aria-label={isInner ? t("Group of conditions") : t("Conditions")}
      className={isInner ? "rounded-md border border-line bg-page p-3" : ""}
    >
      <div className="mb-2 flex items-center gap-2 text-sm">
        <select
          aria-label={t("How the conditions go together")}
          value={group.operator}
          onChange={({ target }) => replace({ operator: target.value === "OR" ? "OR" : "AND" })}
          className={`${INPUT_CLASS} max-w-40`}
        >
          <option value="AND">{t("All of these")}</option>
          <option value="OR">{t("Any of these")}</option>
        </select>
      </div>
      <ul className="flex flex-col gap-2">
        {group.conditions.map((part, at) => (
          <li key={at} className="flex items-start gap-2">
            <div className="min-w-0 flex-1">
              {isGroup(part) ? (
                <Group root={root} group={part} path={[...path, at]} groups={groups} onChange={onChange} />
              ) : (
                <Condition
                  condition={part}
                  groups={groups}
                  onChange={(changed) => onChange(changeAt(root, [...path, at], () => changed))}
                />
              )}
            </div>
            <button
              type="button"
              aria-label={isGroup(part) ? t("Remove this group") : t("Remove this condition")}
              onClick={() => onChange(removeAt(root, [...path, at]))}
              className="mt-0.5 inline-grid size-7 shrink-0 place-items-center rounded-sm text-faint hover:bg-hover hover:text-ink"
            >
              <X size={14} />
            </button>
          </li>
        ))}
      </ul>
      <div className="mt-2 flex gap-1">
        <Button look="quiet" onClick={() => onChange(addTo(root, path, NEW_CONDITION))}>
          <Plus size={14} aria-hidden /> {t("Condition")}
        </Button>
        {path.length < DEEPEST && (
          <Button look="quiet" onClick={() => onChange(addTo(root, path, { ...NEW_FILTER, operator: "OR" }))}>
            <FolderPlus size={14} aria-hidden /> {t("Group")}
          </Button>
        )}
      </div>
    </div>
  );
}

interface ConditionProps {
  condition: FilterCondition;
  groups: readonly FieldGroup[];
  onChange: (condition: FilterCondition) => void;
}

function Condition({ condition, groups, onChange }: ConditionProps) {
  const isKnown = groups.some(({ choices }) => choices.some(({ field }) => field === condition.field));
  return (
    <div className="flex flex-wrap items-start gap-2">
      <select
        aria-label={t("Field")}
        value={condition.field}
        onChange={({ target }) => onChange(withField(condition, target.value))}
        className={`${INPUT_CLASS} max-w-56`}
      >
        {!isKnown && <option value={condition.field}>{condition.field}</option>}
        {groups.map(({ label, choices }) => (
          <optgroup key={label} label={label}>
            {choices.map((choice) => (
              <option key={choice.field} value={choice.field}>
                {choice.label}
              </option>
            ))}
          </optgroup>
        ))}
      </select>
      <select
        aria-label={t("Operator")}
        value={condition.operator}
        onChange={({ target }) =>
          onChange(withOperator(condition, target.value as FilterOperator, formOf(condition)))
        }
        className={`${INPUT_CLASS} max-w-52`}
      >
        {(Object.keys(operatorsOf(condition.field)) as FilterOperator[]).map((operator) => (
          <option key={operator} value={operator}>
            {OPERATORS[operator]}
          </option>
        ))}
      </select>
      {/* Another form is another control, which begins with what is there. */}
      <ValueInput key={formOf(condition)} condition={condition} onChange={onChange} />
    </div>
  );
}
