// The colors of an email or a brand, each with its input.
import { useId } from "react";
import { problemWith } from "../../../api/call.ts";
import { t } from "../../../text/t.ts";

const COLOURS = [
  ["accent", t("Buttons and links")],
  ["ink", t("Text")],
  ["surface", t("Background")],
  ["background", t("Page background")],
] as const;

export type Colours = Record<(typeof COLOURS)[number][0], string>;

interface ColourFieldsProps {
  values: Colours;
  disabled?: boolean;
  /** Further classes of the grid, which has two columns. */
  className?: string;
  /** The error of a request whose field `brand` has the colors. */
  error?: unknown;
  onChange: (change: Partial<Colours>) => void;
}

export function ColourFields({
  values,
  disabled = false,
  className = "",
  error = null,
  onChange,
}: ColourFieldsProps) {
  return (
    <fieldset className={`grid grid-cols-2 gap-3 ${className}`}>
      <legend className="sr-only">{t("Colors")}</legend>
      {COLOURS.map(([name, label]) => (
        <Colour
          key={name}
          label={label}
          value={values[name]}
          disabled={disabled}
          error={problemWith(error, `brand.${name}`)}
          onChange={(colour) => onChange({ [name]: colour })}
        />
      ))}
    </fieldset>
  );
}

/** The fields of a request that show their errors here. */
export const COLOUR_INPUTS = COLOURS.map(([name]) => `brand.${name}`);

interface ColourProps {
  label: string;
  value: string;
  disabled: boolean;
  error: string | undefined;
  onChange: (colour: string) => void;
}

function Colour({ label, value, disabled, error, onChange }: ColourProps) {
  const id = useId();
  return (
    <div className="flex min-w-0 flex-col gap-1.5">
      <label htmlFor={id} className="text-sm font-medium">
        {label}
      </label>
      <input
        id={id}
        type="color"
        value={value}
        disabled={disabled}
        aria-invalid={error === undefined ? undefined : true}
        aria-describedby={error === undefined ? undefined : `${id}-note`}
        onChange={({ target }) => onChange(target.value)}
        className="mt-auto h-8 w-full rounded-md border border-line-strong bg-surface p-1 disabled:opacity-50"
      />
      {error !== undefined && (
        <p id={`${id}-note`} className="text-sm text-bad">
          {error}
        </p>
      )}
    </div>
  );
}
