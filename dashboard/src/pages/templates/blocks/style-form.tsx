// Edits an email's styles.
import type { Design, Look } from "@postloft/contract/design.ts";
import { useId } from "react";
import { t } from "../../../text/t.ts";
import { Field, Select } from "../../../ui/field.tsx";
import { PixelsField } from "./parts-of-forms.tsx";

const COLOURS = [
  ["accent", t("Buttons and links")],
  ["ink", t("Text")],
  ["surface", t("Background")],
  ["background", t("Page background")],
] as const;

export function LookForm({ design, onChange }: { design: Design; onChange: (design: Design) => void }) {
  const { look } = design;
  const change = (changed: Partial<Look>) => onChange({ ...design, look: { ...look, ...changed } });
  return (
    <div className="flex flex-col gap-4">
      <fieldset className="grid grid-cols-2 gap-3 sm:grid-cols-4">
        <legend className="sr-only">{t("Colors")}</legend>
        {COLOURS.map(([name, label]) => (
          <Colour
            key={name}
            label={label}
            value={look[name]}
            onChange={(colour) => change({ [name]: colour })}
          />
        ))}
      </fieldset>
      <div className="grid gap-3 sm:grid-cols-3">
        <Select
          label={t("Font")}
          options={[
            { value: "sans", label: t("Sans serif") },
            { value: "serif", label: t("Serif") },
          ]}
          value={look.font}
          onChange={({ target }) => change({ font: target.value as Look["font"] })}
        />
        <PixelsField
          label={t("Width in pixels")}
          least={320}
          most={800}
          value={look.width}
          onChange={(width) => change({ width })}
        />
        <Field
          label={t("Language")}
          help={t("Used by screen readers.")}
          value={design.language}
          onChange={({ target }) => onChange({ ...design, language: target.value.trim() })}
        />
      </div>
    </div>
  );
}

interface ColourProps {
  label: string;
  value: string;
  onChange: (colour: string) => void;
}

function Colour({ label, value, onChange }: ColourProps) {
  const id = useId();
  return (
    <div className="flex flex-col gap-1.5">
      <label htmlFor={id} className="text-sm font-medium">
        {label}
      </label>
      <input
        id={id}
        type="color"
        value={value}
        onChange={({ target }) => onChange(target.value)}
        className="h-8 w-full rounded-md border border-line-strong bg-surface p-1"
      />
    </div>
  );
}
