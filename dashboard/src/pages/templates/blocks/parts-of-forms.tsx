// What the forms of several kinds of blocks have in them. Before it: block-form.tsx, image-form.tsx, look-form.tsx. After it: ui/choices.tsx.
import type { Align } from "@postloft/contract/design.ts";
import { t } from "../../../text/t.ts";
import { Choices } from "../../../ui/choices.tsx";

/** A whole number within its bounds; what is no number is the least. */
export function clamped(value: number, least: number, most: number): number {
  return Number.isNaN(value) ? least : Math.min(most, Math.max(least, Math.round(value)));
}

export function AlignChoice({ value, onChoose }: { value: Align; onChoose: (align: Align) => void }) {
  return (
    <Choices
      label={t("Where it stands")}
      options={[
        { value: "left", label: t("Left") },
        { value: "center", label: t("Middle") },
        { value: "right", label: t("Right") },
      ]}
      value={value}
      onChoose={onChoose}
    />
  );
}
