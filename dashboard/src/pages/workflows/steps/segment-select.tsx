// Chooses a segment.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { t } from "../../../text/t.ts";
import { Select } from "../../../ui/field.tsx";
import { segmentsQuery } from "../../segments/segment-queries.ts";

interface SegmentSelectProps {
  projectId: string;
  /** Offers only segments that record entries and exits. */
  mustBeTracked?: boolean;
  value: string;
  onChange: (id: string) => void;
  error: string | undefined;
}

export function SegmentSelect({
  projectId,
  mustBeTracked = false,
  value,
  onChange,
  error,
}: SegmentSelectProps) {
  const segments = useQuery(segmentsQuery(projectId));
  const offered = (segments.data ?? []).filter(
    ({ id, type, trackMembership }) =>
      !mustBeTracked || id === value || (type === "DYNAMIC" && trackMembership),
  );
  return (
    <div>
      <Select
        label={t("Segment")}
        options={[
          { value: "", label: t("Choose a segment") },
          ...offered.map(({ id, name }) => ({ value: id, label: name })),
        ]}
        value={value}
        onChange={({ target }) => onChange(target.value)}
        error={error}
        help={mustBeTracked ? t("Only segments with “Track membership” are listed.") : undefined}
      />
      <Link
        to="/$projectId/segments"
        params={{ projectId }}
        className="mt-1 inline-block text-sm text-accent hover:underline"
      >
        {t("All segments")}
      </Link>
    </div>
  );
}
