// Names the emails that an execution skipped, with the reasons.
import { Link } from "@tanstack/react-router";
import { RECORDED_REASONS } from "@postloft/contract/recorded-reasons.ts";
import { plural, t } from "../../../text/t.ts";
import { Card } from "../../../ui/page.tsx";
import { skipReasonText, skipTextOf } from "../../emails/skip-reason-text.ts";
import { stepName } from "../steps/step-kinds.ts";
import type { Execution } from "./execution-status.ts";

type Run = Execution["steps"][number];

/** Returns the runs whose email was skipped by the step or later by the sender, without those whose email had been sent before. */
const skippedOf = ({ steps }: Execution): readonly Run[] =>
  steps.filter(({ type, status, output, email }) =>
    email === null
      ? type === "SEND_EMAIL" && status === "SKIPPED" && output?.["reason"] !== RECORDED_REASONS.alreadySent
      : email.status === "SKIPPED",
  );

const reasonOf = ({ output, email }: Run): string =>
  (email?.reason == null ? skipTextOf(output) : skipReasonText(email.reason)) || t("Unknown reason");

/** Shows nothing if no email was skipped. */
export function SkippedEmails({ projectId, execution }: { projectId: string; execution: Execution }) {
  const skipped = skippedOf(execution);
  if (skipped.length === 0) return null;
  const title = plural(skipped.length, "{n} email skipped", "{n} emails skipped");
  return (
    <section aria-label={title}>
      <h2 className="mb-2 text-base font-semibold">{title}</h2>
      <Card className="px-5 py-3 text-sm">
        <ul className="flex flex-col gap-1">
          {skipped.map((run) => (
            <li key={`${run.stepId} ${run.startedAt}`} className="wrap-anywhere">
              {run.email === null ? (
                <span className="font-medium">{stepName(run)}</span>
              ) : (
                <Link
                  to="/$projectId/emails/$emailId"
                  params={{ projectId, emailId: run.email.id }}
                  className="font-medium hover:underline"
                >
                  {stepName(run)}
                </Link>
              )}
              {": "}
              <span className="text-soft">{reasonOf(run)}</span>
            </li>
          ))}
        </ul>
      </Card>
    </section>
  );
}
