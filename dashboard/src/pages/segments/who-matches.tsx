// Who matches a condition now: how many, some of them, and for one contact each condition with what was found. Before it: segment-editor.tsx.
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Check, X } from "lucide-react";
import { useState } from "react";
import type { Filter, FilterCondition } from "@postloft/contract/filters.ts";
import { call, problemOf } from "../../api/call.ts";
import { explainSegment, previewSegment } from "../../api/endpoints.ts";
import { plural, t } from "../../text/t.ts";
import { Card } from "../../ui/page.tsx";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { useDebounced } from "../../ui/use-debounced.ts";
import { ContactChoice, type ChosenContact } from "../mail-editor/contact-choice.tsx";
import { isComplete } from "./condition-builder/tree.ts";
import { sentenceOf, type NameOf } from "./condition-builder/words.ts";

const TYPING_PAUSE_MS = 400;
const SAMPLES = 5;

interface WhoMatchesProps {
  projectId: string;
  filters: Filter;
  nameOf: NameOf;
}

export function WhoMatches({ projectId, filters, nameOf }: WhoMatchesProps) {
  const asked = useDebounced(isComplete(filters) ? JSON.stringify(filters) : "", TYPING_PAUSE_MS);
  const preview = useQuery({
    queryKey: ["project", projectId, "segment-preview", asked],
    queryFn: ({ signal }) =>
      call(previewSegment, { projectId, body: { filters: JSON.parse(asked) as Filter }, signal }),
    enabled: asked !== "",
    placeholderData: keepPreviousData,
    gcTime: 0,
  });
  return (
    <div className="flex flex-col gap-5">
      <Card className="p-5">
        <h2 className="text-sm text-soft">{t("Match now")}</h2>
        {asked === "" && <p className="mt-1">{t("Complete each condition to see who matches.")}</p>}
        {asked !== "" && preview.isPending && <Skeleton className="mt-2 h-20" />}
        {asked !== "" && preview.isError && (
          <p className="mt-1 text-sm text-bad">{problemOf(preview.error) ?? preview.error.message}</p>
        )}
        {asked !== "" && preview.data !== undefined && (
          <>
            <p className="mt-0.5 text-xl font-semibold tabular-nums" role="status">
              {plural(preview.data.count, "{n} contact", "{n} contacts")}
            </p>
            <ul className="mt-2 flex flex-col gap-1 text-sm text-soft">
              {preview.data.sample.slice(0, SAMPLES).map(({ id, email }) => (
                <li key={id} className="truncate">
                  <bdi>{email}</bdi>
                </li>
              ))}
            </ul>
          </>
        )}
      </Card>
      {asked !== "" && <Explanation projectId={projectId} asked={asked} nameOf={nameOf} />}
    </div>
  );
}

interface ExplanationProps {
  projectId: string;
  asked: string;
  nameOf: NameOf;
}
type Explained = FilterCondition & { matches: boolean; seen?: unknown };

function Explanation({ projectId, asked, nameOf }: ExplanationProps) {
  const [contact, setContact] = useState<ChosenContact | null>(null);
  const explained = useQuery({
    queryKey: ["project", projectId, "segment-explain", asked, contact?.id],
    queryFn: ({ signal }) =>
      call(explainSegment, {
        projectId,
        body: { filters: JSON.parse(asked) as Filter, contactId: contact?.id ?? "" },
        signal,
      }),
    enabled: contact !== null,
  });
  return (
    <Card className="p-5">
      <h2 className="font-medium">{t("Check a contact")}</h2>
      <p className="text-sm text-soft">{t("Why somebody is in it, or is not.")}</p>
      <div className="mt-2 -ml-3">
        <ContactChoice
          projectId={projectId}
          prompt={t("Choose a contact …")}
          chosen={contact}
          onChoose={setContact}
        />
      </div>
      {explained.isError && <Failure error={explained.error} />}
      {contact !== null && explained.data !== undefined && (
        <ul className="mt-2 flex flex-col gap-2 text-sm">
          {(explained.data.conditions as Explained[]).map((condition, at) => (
            <li key={at} className="flex gap-2">
              {condition.matches ? (
                <Check size={15} className="mt-0.5 shrink-0 text-good" aria-label={t("holds")} />
              ) : (
                <X size={15} className="mt-0.5 shrink-0 text-bad" aria-label={t("does not hold")} />
              )}
              <span className="min-w-0 wrap-anywhere">
                {sentenceOf(condition, nameOf)}
                <span className="block text-faint">
                  {t("Found: {value}", { value: seenText(condition.seen) })}
                </span>
              </span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

function seenText(seen: unknown): string {
  if (seen === null || seen === undefined) return t("nothing");
  return typeof seen === "string" ? seen : JSON.stringify(seen);
}
