// Adds a value for a field that a contact lacks: an existing field with its type, or a new one.
import { useState, type RefObject } from "react";
import { flushSync } from "react-dom";
import { t } from "../../../text/t.ts";
import { Button } from "../../../ui/button.tsx";
import { useLeaveWarning } from "../../../ui/use-leave-warning.ts";
import { FieldChoice, NO_FIELD, type FieldDraft, type KnownFields } from "./field-choice.tsx";
import { readDraft } from "./field-value.ts";
import { PROBLEMS } from "./field-words.ts";
import { errorOf, useFieldChange } from "./use-field-change.ts";
import { ValueForm } from "./value-form.tsx";

interface AddFieldProps {
  projectId: string;
  id: string;
  data: Record<string, unknown>;
  known: KnownFields;
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

function AddForm({
  projectId,
  id,
  data,
  known,
  onClose,
}: Omit<AddFieldProps, "button"> & { onClose: () => void }) {
  const [draft, setDraft] = useState<FieldDraft>(NO_FIELD);
  const [problem, setProblem] = useState<string>();
  const changing = useFieldChange(projectId, id);
  const { name, kind, text } = draft;
  useLeaveWarning(text !== "");
  const change = (next: Partial<FieldDraft>) => {
    setDraft({ ...draft, ...next });
    setProblem(undefined);
    changing.reset();
  };
  const save = () => {
    const read = readDraft(text, kind);
    if (name === "") return setProblem(t("Choose a field first."));
    if ("problem" in read) return setProblem(PROBLEMS[read.problem]);
    changing.mutate({ name, value: read.value, before: null }, { onSuccess: onClose });
  };
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
      <FieldChoice
        draft={draft}
        known={known}
        isTaken={(one) => Object.hasOwn(data, one)}
        onChange={change}
      />
    </ValueForm>
  );
}
