// Lists the problems of a workflow, each with a link to its step. Intended ones can be confirmed.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CONFIRMABLE } from "./problem-text.ts";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { plural, t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Failure } from "../../ui/states.tsx";
import { PROBLEMS, WITH_DETAILS } from "./problem-text.ts";
import { stepName } from "./steps/step-kinds.ts";
import { invalidateWorkflows, type Problem, type Workflow } from "./workflow-queries.ts";

interface ProblemListProps {
  projectId: string;
  workflow: Workflow;
}

export function ProblemList({ projectId, workflow }: ProblemListProps) {
  const { problems } = workflow;
  const errors = problems.filter(({ severity }) => severity === "error").length;
  if (problems.length === 0) return null;
  return (
    <section
      aria-label={t("Problems")}
      className={`mb-5 rounded-md border border-line px-3.5 py-2.5 text-sm ${errors > 0 ? "bg-bad-wash" : "bg-warn-wash"}`}
    >
      <h2 className={`font-medium ${errors > 0 ? "text-bad" : "text-warn"}`}>
        {errors > 0
          ? plural(
              errors,
              "{n} problem to fix before you can enable it",
              "{n} problems to fix before you can enable it",
            )
          : plural(problems.length, "{n} thing to check", "{n} things to check")}
      </h2>
      <ul className="mt-1.5 flex flex-col gap-1.5">
        {problems.map((problem) => (
          <ProblemLine
            key={`${problem.code} ${problem.stepId ?? ""} ${problem.message}`}
            problem={problem}
            projectId={projectId}
            workflow={workflow}
          />
        ))}
      </ul>
    </section>
  );
}

function ProblemLine({ problem, projectId, workflow }: ProblemListProps & { problem: Problem }) {
  const { code, severity, stepId, message } = problem;
  const step = workflow.steps.find(({ id }) => id === stepId);
  return (
    <li className="flex flex-wrap items-baseline gap-x-2 gap-y-1">
      {severity === "error" && <span className="font-medium text-bad">{t("Error")}</span>}
      {step !== undefined && (
        <Link
          from="/$projectId/workflows/$workflowId"
          to="/$projectId/workflows/$workflowId"
          params={{ projectId, workflowId: workflow.id }}
          search={(old) => ({ ...(old.view === undefined ? {} : { view: old.view }), step: step.id })}
          className="font-medium underline"
        >
          {stepName(step)}
        </Link>
      )}
      <span className="wrap-anywhere">
        {PROBLEMS[code]} {WITH_DETAILS.has(code) && <span className="text-soft">{message}</span>}
      </span>
      {severity === "error" && CONFIRMABLE.has(code) && (
        <ConfirmButton projectId={projectId} workflow={workflow} code={code} />
      )}
    </li>
  );
}

type Confirmable = Workflow["confirmedProblems"][number];

function ConfirmButton({ projectId, workflow, code }: ProblemListProps & { code: Problem["code"] }) {
  const queries = useQueryClient();
  const confirming = useMutation({
    mutationFn: () =>
      call(api.workflows.update, {
        projectId,
        params: { id: workflow.id },
        body: { confirmedProblems: [...workflow.confirmedProblems, code as Confirmable] },
      }),
    onSettled: () => invalidateWorkflows(queries, projectId),
  });
  return (
    <>
      <Button look="plain" busy={confirming.isPending} onClick={() => confirming.mutate()}>
        {t("This is intended")}
      </Button>
      {confirming.isError && <Failure error={confirming.error} />}
    </>
  );
}
