// The branches of a BRANCH step, each with a name and a filter, in the order in which they are checked.
import { Plus } from "lucide-react";
import { useEffect, useReducer, useState, type ReactNode } from "react";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { problemWith } from "../../../api/call.ts";
import { t } from "../../../text/t.ts";
import { Button } from "../../../ui/button.tsx";
import { Field } from "../../../ui/field.tsx";
import { ConditionBuilder } from "../../segments/condition-builder/condition-builder.tsx";
import {
  changeTree,
  EMPTY_FILTER,
  filterOf,
  readTree,
} from "../../segments/condition-builder/condition-tree.ts";
import type { Fields } from "../../segments/condition-builder/fields.ts";
import { filterOfStored, storedFilterOf } from "../condition-form.ts";
import { useStepFields } from "./condition-fields.tsx";
import { LineMenu, useLines } from "./named-lines.tsx";
import type { Config, FieldsProps } from "./step-config.ts";

/** `isComplete` is false while a condition can't be saved. */
interface BranchFilter {
  filter: Config;
  isComplete: boolean;
}

export function BranchFields({ projectId, startEvent, config, onChange, error }: FieldsProps) {
  const { branches } = config as { branches: ReadonlyArray<{ name: string; filter: Config }> };
  const fields = useStepFields(projectId, startEvent);
  const { lines, edit, add, remove, move, problemOf } = useLines<BranchFilter>(
    branches.map(({ name, filter }) => ({ name, value: { filter, isComplete: true } })),
    (changed, renamed) =>
      onChange(
        changed?.every(({ value }) => value.isComplete) === true
          ? { branches: changed.map(({ name, value: { filter } }) => ({ name, filter })) }
          : null,
        renamed,
      ),
  );
  return (
    <fieldset>
      <legend className="text-sm font-medium">{t("Branches")}</legend>
      <p className="mb-2 text-sm text-soft">
        {t("Contacts take the first branch that they match. All others take the last path.")}
      </p>
      <div className="flex flex-col gap-3">
        {lines.map((line, at) => (
          <BranchCard
            key={line.key}
            label={t("Branch {n}", { n: at + 1 })}
            name={line.name}
            onRename={(name) => edit(line.key, { name })}
            problem={problemOf(line) ?? problemWith(error, `config.branches.${at}.name`)}
            menu={
              <LineMenu
                label={t("More actions for branch {n}", { n: at + 1 })}
                onMove={(by) => move(line.key, by)}
                onRemove={lines.length === 1 ? undefined : () => remove(line.key)}
              />
            }
          >
            <FilterOfBranch
              fields={fields}
              filter={line.value.filter}
              path={`config.branches.${at}.filter`}
              error={error}
              onChange={(value) => edit(line.key, { value })}
            />
          </BranchCard>
        ))}
      </div>
      {lines.length < LIMITS.stepBranches.value && (
        <Button
          look="quiet"
          className="mt-1.5"
          onClick={() =>
            add({
              name: t("Branch {n}", { n: lines.length + 1 }),
              value: { filter: { ...EMPTY_FILTER }, isComplete: false },
            })
          }
        >
          <Plus size={14} aria-hidden /> {t("Add branch")}
        </Button>
      )}
    </fieldset>
  );
}

interface BranchCardProps {
  label: string;
  name: string;
  onRename: (name: string) => void;
  problem: string | undefined;
  menu: ReactNode;
  children: ReactNode;
}

function BranchCard({ label, name, onRename, problem, menu, children }: BranchCardProps) {
  return (
    <div role="group" aria-label={label} className="flex flex-col gap-2.5 rounded-md border border-line p-3">
      <div className="flex items-start gap-1">
        <div className="grow">
          <Field
            label={label}
            value={name}
            maxLength={LIMITS.nameLength.value}
            onChange={({ target }) => onRename(target.value)}
            error={problem}
          />
        </div>
        {menu}
      </div>
      {children}
    </div>
  );
}

interface FilterOfBranchProps {
  fields: Fields;
  filter: Config;
  /** Path of the filter in the body of the call. */
  path: string;
  error: unknown;
  onChange: (value: BranchFilter) => void;
}

function FilterOfBranch({ fields, filter, path, error, onChange }: FilterOfBranchProps) {
  const [tree, act] = useReducer(changeTree, filterOfStored(filter), readTree);
  const [first] = useState(tree);
  useEffect(() => {
    if (tree === first) return;
    const changed = filterOf(tree);
    onChange({ filter: { ...storedFilterOf(changed ?? EMPTY_FILTER) }, isComplete: changed !== null });
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- only an edit changes the filter
  }, [tree]);
  return <ConditionBuilder tree={tree} fields={fields} error={error} path={path} onAction={act} />;
}
