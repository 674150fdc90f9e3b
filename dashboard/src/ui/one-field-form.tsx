// A form that asks for one thing: the field, what is wrong with it, and one button.
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
  /** What has to be typed before the button works. */
  expected?: string;
  /** What the button says. */
  action: string;
  /** The call that the button makes, as far as the form has to know it. */
  asking: { error: unknown; isPending: boolean; mutate: () => void };
  /** Of a dialog: a button beside the other that leads back. */
  onCancel?: () => void;
  /** Another way back in its place. */
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
  // Whatever the server calls it, it is the one thing that was asked.
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
