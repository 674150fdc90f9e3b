// Edits an email's styles.
import type { Design, Look } from "@postloft/contract/design.ts";
import { t } from "../../../text/t.ts";
import { Field, Select } from "../../../ui/field.tsx";
import { Button } from "../../../ui/button.tsx";
import { useProject } from "../../project-shell.tsx";
import { lookOf } from "./block-tree.ts";
import { ColourFields } from "./color-field.tsx";
import { FONT_OPTIONS } from "./fonts.ts";
import { PixelsField } from "./parts-of-forms.tsx";

export function LookForm({ design, onChange }: { design: Design; onChange: (design: Design) => void }) {
  const { look } = design;
  const { brand } = useProject();
  const change = (changed: Partial<Look>) => onChange({ ...design, look: { ...look, ...changed } });
  return (
    <div className="@container flex flex-col gap-4">
      <ColourFields values={look} className="@md:grid-cols-4" onChange={change} />
      <div className="grid gap-3 @md:grid-cols-3">
        <Select
          label={t("Font")}
          options={FONT_OPTIONS}
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
      <span>
        <Button onClick={() => change(lookOf(brand))}>{t("Use brand colors and font")}</Button>
      </span>
    </div>
  );
}
