// Placeholders for content that is loading, empty or failed.
import type { ReactNode } from "react";
import { CallError, errorsWithoutInput, type FieldProblem } from "../api/call.ts";
import { t } from "../text/t.ts";
import { Button } from "./button.tsx";

export function Skeleton({ className }: { className: string }) {
  return <div aria-hidden className={`animate-pulse rounded-sm bg-press ${className}`} />;
}

/** An empty state that explains the page; no illustrations. */
export function Empty({
  title,
  children,
  action,
}: {
  title: string;
  children: ReactNode;
  action?: ReactNode;
}) {
  return (
    <div className="flex flex-col items-center px-6 py-16 text-center">
      <h2 className="text-base font-semibold">{title}</h2>
      <p className="mt-1 max-w-96 text-balance text-soft">{children}</p>
      {action !== undefined && <div className="mt-5 flex gap-2">{action}</div>}
    </div>
  );
}

interface FailureProps {
  error: unknown;
  /** Fields with inputs that show their own errors. Renders nothing if all errors belong to them. */
  atInputs?: readonly string[];
  onRetry?: () => void;
}

/** Shows an error, its reason and the request id in the server's log. */
export function Failure({ error, atInputs = [], onRetry }: FailureProps) {
  const said = error instanceof CallError ? error : null;
  const elsewhere = errorsWithoutInput(error, atInputs);
  if (said !== null && said.fields.length > 0 && elsewhere.length === 0) return null;
  return (
    <div role="alert" className="rounded-md border border-line bg-bad-wash px-3.5 py-2.5 text-sm">
      <p className="font-medium text-bad">{said?.message ?? t("Something went wrong on this page.")}</p>
      {said?.suggestion != null && <p className="mt-0.5 text-soft">{said.suggestion}</p>}
      <FieldProblems problems={elsewhere} />
      {(said?.requestId != null || onRetry !== undefined) && (
        <div className="mt-2 flex flex-wrap items-center gap-3">
          {onRetry !== undefined && <Button onClick={onRetry}>{t("Try again")}</Button>}
          {said?.requestId != null && (
            <span className="text-xs text-soft">
              {t("Request")} <code className="font-mono">{said.requestId}</code>
            </span>
          )}
        </div>
      )}
    </div>
  );
}

/** Lists field errors by the API's field names. */
export function FieldProblems({ problems }: { problems: readonly FieldProblem[] }) {
  return (
    <ul className="mt-1 flex flex-col gap-0.5 text-soft empty:hidden">
      {problems.map(({ field, message }) => (
        <li key={`${field} ${message}`} className="wrap-anywhere">
          <code className="font-mono text-[0.92em] text-ink">{field}</code> {message}
        </li>
      ))}
    </ul>
  );
}
