// Tests the names of copies, the reasons that prevent deleting a template, and changes of its content.
import { expect, test } from "vitest";
import type { WholeTemplateRow } from "./queries.ts";
import { contentDiffers, copyNameOf, usageReasonOf } from "./rules.ts";

test.for([
  ["Welcome", "Welcome (copy)"],
  ["Welcome (copy)", "Welcome (copy) (copy)"],
  ["x".repeat(93), `${"x".repeat(93)} (copy)`],
  ["x".repeat(100), `${"x".repeat(93)} (copy)`],
  ["x\ufffd", "x\ufffd (copy)"],
  [`\ufffd${"x".repeat(99)}`, `\ufffd${"x".repeat(92)} (copy)`],
  [`${"x".repeat(92)} yyyyyyy`, `${"x".repeat(92)} (copy)`],
  [`${"x".repeat(92)}🦀${"y".repeat(6)}`, `${"x".repeat(92)} (copy)`],
] as const)("names a copy of %j %j", ([name, expected]) => {
  expect(copyNameOf(name)).toBe(expected);
  expect(copyNameOf(name).length).toBeLessThanOrEqual(100);
});

const campaign = (name: string) => ({ id: "c", name });
const step = (workflowName: string) => ({ workflowId: "w", workflowName, stepId: "s" });

test.for([
  [[], [], null],
  [["Spring"], [], 'The template is used by the campaign "Spring".'],
  [[], ["Hello", "Hello"], 'The template is used by the workflow "Hello".'],
  [["Spring", "Summer"], ["Hello"], 'The template is used by the campaign "Spring" and 2 more.'],
] as Array<[string[], string[], string | null]>)(
  "campaigns %j and workflows %j prevent deletion: %s",
  ([campaigns, workflows, reason]) => {
    const references = {
      campaigns: campaigns.map(campaign),
      workflowSteps: workflows.map(step),
      executions: [],
    };
    expect(usageReasonOf(references)).toEqual(reason === null ? null : { message: reason });
  },
);

test("executions that will still send a template prevent its deletion", () => {
  const executions = [{ ...step("Hello"), version: 2, count: 3 }];
  expect(usageReasonOf({ campaigns: [], workflowSteps: [], executions })).toMatchObject({
    message: expect.stringContaining('"Hello" no longer uses this template, but 3 of its running executions'),
  });
});

test.for([
  [{}, false],
  [{ subject: "Hello", body: "Text" }, false],
  [{ subject: "Hi" }, true],
  [{ body: "" }, true],
  [{ subject: "", body: "Text" }, true],
  [{ previewText: "More" }, true],
  [{ previewText: null }, false],
] as const)("whether the change %j gives a template other content: %s", ([change, expected]) => {
  const row = { subject: "Hello", previewText: null, body: "Text" } as WholeTemplateRow;
  expect(contentDiffers(row, change)).toBe(expected);
});
