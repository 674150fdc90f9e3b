// Inputs shared by the forms of several blocks.
import type { Align } from "@postloft/contract/design.ts";
import { useState } from "react";
import { t } from "../../../text/t.ts";
import { Choices } from "../../../ui/choices.tsx";
import { Field } from "../../../ui/field.tsx";

interface PixelsFieldProps<Value extends number | null> {
  label: string;
  value: Value;
  least: number;
  most: number;
  /** Shown while there is no number. Without it the number is required. */
  placeholder?: string;
  onChange: (value: Value) => void;
}

/** A whole number within bounds. Input is kept as typed and clamped on blur. */
export function PixelsField<Value extends number | null>({
  label,
  value,
  least,
  most,
  placeholder,
  onChange,
}: PixelsFieldProps<Value>) {
  const [typed, setTyped] = useState<string | null>(null);
  const change = (text: string, isLeft: boolean) => {
    const number = Math.round(Number(text));
    const within = Math.min(most, Math.max(least, number));
    setTyped(isLeft ? null : text);
    if (text === "") {
      if (placeholder !== undefined) onChange(null as Value);
    } else if ((isLeft || within === number) && within !== value) onChange(within as Value);
  };
  return (
    <Field
      label={label}
      type="number"
      min={least}
      max={most}
      placeholder={placeholder}
      value={typed ?? value ?? ""}
      onChange={({ target }) => change(target.value, false)}
      onBlur={() => typed !== null && change(typed, true)}
    />
  );
}

export const ALIGNMENTS: ReadonlyArray<{ value: Align; label: string }> = [
  { value: "left", label: t("Left") },
  { value: "center", label: t("Center") },
  { value: "right", label: t("Right") },
];

export function AlignChoice({ value, onChoose }: { value: Align; onChoose: (align: Align) => void }) {
  return <Choices label={t("Alignment")} options={ALIGNMENTS} value={value} onChoose={onChoose} />;
}
