// The fields and the subscription that an UPDATE_CONTACT step changes.
import { Plus } from "lucide-react";
import { useState } from "react";
import { problemWith } from "../../../api/call.ts";
import { t } from "../../../text/t.ts";
import { Button } from "../../../ui/button.tsx";
import { INPUT_CLASS, Select } from "../../../ui/field.tsx";
import { RemoveButton } from "./remove-button.tsx";
import type { FieldsProps } from "./step-config.ts";

type Kind = "text" | "number" | "yes" | "no" | "remove" | "json";
const KIND_NAMES: Record<Kind, string> = {
  text: t("Text"),
  number: t("Number"),
  yes: t("Yes"),
  no: t("No"),
  remove: t("No value"),
  json: t("JSON"),
};
const TYPED_KINDS: ReadonlySet<Kind> = new Set(["text", "number", "json"]);

interface Row {
  id: number;
  field: string;
  kind: Kind;
  typed: string;
}

function rowOf([field, value]: [string, unknown], id: number): Row {
  if (value === null) return { id, field, kind: "remove", typed: "" };
  if (typeof value === "boolean") return { id, field, kind: value ? "yes" : "no", typed: "" };
  if (typeof value === "number") return { id, field, kind: "number", typed: String(value) };
  if (typeof value === "string") return { id, field, kind: "text", typed: value };
  return { id, field, kind: "json", typed: JSON.stringify(value) };
}

/** Returns undefined while the value is incomplete. */
function valueOf({ kind, typed }: Row): unknown {
  switch (kind) {
    case "remove":
      return null;
    case "yes":
      return true;
    case "no":
      return false;
    case "number":
      return typed.trim() === "" || Number.isNaN(Number(typed)) ? undefined : Number(typed);
    case "text":
      return typed;
    case "json":
      try {
        return JSON.parse(typed) as unknown;
      } catch {
        return undefined;
      }
  }
}

/** Returns the updates of the API; null while a row is incomplete or two rows have the same field. */
function updatesOf(rows: readonly Row[]): Record<string, unknown> | null {
  const written = rows.filter(({ field, typed }) => field !== "" || typed !== "");
  const values = written.map((row) => [row.field, valueOf(row)] as const);
  const isWhole = values.every(([field, value]) => field !== "" && value !== undefined);
  const isDistinct = new Set(values.map(([field]) => field)).size === values.length;
  return isWhole && isDistinct ? Object.fromEntries(values) : null;
}

export function UpdateFields({ config, onChange, error }: FieldsProps) {
  const { updates = {}, subscriptionAction = "none" } = config as {
    updates?: Record<string, unknown>;
    subscriptionAction?: string;
  };
  const [rows, setRows] = useState(() => {
    const stored = Object.entries(updates).map(rowOf);
    return stored.length === 0 ? [rowOf(["", ""], 0)] : stored;
  });
  const [nextId, setNextId] = useState(rows.length);
  const [action, setAction] = useState(subscriptionAction);
  const change = (next: Row[], subscription = action) => {
    setRows(next);
    setAction(subscription);
    const written = updatesOf(next);
    onChange(
      written === null
        ? null
        : {
            ...(Object.keys(written).length === 0 ? {} : { updates: written }),
            ...(subscription === "none" ? {} : { subscriptionAction: subscription }),
          },
    );
  };
  const problem = problemWith(error, "config.updates");
  return (
    <>
      <fieldset>
        <legend className="mb-1.5 text-sm font-medium">{t("Fields")}</legend>
        <div className="flex flex-col gap-2.5">
          {rows.map((row) => (
            <UpdateRow
              key={row.id}
              row={row}
              onChange={(next) => change(rows.map((one) => (one.id === row.id ? next : one)))}
              onRemove={() => change(rows.filter(({ id }) => id !== row.id))}
            />
          ))}
        </div>
        {problem !== undefined && <p className="mt-1 text-sm text-bad">{problem}</p>}
        <Button
          look="quiet"
          className="mt-1.5"
          onClick={() => {
            change([...rows, rowOf(["", ""], nextId)]);
            setNextId(nextId + 1);
          }}
        >
          <Plus size={14} aria-hidden /> {t("Add field")}
        </Button>
      </fieldset>
      <Select
        label={t("Subscription")}
        options={[
          { value: "none", label: t("Don't change") },
          { value: "subscribe", label: t("Subscribe") },
          { value: "unsubscribe", label: t("Unsubscribe") },
        ]}
        value={action}
        onChange={({ target }) => change(rows, target.value)}
      />
    </>
  );
}

interface UpdateRowProps {
  row: Row;
  onChange: (row: Row) => void;
  onRemove: () => void;
}

function UpdateRow({ row, onChange, onRemove }: UpdateRowProps) {
  return (
    <div className="flex gap-1">
      <div className="grid min-w-0 flex-1 grid-cols-2 gap-1.5">
        <input
          aria-label={t("Field")}
          placeholder="plan"
          value={row.field}
          onChange={({ target }) => onChange({ ...row, field: target.value })}
          className={INPUT_CLASS}
        />
        <select
          aria-label={t("Type")}
          value={row.kind}
          onChange={({ target }) => onChange({ ...row, kind: target.value as Kind })}
          className={INPUT_CLASS}
        >
          {(Object.keys(KIND_NAMES) as Kind[]).map((kind) => (
            <option key={kind} value={kind}>
              {KIND_NAMES[kind]}
            </option>
          ))}
        </select>
        {TYPED_KINDS.has(row.kind) && (
          <input
            aria-label={t("Value")}
            value={row.typed}
            inputMode={row.kind === "number" ? "decimal" : "text"}
            onChange={({ target }) => onChange({ ...row, typed: target.value })}
            className={`${INPUT_CLASS} col-span-2`}
          />
        )}
      </div>
      <RemoveButton label={t("Remove field")} onClick={onRemove} />
    </div>
  );
}
