// Labelled form controls with help and error texts linked for screen readers.
import {
  useId,
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
} from "react";
import { useFirstFocus } from "./first-focus.ts";

const CONTROL =
  "w-full rounded-md border border-line-strong bg-surface px-2.5 text-base text-ink transition-colors hover:border-faint focus:border-accent focus:outline-none focus:ring-3 focus:ring-accent-wash disabled:opacity-50 aria-invalid:border-bad";
/** Classes of a single-line input. */
export const INPUT_CLASS = `h-8 text-ellipsis ${CONTROL}`;
/** Classes of a multi-line input. */
export const AREA_CLASS = `${CONTROL} py-2`;

interface Said {
  label: string;
  help?: ReactNode;
  error?: string | undefined;
}
interface Tied {
  id: string;
  "aria-invalid": true | undefined;
  "aria-describedby": string | undefined;
}

function Labelled({ label, help, error, children }: Said & { children: (tied: Tied) => ReactNode }) {
  const id = useId();
  const note = error ?? help;
  return (
    <div className="flex flex-col gap-1.5">
      <label htmlFor={id} className="text-sm font-medium whitespace-pre-wrap">
        {label}
      </label>
      {children({
        id,
        "aria-invalid": error === undefined ? undefined : true,
        "aria-describedby": note === undefined ? undefined : `${id}-note`,
      })}
      {note !== undefined && (
        <p id={`${id}-note`} className={`text-sm ${error === undefined ? "text-faint" : "text-bad"}`}>
          {note}
        </p>
      )}
    </div>
  );
}

export function Field({
  label,
  help,
  error,
  autoFocus,
  ...input
}: Said & InputHTMLAttributes<HTMLInputElement>) {
  const first = useFirstFocus<HTMLInputElement>(autoFocus);
  return (
    <Labelled label={label} help={help} error={error}>
      {(tied) => <input {...input} {...tied} {...first} className={INPUT_CLASS} />}
    </Labelled>
  );
}

interface TextAreaProps extends Said, TextareaHTMLAttributes<HTMLTextAreaElement> {
  /** Monospaced, for code and JSON. */
  isCode?: boolean;
}

export function TextArea({ label, help, error, isCode = false, autoFocus, ...input }: TextAreaProps) {
  const first = useFirstFocus<HTMLTextAreaElement>(autoFocus);
  return (
    <Labelled label={label} help={help} error={error}>
      {(tied) => (
        <textarea
          {...input}
          {...tied}
          {...first}
          spellCheck={!isCode}
          className={`${AREA_CLASS} ${isCode ? "font-mono text-xs leading-5" : ""}`}
        />
      )}
    </Labelled>
  );
}

interface SelectProps extends Said, SelectHTMLAttributes<HTMLSelectElement> {
  options: ReadonlyArray<{ value: string; label: string }>;
}

export function Select({ label, help, error, options, ...select }: SelectProps) {
  return (
    <Labelled label={label} help={help} error={error}>
      {(tied) => (
        <select {...select} {...tied} className={INPUT_CLASS}>
          {options.map(({ value, label: text }) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Labelled>
  );
}

interface CheckboxProps extends Omit<Said, "error">, Omit<InputHTMLAttributes<HTMLInputElement>, "type"> {}

export function Checkbox({ label, help, ...input }: CheckboxProps) {
  const id = useId();
  return (
    <div className="flex gap-2.5">
      <input
        {...input}
        id={id}
        type="checkbox"
        aria-describedby={help === undefined ? undefined : `${id}-note`}
        className="mt-0.75 size-4 shrink-0 accent-accent-fill"
      />
      <div>
        <label htmlFor={id} className="font-medium">
          {label}
        </label>
        {help !== undefined && (
          <p id={`${id}-note`} className="text-sm text-soft">
            {help}
          </p>
        )}
      </div>
    </div>
  );
}
