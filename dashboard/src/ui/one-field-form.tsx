// A form with one field, its error and a submit button.
import type { InputHTMLAttributes, ReactNode } from "react";
import { CallError } from "../api/call.ts";
import { t } from "../text/t.ts";
import { Button } from "./button.tsx";
import { Field } from "./field.tsx";
import { Failure } from "./states.tsx";

interface OneFieldFormProps extends Omit<InputHTMLAttributes<HTMLInputElement>, "onChange" | "value"> {
  label: string;
  help?: string;
  value: string;
  onChange: (value: string) => void;
  /** The text to type before the button is enabled. */
  expected?: string;
  /** Label of the submit button. */
  action: string;
  /** The mutation that the submit button runs. */
  asking: { error: unknown; isPending: boolean; mutate: () => void };
  /** Adds a cancel button, for dialogs. */
  onCancel?: () => void;
  /** Replaces the cancel button. */
  way?: ReactNode;
}

export function OneFieldForm({
  value,
  onChange,
  expected,
  action,
  asking,
  onCancel,
  way = onCancel && (
    <Button look="quiet" onClick={onCancel}>
      {t("Cancel")}
    </Button>
  ),
  ...field
}: OneFieldFormProps) {
  const { error, isPending, mutate } = asking;
  // The form has one field, so show the error under any field name.
  const [first] = error instanceof CallError ? error.fields : [];
  return (
    <form
      noValidate
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (expected === undefined || value.trim() === expected) mutate();
      }}
    >
      {error !== null && <Failure error={error} atInputs={first === undefined ? [] : [first.field]} />}
      <Field
        {...field}
        autoFocus
        required
        value={value}
        onChange={(event) => onChange(event.target.value)}
        error={first?.message}
      />
      <div className="flex justify-end gap-2">
        {way}
        <Button
          look="primary"
          type="submit"
          className={way === undefined ? "flex-1" : ""}
          busy={isPending}
          disabled={value.trim() === "" || (expected !== undefined && value.trim() !== expected)}
        >
          {action}
        </Button>
      </div>
    </form>
  );
}
