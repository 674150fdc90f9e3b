// Adds a value for a field that a contact lacks: an existing field with its type, or a new one.
import { useState, type RefObject } from "react";
import { flushSync } from "react-dom";
import { t } from "../../../text/t.ts";
import { Button } from "../../../ui/button.tsx";
import { Combobox } from "../../../ui/combobox.tsx";
import { INPUT_CLASS } from "../../../ui/field.tsx";
import { useLeaveWarning } from "../../../ui/use-leave-warning.ts";
import { TYPE_NAMES } from "../../segments/condition-builder/fields.ts";
import type { ContactField } from "../field-queries.ts";
import { kindsFor, readDraft, type Kind } from "./field-value.ts";
import { KIND_NAMES, PROBLEMS } from "./field-words.ts";
import { errorOf, useFieldChange } from "./use-field-change.ts";
import { ValueForm } from "./value-form.tsx";

interface AddFieldProps {
  projectId: string;
  id: string;
  data: Record<string, unknown>;
  /** The project's fields with their types. */
  known: ReadonlyMap<string, ContactField["type"]>;
  button: RefObject<HTMLButtonElement | null>;
}

export function AddField({ button, ...rest }: AddFieldProps) {
  const [isOpen, setOpen] = useState(false);
  const close = () => {
    flushSync(() => setOpen(false));
    button.current?.focus();
  };
  return (
    <div className="border-t border-line px-5 py-3">
      {isOpen ? (
        <AddForm {...rest} onClose={close} />
      ) : (
        <Button ref={button} onClick={() => setOpen(true)}>
          {t("Add field")}
        </Button>
      )}
    </div>
  );
}

interface Draft {
  name: string;
  kind: Kind;
  text: string;
}

// oxlint-disable-next-line max-lines-per-function -- the handlers share its state
function AddForm({
  projectId,
  id,
  data,
  known,
  onClose,
}: Omit<AddFieldProps, "button"> & { onClose: () => void }) {
  const [draft, setDraft] = useState<Draft>({ name: "", kind: "text", text: "" });
  const [problem, setProblem] = useState<string>();
  const changing = useFieldChange(projectId, id);
  const { name, kind, text } = draft;
  useLeaveWarning(text !== "");
  const kinds = kindsFor(known.get(name));
  const change = (next: Partial<Draft>) => {
    setDraft({ ...draft, ...next });
    setProblem(undefined);
    changing.reset();
  };
  const choose = (chosen: string) => {
    const fitting = kindsFor(known.get(chosen));
    change({ name: chosen, ...(fitting.includes(kind) ? {} : { kind: fitting[0] ?? "text", text: "" }) });
  };
  const save = () => {
    const read = readDraft(text, kind);
    if (name === "") return setProblem(t("Choose a field first."));
    if ("problem" in read) return setProblem(PROBLEMS[read.problem]);
    changing.mutate({ name, value: read.value, before: null }, { onSuccess: onClose });
  };
  const free = [...known].filter(([one]) => !Object.hasOwn(data, one));
  return (
    <ValueForm
      className="grid grid-cols-[minmax(0,1fr)_auto] items-start gap-x-3 gap-y-2 sm:grid-cols-[minmax(0,1fr)_9rem_minmax(0,1.5fr)_auto]"
      kind={kind}
      label={t("Value")}
      name={name === "" ? t("Field") : name}
      draft={text}
      onDraft={(typed) => change({ text: typed })}
      problem={problem ?? errorOf(changing.error)}
      isBusy={changing.isPending}
      hasFocus={false}
      onSave={save}
      onCancel={onClose}
    >
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
            known.has(typed) || Object.hasOwn(data, typed)
              ? []
              : [{ value: typed, label: t("Custom field {name}", { name: typed }) }]
          }
        />
      </div>
      <select
        aria-label={t("Type")}
        value={kind}
        disabled={kinds.length === 1}
        onChange={({ target }) => change({ kind: target.value as Kind, text: "" })}
        className={`max-sm:col-span-2 ${INPUT_CLASS}`}
      >
        {kinds.map((one) => (
          <option key={one} value={one}>
            {KIND_NAMES[one]}
          </option>
        ))}
      </select>
    </ValueForm>
  );
}
