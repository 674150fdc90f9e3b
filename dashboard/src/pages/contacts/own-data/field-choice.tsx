// Chooses a field and the kind of its value: an existing field with its type, or a new one.
import { t } from "../../../text/t.ts";
import { Combobox } from "../../../ui/combobox.tsx";
import { INPUT_CLASS } from "../../../ui/field.tsx";
import { TYPE_NAMES } from "../../segments/condition-builder/fields.ts";
import type { ContactField } from "../field-queries.ts";
import { kindsFor, type Kind } from "./field-value.ts";
import { KIND_NAMES } from "./field-words.ts";

/** Types of the project's fields by name. */
export type KnownFields = ReadonlyMap<string, ContactField["type"]>;

export interface FieldDraft {
  name: string;
  kind: Kind;
  text: string;
}
export const NO_FIELD: FieldDraft = { name: "", kind: "text", text: "" };

/** Returns the types of fields by their names in `data`. */
export function knownFields(fields: readonly ContactField[] | undefined): KnownFields {
  return new Map(fields?.map(({ field, type }) => [field.replace(/^data\./, ""), type]));
}

interface FieldChoiceProps {
  draft: FieldDraft;
  known: KnownFields;
  /** Returns whether a field can't be chosen. */
  isTaken: (name: string) => boolean;
  onChange: (next: Partial<FieldDraft>) => void;
}

export function FieldChoice({ draft, known, isTaken, onChange }: FieldChoiceProps) {
  const { name, kind } = draft;
  const kinds = kindsFor(known.get(name));
  const choose = (chosen: string) => {
    const fitting = kindsFor(known.get(chosen));
    onChange({ name: chosen, ...(fitting.includes(kind) ? {} : { kind: fitting[0] ?? "text", text: "" }) });
  };
  const free = [...known].filter(([one]) => !isTaken(one));
  return (
    <>
      <div className="max-sm:col-span-2">
        <Combobox
          label={t("Field")}
          hasFocus
          shown={name === "" ? <span className="text-faint">{t("Choose a field")}</span> : <bdi>{name}</bdi>}
          groups={[
            {
              label: t("Custom fields"),
              items: free.map(([one, type]) => ({ value: one, label: one, note: TYPE_NAMES[type] })),
            },
          ]}
          value={name}
          onChoose={choose}
          madeOf={(typed) =>
            known.has(typed) || isTaken(typed)
              ? []
              : [{ value: typed, label: t("Custom field {name}", { name: typed }) }]
          }
        />
      </div>
      <select
        aria-label={t("Type")}
        value={kind}
        disabled={kinds.length === 1}
        onChange={({ target }) => onChange({ kind: target.value as Kind, text: "" })}
        className={`max-sm:col-span-2 ${INPUT_CLASS}`}
      >
        {kinds.map((one) => (
          <option key={one} value={one}>
            {KIND_NAMES[one]}
          </option>
        ))}
      </select>
    </>
  );
}
