// Lists the segments that contain a contact.
import { Link } from "@tanstack/react-router";
import { api } from "../../api/endpoints.ts";
import { useList } from "../../api/use-list.ts";
import { t } from "../../text/t.ts";
import { More } from "../../ui/more.tsx";
import { Card } from "../../ui/page.tsx";
import { Empty, Failure, Skeleton } from "../../ui/states.tsx";

export function ContactSegments({ projectId, id }: { projectId: string; id: string }) {
  const list = useList(api.segments.ofContact, { projectId, params: { id } });
  if (list.isError) return <Failure error={list.error} onRetry={() => void list.refetch()} />;
  const segments = list.rows?.filter(({ isMember }) => isMember === true);
  return (
    <>
      <Card>
        {segments === undefined && <Skeleton className="m-5 h-20" />}
        {segments?.length === 0 && (
          <Empty title={list.hasNextPage ? t("Not in any recent segment") : t("No segments")}>
            {t("The segments that this contact matches appear here.")}
          </Empty>
        )}
        <ul className="divide-y divide-line">
          {segments?.map((segment) => (
            <li key={segment.id} className="flex flex-wrap items-center gap-x-4 gap-y-1 px-5 py-3 text-sm">
              <Link
                to="/$projectId/segments/$segmentId"
                params={{ projectId, segmentId: segment.id }}
                className="min-w-0 flex-1 truncate font-medium hover:underline"
              >
                <bdi>{segment.name}</bdi>
              </Link>
              <span className="text-faint">
                {segment.type === "STATIC" ? t("Added manually") : t("Matches the rules")}
              </span>
            </li>
          ))}
        </ul>
      </Card>
      <More count="" list={list} />
    </>
  );
}
