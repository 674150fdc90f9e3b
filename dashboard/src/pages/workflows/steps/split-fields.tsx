// The shares of a RANDOM_SPLIT step, with their sum.
import { Plus } from "lucide-react";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { problemWith } from "../../../api/call.ts";
import { t } from "../../../text/t.ts";
import { Button } from "../../../ui/button.tsx";
import { Field } from "../../../ui/field.tsx";
import { LineMenu, useLines } from "./named-lines.tsx";
import type { FieldsProps } from "./step-config.ts";
import { shareText } from "./step-kinds.ts";

const FEWEST = 2;
/** Letters, because most splits compare two or three versions. */
const LETTERS = "ABCDEFGHIJKLMNOPQRST";

export function SplitFields({ config, onChange, error }: FieldsProps) {
  const { shares } = config as { shares: ReadonlyArray<{ name: string; percent: number }> };
  const { lines, edit, add, remove, move, problemOf } = useLines<number>(
    shares.map(({ name, percent }) => ({ name, value: percent })),
    (changed, renamed) =>
      onChange(
        changed !== null && sumOf(changed) === WHOLE
          ? { shares: changed.map(({ name, value: percent }) => ({ name, percent })) }
          : null,
        renamed,
      ),
  );
  const sum = sumOf(lines);
  return (
    <fieldset>
      <legend className="text-sm font-medium">{t("Shares")}</legend>
      <p className="mb-2 text-sm text-soft">
        {t("We count the contacts, so each share gets exactly its percent.")}
      </p>
      <div className="flex flex-col gap-2.5">
        {lines.map((line, at) => (
          <div key={line.key} role="group" aria-label={t("Share {n}", { n: at + 1 })} className="flex gap-1">
            <div className="grid min-w-0 flex-1 grid-cols-[1fr_6rem] items-start gap-1.5">
              <Field
                label={t("Name")}
                value={line.name}
                maxLength={LIMITS.nameLength.value}
                onChange={({ target }) => edit(line.key, { name: target.value })}
                error={problemOf(line) ?? problemWith(error, `config.shares.${at}.name`)}
              />
              <Field
                label={t("Percent")}
                type="number"
                min={0.01}
                max={99.99}
                step={0.01}
                value={Number.isNaN(line.value) ? "" : line.value}
                onChange={({ target }) => edit(line.key, { value: target.valueAsNumber })}
                error={problemWith(error, `config.shares.${at}.percent`)}
              />
            </div>
            <LineMenu
              label={t("More actions for share {n}", { n: at + 1 })}
              onMove={(by) => move(line.key, by)}
              onRemove={lines.length === FEWEST ? undefined : () => remove(line.key)}
            />
          </div>
        ))}
      </div>
      <p role="status" className={`mt-2 text-sm tabular-nums ${sum === WHOLE ? "text-soft" : "text-bad"}`}>
        {sum === WHOLE
          ? t("Total: {share}", { share: shareText(100) })
          : t("Total: {share}. The shares must add up to {whole}.", {
              share: shareText(sum / 100),
              whole: shareText(100),
            })}
      </p>
      {lines.length < LIMITS.stepBranches.value && (
        <Button
          look="quiet"
          className="mt-1.5"
          onClick={() => add({ name: LETTERS[lines.length] ?? "", value: Math.max(0, WHOLE - sum) / 100 })}
        >
          <Plus size={14} aria-hidden /> {t("Add share")}
        </Button>
      )}
    </fieldset>
  );
}

/** The sum of all shares in hundredths of a percent. */
const WHOLE = 10_000;

function sumOf(lines: ReadonlyArray<{ value: number }>): number {
  return lines.reduce((sum, { value }) => sum + (Number.isNaN(value) ? 0 : Math.round(value * 100)), 0);
}
