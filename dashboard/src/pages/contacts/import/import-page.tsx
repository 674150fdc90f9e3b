// Imports contacts from a file in three steps that the URL names: choose the file, map its columns, read the report.
import { getRouteApi, Link } from "@tanstack/react-router";
import { ArrowLeft } from "lucide-react";
import { useEffect, useState } from "react";
import { t } from "../../../text/t.ts";
import { buttonClass } from "../../../ui/button.tsx";
import { Page } from "../../../ui/page.tsx";
import { useProject } from "../../project-shell.tsx";
import { ColumnsStep } from "./columns-step.tsx";
import { FileStep } from "./file-step.tsx";
import type { ChosenFile } from "./import-plan.ts";
import { keep, readKeptDraft } from "./kept-import.ts";
import { RecentImports } from "./recent-imports.tsx";
import { RunningImport } from "./running-import.tsx";

const route = getRouteApi("/signed-in/$projectId/contacts/import");
type Step = "file" | "columns" | "report";
const STEPS: ReadonlyArray<{ step: Step; name: string }> = [
  { step: "file", name: t("File") },
  { step: "columns", name: t("Columns") },
  { step: "report", name: t("Report") },
];

export function ImportPage() {
  const project = useProject();
  return (
    <Page title={t("Import contacts")} about={t("Upload a CSV exported from any spreadsheet or email tool.")}>
      <Link
        to="/$projectId/contacts"
        params={{ projectId: project.id }}
        search={{}}
        className="-mt-3 mb-5 inline-flex items-center gap-1.5 text-sm text-soft hover:text-ink"
      >
        <ArrowLeft size={14} aria-hidden /> {t("All contacts")}
      </Link>
      <Import key={project.id} projectId={project.id} />
    </Page>
  );
}

function Import({ projectId }: { projectId: string }) {
  const { step, trial, job } = route.useSearch();
  const navigate = route.useNavigate();
  const [chosen, setChosen] = useState(() => readKeptDraft(projectId));
  useEffect(() => keep(projectId, chosen), [projectId, chosen]);
  const choose = async (file: ChosenFile) => {
    setChosen(file);
    await navigate({ search: { step: "columns" } });
  };
  if (job !== undefined)
    return (
      <>
        <Steps at="report" />
        <RunningImport
          projectId={projectId}
          job={job}
          isDryRun={false}
          more={
            <NextSteps
              projectId={projectId}
              segmentId={chosen?.job === job ? segmentIdOf(chosen) : null}
              onOther={() => setChosen(null)}
            />
          }
        />
      </>
    );
  if (step !== "columns" || chosen === null)
    return (
      <>
        <Steps at="file" />
        <FileStep
          projectId={projectId}
          isGone={step === "columns"}
          chosen={chosen?.job === undefined ? chosen : null}
          onChoose={(file) => void choose(file)}
        />
        <RecentImports projectId={projectId} />
      </>
    );
  return (
    <>
      <Steps at="columns" />
      <ColumnsStep projectId={projectId} chosen={chosen} trial={trial} onChange={setChosen} />
    </>
  );
}

/** Returns the segment that the contacts of an import were added to, or null. */
function segmentIdOf({ options: { segment } }: ChosenFile): string | null {
  return segment !== null && "id" in segment ? segment.id : null;
}

interface NextStepsProps {
  projectId: string;
  segmentId: string | null;
  onOther: () => void;
}

function NextSteps({ projectId, segmentId, onOther }: NextStepsProps) {
  return (
    <div className="flex flex-wrap gap-2">
      <Link
        to="/$projectId/contacts/import"
        params={{ projectId }}
        search={{}}
        onClick={onOther}
        className={buttonClass("plain")}
      >
        {t("Import another file")}
      </Link>
      {segmentId !== null && (
        <Link
          to="/$projectId/segments/$segmentId"
          params={{ projectId, segmentId }}
          className={buttonClass("plain")}
        >
          {t("View segment")}
        </Link>
      )}
      <Link to="/$projectId/contacts" params={{ projectId }} search={{}} className={buttonClass("primary")}>
        {t("View contacts")}
      </Link>
    </div>
  );
}

function Steps({ at }: { at: Step }) {
  return (
    <ol className="mb-6 flex flex-wrap gap-x-6 gap-y-2 border-b border-line" aria-label={t("Steps")}>
      {STEPS.map(({ step, name }, place) => (
        <li
          key={step}
          aria-current={step === at ? "step" : undefined}
          className="-mb-px inline-flex h-9 items-center gap-2 border-b-2 border-transparent text-sm font-medium text-soft aria-[current=step]:border-accent aria-[current=step]:text-ink"
        >
          <span className="text-faint tabular-nums">{place + 1}</span> {name}
        </li>
      ))}
    </ol>
  );
}
