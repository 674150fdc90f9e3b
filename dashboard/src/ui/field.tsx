// A labelled input with its help and its error; both are tied to it for screen readers.
import { useId, type InputHTMLAttributes } from "react";

export const INPUT_CLASS =
  "h-8 w-full rounded-md border border-line-strong bg-surface px-2.5 text-base text-ink transition-colors hover:border-faint focus:border-accent focus:outline-none focus:ring-3 focus:ring-accent-wash disabled:opacity-50 aria-invalid:border-bad";

interface FieldProps extends InputHTMLAttributes<HTMLInputElement> {
  label: string;
  help?: string;
  error?: string | undefined;
}

export function Field({ label, help, error, ...input }: FieldProps) {
  const id = useId();
  const note = error ?? help;
  return (
    <div className="flex flex-col gap-1.5">
      <label htmlFor={id} className="text-sm font-medium">
        {label}
      </label>
      <input
        {...input}
        id={id}
        aria-invalid={error === undefined ? undefined : true}
        aria-describedby={note === undefined ? undefined : `${id}-note`}
        className={INPUT_CLASS}
      />
      {note !== undefined && (
        <p id={`${id}-note`} className={`text-sm ${error === undefined ? "text-faint" : "text-bad"}`}>
          {note}
        </p>
      )}
    </div>
  );
}
