// Onboarding steps of a project: an email from your own program, a domain, and a delivery test. One step is open at a time.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Check, ChevronDown } from "lucide-react";
import { useId, useState, type ReactNode } from "react";
import { configQuery, type Project } from "../../session/queries.ts";
import { t } from "../../text/t.ts";
import { Button, buttonClass } from "../../ui/button.tsx";
import { formatInstant } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import { Bar } from "../../ui/progress.tsx";
import { useSender } from "../domains/sender.tsx";
import { FirstProgram } from "../keys/first-program.tsx";
import { TestMail } from "./test-mail.tsx";
import type { FirstStep, useFirstStart } from "./use-first-start.ts";

const TITLES: Record<FirstStep, string> = {
  mail: t("Send your first email"),
  domain: t("Send from your own domain"),
  test: t("Send yourself a test email"),
};

interface FirstStartProps {
  project: Project;
  start: ReturnType<typeof useFirstStart>;
}

export function FirstStart({ project, start }: FirstStartProps) {
  const { order, done, current, isOver, skip, hide } = start;
  /** The step that the user opened, or `none` if they closed it. */
  const [chosen, setChosen] = useState<FirstStep | "none" | null>(null);
  const [shown, setShown] = useState(current);
  // A step that was just done stays open, because its result appears in it.
  if (shown !== current) {
    setShown(current);
    if (chosen === null && done[shown]) setChosen(shown);
  }
  const open = chosen ?? current;
  const toggle = (step: FirstStep) => setChosen(open === step ? "none" : step === current ? null : step);
  const firstMailAt = start.state.data?.firstMailAt ?? null;
  const came = firstMailAt === null ? "" : t("Sent {when}", { when: formatInstant(firstMailAt) });
  const count = 1 + order.filter((step) => done[step]).length;
  const all = 1 + order.length;
  const contents: Record<FirstStep, ReactNode> = {
    mail: <FirstMail project={project} came={came} />,
    domain: <OwnDomain project={project} isDone={done.domain} />,
    test: <TestOfWay project={project} />,
  };
  return (
    <Card>
      <header className="flex flex-wrap items-center gap-x-5 gap-y-2 border-b border-line px-5 py-4">
        <div className="min-w-48 flex-1" aria-live="polite">
          <h2 className="font-semibold">{t("Getting started")}</h2>
          <p className="text-sm text-soft">
            {isOver ? t("You're all set.") : t("{done} of {all} done", { done: count, all })}
          </p>
        </div>
        <div className="w-32 max-sm:hidden">
          <Bar label={t("Getting started")} share={count / all} />
        </div>
        <Button look="quiet" onClick={hide}>
          {isOver ? t("Close") : t("Hide")}
        </Button>
      </header>
      <ol className="divide-y divide-line">
        <li className="flex items-center gap-3 px-5 py-3">
          <Mark isDone />
          <span className="text-faint">{t("Create your account and project")}</span>
        </li>
        {order.map((step) => (
          <Step
            key={step}
            title={TITLES[step]}
            isDone={done[step]}
            isOpen={open === step}
            detail={step === "mail" ? came : ""}
            onToggle={() => toggle(step)}
            next={
              step !== current && chosen === step && done[step]
                ? { label: t("Continue"), run: () => setChosen(null) }
                : step === current && !done[step]
                  ? { label: t("Skip step"), run: () => skip(step) }
                  : null
            }
          >
            {contents[step]}
          </Step>
        ))}
      </ol>
    </Card>
  );
}

interface StepProps {
  title: string;
  isDone: boolean;
  isOpen: boolean;
  /** Text next to the title of a closed step. */
  detail: string;
  onToggle: () => void;
  /** Leads to the next step. */
  next: { label: string; run: () => void } | null;
  children: ReactNode;
}

function Step({ title, isDone, isOpen, detail, onToggle, next, children }: StepProps) {
  const id = useId();
  return (
    <li>
      <h3>
        <button
          type="button"
          aria-expanded={isOpen}
          aria-controls={id}
          onClick={onToggle}
          className="flex w-full items-center gap-3 px-5 py-3 text-left transition-colors hover:bg-hover"
        >
          <Mark isDone={isDone} />
          <span className={`flex-1 ${isDone ? "text-faint" : "font-medium"}`}>{title}</span>
          {!isOpen && <span className="text-sm text-faint max-sm:hidden">{detail}</span>}
          <ChevronDown
            size={15}
            aria-hidden
            className={`text-faint transition-transform ${isOpen ? "rotate-180" : ""}`}
          />
        </button>
      </h3>
      <div id={id} hidden={!isOpen} className="min-w-0 px-5 pb-5 sm:pl-12.5">
        {isOpen && children}
        {isOpen && next !== null && (
          <Button look="quiet" className="mt-3 -ml-3" onClick={next.run}>
            {next.label}
          </Button>
        )}
      </div>
    </li>
  );
}

function Mark({ isDone }: { isDone: boolean }) {
  return (
    <span
      className={`grid size-4.5 shrink-0 place-items-center rounded-full border ${isDone ? "border-transparent bg-good-wash text-good" : "border-line-strong"}`}
    >
      {isDone && <Check size={11} strokeWidth={3} aria-label={t("done")} />}
    </span>
  );
}

function FirstMail({ project, came }: { project: Project; came: string }) {
  const provider = useQuery(configQuery).data?.features.email.provider;
  return (
    <>
      <p className="text-sm text-soft">
        {project.secret === null
          ? t("Run this in your terminal with a scoped key. You can create one under API keys.")
          : t("Run this in your terminal. Copying includes your secret key.")}
      </p>
      <FirstProgram project={project} />
      <div className="mt-4 flex flex-wrap items-center gap-x-4 gap-y-2">
        <p role="status" className="flex items-center gap-2 text-sm">
          <span
            className={`size-2 shrink-0 rounded-full ${came === "" ? "bg-accent-fill motion-safe:animate-pulse" : "bg-good"}`}
            aria-hidden
          />
          {came || t("Waiting for your first email…")}
        </p>
        {came !== "" && (
          <Link
            to="/$projectId/emails"
            params={{ projectId: project.id }}
            search={{}}
            className="text-sm text-accent hover:underline"
          >
            {t("View emails")}
          </Link>
        )}
        {provider === "mailbox" && (
          <a href="/mailbox" className="text-sm text-accent hover:underline">
            {t("Open the mailbox")}
          </a>
        )}
      </div>
    </>
  );
}

function OwnDomain({ project, isDone }: { project: Project; isDone: boolean }) {
  const provider = useQuery(configQuery).data?.features.email.provider;
  const { domains } = useSender(project);
  const waiting = domains.data?.find(({ records, verified }) => records.length > 0 && !verified);
  return (
    <>
      <p className="max-w-prose text-sm wrap-anywhere text-soft">
        {waiting !== undefined && !isDone
          ? provider === "mailbox"
            ? t("{domain} hasn't been checked yet.", { domain: waiting.domain })
            : t("Waiting for the DNS records of {domain}.", { domain: waiting.domain })
          : t("To send from your own domain, add a few DNS records.")}{" "}
        {provider === "mailbox" && (
          <>
            {t("While emails stay on this machine, you can also send from:")}{" "}
            <code className="font-mono text-xs">sandbox.localhost</code>
          </>
        )}
      </p>
      <Link
        to="/$projectId/domains"
        params={{ projectId: project.id }}
        className={buttonClass("plain", "mt-3 mr-3")}
      >
        {waiting !== undefined || isDone ? t("View domains") : t("Add domain")}
      </Link>
    </>
  );
}

function TestOfWay({ project }: { project: Project }) {
  return (
    <>
      <p className="text-sm text-soft">{t("Send yourself an email to check that delivery works.")}</p>
      <TestMail project={project} />
    </>
  );
}
