// Lists the decisions still missing before an import can start.
import { t } from "../../../text/t.ts";
import type { OpenQuestion } from "./open-questions.ts";

function textOf(question: OpenQuestion): string {
  switch (question.kind) {
    case "noEmail":
      return t("Choose the email column.");
    case "unusedStatus":
      return t("Use “{column}” as the subscription status, or confirm that it isn't one.", {
        column: question.column,
      });
    case "undecidedWord":
      return question.word === ""
        ? t("Choose what the values of “{column}” become.", { column: question.column })
        : t("Choose what “{value}” in “{column}” becomes.", {
            value: question.word,
            column: question.column,
          });
    case "dateOrder":
      return t("Choose the date order of “{column}”, or import it as text.", { column: question.column });
    case "noField":
      return t("Name the field for “{column}”.", { column: question.column });
    case "ownField":
      return t("Choose another name than “{field}”. Postloft fills in that field.", {
        field: question.field,
      });
    case "sameField":
      return t("Several columns become “{field}”. Rename one, or don't import it.", {
        field: question.field,
      });
    case "noSegmentName":
      return t("Name the segment.");
  }
}

const SHOWN = 5;

export function QuestionList({ questions }: { questions: readonly OpenQuestion[] }) {
  return (
    <div role="status" className="rounded-md bg-warn-wash px-3.5 py-2.5 text-sm empty:hidden">
      {questions.length > 0 && (
        <>
          <p className="font-medium">{t("Before you import")}</p>
          <ul className="mt-1 list-disc pl-5 wrap-anywhere">
            {questions.slice(0, SHOWN).map((question) => (
              <li key={JSON.stringify(question)}>{textOf(question)}</li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}
