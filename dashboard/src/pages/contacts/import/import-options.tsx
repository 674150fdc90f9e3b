// Options of an import: the segment, the decimal sign, and whether unsubscribed contacts are resubscribed.
import { useQuery } from "@tanstack/react-query";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { t } from "../../../text/t.ts";
import { Checkbox, Field, Select } from "../../../ui/field.tsx";
import { Card } from "../../../ui/page.tsx";
import { segmentsQuery } from "../../segments/segment-queries.ts";
import type { ImportOptions } from "./import-plan.ts";

interface ImportOptionsProps {
  projectId: string;
  fileName: string;
  options: ImportOptions;
  onChange: (options: ImportOptions) => void;
}

const NEW = "new";
const NAME_LENGTH_MAX = LIMITS.nameLength.value;

/** Proposes the file's name without its extension. */
const segmentNameOf = (fileName: string) => fileName.replace(/\.\w{1,5}$/, "").slice(0, NAME_LENGTH_MAX);

export function ImportOptionsCard({ projectId, fileName, options, onChange }: ImportOptionsProps) {
  const { segment, decimal, resubscribes } = options;
  const { data: segments = [] } = useQuery(segmentsQuery(projectId));
  const fixed = segments.filter(({ type }) => type === "STATIC");
  const isNew = segment !== null && "name" in segment;
  const choose = (value: string) => {
    const chosen = value === NEW ? { name: segmentNameOf(fileName) } : { id: value };
    onChange({ ...options, segment: value === "" ? null : chosen });
  };
  return (
    <Card className="p-5">
      <h2 className="mb-4 font-semibold">{t("Options")}</h2>
      <div className="grid max-w-200 gap-4 sm:grid-cols-2">
        <div className="flex flex-col gap-4">
          <Select
            label={t("Add to a segment")}
            help={t("Skipped and rejected rows aren't added.")}
            value={segment === null ? "" : isNew ? NEW : segment.id}
            onChange={({ target }) => choose(target.value)}
            options={[
              { value: "", label: t("No segment") },
              ...fixed.map(({ id, name }) => ({ value: id, label: name })),
              { value: NEW, label: t("New segment") },
            ]}
          />
          {isNew && (
            <Field
              label={t("Segment name")}
              value={segment.name}
              autoFocus
              maxLength={NAME_LENGTH_MAX}
              onChange={({ target }) => onChange({ ...options, segment: { name: target.value } })}
            />
          )}
        </div>
        <Select
          label={t("Decimal sign")}
          help={t("How numbers in this file are written.")}
          value={decimal}
          onChange={({ target }) =>
            onChange({ ...options, decimal: target.value === "comma" ? "comma" : "point" })
          }
          options={[
            { value: "point", label: t("Point: 1,234.56") },
            { value: "comma", label: t("Comma: 1.234,56") },
          ]}
        />
      </div>
      <div className="mt-5">
        <Checkbox
          label={t("Resubscribe contacts who unsubscribed")}
          help={t("When off, unsubscribed contacts stay unsubscribed, even if the file says otherwise.")}
          checked={resubscribes}
          onChange={({ target }) => onChange({ ...options, resubscribes: target.checked })}
        />
        {resubscribes && (
          <p role="status" className="mt-2 rounded-md bg-warn-wash px-3.5 py-2.5 text-sm">
            {t("People who left will get your campaigns again. Do this only if they asked for it.")}
          </p>
        )}
      </div>
    </Card>
  );
}
