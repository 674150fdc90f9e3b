// Resolves a conflict when a segment was changed elsewhere while it was edited here.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { Filter } from "@postloft/contract/filters.ts";
import { t } from "../../text/t.ts";
import { ChangedElsewhere } from "../../ui/changed-elsewhere.tsx";
import { formatAgo } from "../../ui/format.ts";
import { Failure } from "../../ui/states.tsx";
import { sentenceOf } from "./condition-builder/condition-sentence.ts";
import type { Fields } from "./condition-builder/fields.ts";
import { segmentQuery, type Segment } from "./segment-queries.ts";

interface ConflictProps {
  projectId: string;
  segmentId: string;
  fields: Fields;
  onSaveOver: ((saved: Segment) => void) | undefined;
  onTaken: () => void;
}

export function SegmentConflict({ projectId, segmentId, fields, onSaveOver, onTaken }: ConflictProps) {
  const queries = useQueryClient();
  const edited = segmentQuery(projectId, segmentId);
  const saved = useQuery({ ...edited, queryKey: [...edited.queryKey, "saved"], staleTime: 0 });
  if (saved.isError) return <Failure error={saved.error} onRetry={() => void saved.refetch()} />;
  const now = saved.data;
  return (
    <ChangedElsewhere
      said={
        now === undefined
          ? t("Someone else changed this segment.")
          : t("Someone else changed this segment {when}.", { when: formatAgo(now.updatedAt) })
      }
      saved={now}
      show={({ name, description, filters }) => (
        <>
          <p className="font-medium wrap-anywhere" dir="auto">
            {name}
          </p>
          <p className="text-sm wrap-anywhere text-soft empty:hidden" dir="auto">
            {description}
          </p>
          {filters !== null && (
            <p className="mt-2 text-sm wrap-anywhere" dir="auto">
              {sentenceOf(filters as Filter, fields)}
            </p>
          )}
        </>
      )}
      onSaveOver={onSaveOver}
      onTaken={(taken) => {
        queries.setQueryData(edited.queryKey, taken);
        onTaken();
      }}
    />
  );
}
