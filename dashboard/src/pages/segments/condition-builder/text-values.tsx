// Inputs for one text and for several values, with suggestions.
import { X } from "lucide-react";
import { useState } from "react";
import type { FilterScalar } from "@postloft/contract/filters.ts";
import { t } from "../../../text/t.ts";
import { INPUT_CLASS } from "../../../ui/field.tsx";
import { formatValue } from "./condition-sentence.ts";
import type { FieldType } from "./condition-tree.ts";
import { useValueSuggestions } from "./value-suggestions.tsx";

interface TextProps {
  field: string;
  text: string;
  onChange: (value: string) => void;
}

export function Text({ field, text, onChange }: TextProps) {
  const [isFocused, setFocused] = useState(false);
  const { list, options } = useValueSuggestions(field, text, isFocused);
  return (
    <>
      <input
        type="text"
        list={list}
        aria-label={t("Value")}
        value={text}
        onFocus={() => setFocused(true)}
        onBlur={() => setFocused(false)}
        onChange={({ target }) => onChange(target.value)}
        className={INPUT_CLASS}
      />
      {options}
    </>
  );
}

interface SeveralProps {
  field: string;
  values: FilterScalar[];
  type: FieldType | undefined;
  onChange: (values: FilterScalar[]) => void;
}

export function Several({ field, values, type, onChange }: SeveralProps) {
  const [typed, setTyped] = useState("");
  const [isFocused, setFocused] = useState(false);
  const { list, options } = useValueSuggestions(field, typed, isFocused);
  const add = () => {
    const value = readTyped(typed, type);
    if (value === undefined) return;
    if (!values.includes(value)) onChange([...values, value]);
    setTyped("");
  };
  return (
    <div className="flex flex-wrap gap-1 rounded-md border border-line-strong bg-surface p-1 focus-within:border-accent focus-within:ring-3 focus-within:ring-accent-wash">
      {values.map((value, at) => (
        <span
          key={at}
          className="flex h-6 max-w-full items-center gap-0.5 rounded-sm bg-hover pl-1.5 text-sm"
        >
          <bdi className="truncate">{typeof value === "string" ? value : formatValue(value)}</bdi>
          <button
            type="button"
            aria-label={t("Remove {value}", { value: String(value) })}
            onClick={() => onChange(values.toSpliced(at, 1))}
            className="grid size-6 place-items-center rounded-sm text-faint hover:text-ink"
          >
            <X size={12} aria-hidden />
          </button>
        </span>
      ))}
      <input
        list={list}
        aria-label={t("Add value")}
        placeholder={values.length === 0 ? t("Value, then Enter") : ""}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        onFocus={() => setFocused(true)}
        onBlur={() => {
          setFocused(false);
          add();
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter") {
            event.preventDefault();
            add();
          } else if (event.key === "Backspace" && typed === "") onChange(values.slice(0, -1));
        }}
        className="h-6 min-w-24 flex-1 bg-transparent px-1.5 text-base outline-none"
      />
      {options}
    </div>
  );
}

function readTyped(typed: string, type: FieldType | undefined): FilterScalar | undefined {
  if (typed.trim() === "") return undefined;
  if (type === "number") return Number.isNaN(Number(typed)) ? undefined : Number(typed);
  if (type === "boolean") return typed.trim() === "true";
  return typed;
}
