// Filters of the list of workflows.
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { t } from "../../text/t.ts";
import { Choices } from "../../ui/choices.tsx";
import { INPUT_CLASS } from "../../ui/field.tsx";
import { formatNumber } from "../../ui/format.ts";
import { SearchBox } from "../../ui/search-box.tsx";
import { readWorkflowsSearch, type WorkflowsSearch } from "./search.ts";
import { groupsQuery } from "./workflow-queries.ts";

const route = getRouteApi("/signed-in/$projectId/workflows");

export function WorkflowFilters({ projectId }: { projectId: string }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const groups = useQuery(groupsQuery(projectId));
  const set = (change: WorkflowsSearch, replace = false) =>
    void navigate({ search: (old) => readWorkflowsSearch({ ...old, ...change }), replace });
  return (
    <div className="mb-3 flex flex-wrap items-center gap-3">
      <SearchBox
        label={t("Search by name")}
        value={search.search ?? ""}
        onSearch={(text) => set({ search: text }, true)}
      />
      <Choices
        label={t("Status")}
        options={[
          { value: "all", label: t("All") },
          { value: "active", label: t("Enabled") },
          { value: "disabled", label: t("Disabled") },
        ]}
        value={search.status ?? "all"}
        onChoose={(status) => void navigate({ search: (old) => readWorkflowsSearch({ ...old, status }) })}
      />
      <GroupChoice
        label={t("Folder")}
        all={t("All folders")}
        groups={groups.data?.folders ?? []}
        chosen={search.folder}
        onChoose={(folder) => set({ folder })}
      />
      <GroupChoice
        label={t("Tag")}
        all={t("All tags")}
        groups={groups.data?.tags ?? []}
        chosen={search.tag}
        onChoose={(tag) => set({ tag })}
      />
    </div>
  );
}

interface GroupChoiceProps {
  label: string;
  /** The option that filters by none. */
  all: string;
  groups: ReadonlyArray<{ name: string; workflows: number }>;
  chosen: string | undefined;
  /** Receives "" for all. */
  onChoose: (name: string) => void;
}

/** Shows nothing in a project without such groups. */
function GroupChoice({ label, all, groups, chosen, onChoose }: GroupChoiceProps) {
  // A group in an old link may be gone.
  const isGone = chosen !== undefined && !groups.some(({ name }) => name === chosen);
  if (groups.length === 0 && !isGone) return null;
  return (
    <select
      aria-label={label}
      className={`${INPUT_CLASS} max-w-60`}
      value={chosen ?? ""}
      onChange={({ target }) => onChoose(target.value)}
    >
      <option value="">{all}</option>
      {groups.map(({ name, workflows }) => (
        <option key={name} value={name}>
          {`${name} (${formatNumber(workflows)})`}
        </option>
      ))}
      {isGone && <option value={chosen}>{chosen}</option>}
    </select>
  );
}
