// What somebody does with the lists of the dashboard, screen by screen.
import type { Page } from "playwright-core";

export interface Step {
  screen: string;
  what: string;
  act: (page: Page) => Promise<unknown>;
}

const press = (name: string) => (page: Page) =>
  page.getByRole("button", { name, exact: true }).first().click();
const scroll = async (page: Page) => {
  await page.mouse.wheel(0, 4_000);
  await press("Show more")(page);
};

/** The steps in the project with this id, in order. */
export function stepsOf(project: string): Step[] {
  const open = (path: string) => (page: Page) => page.goto(`/app/${project}/${path}`);
  const contactsWhere = (filter: object, order = "") =>
    open(`contacts?filter=${encodeURIComponent(JSON.stringify(filter))}${order}`);
  const screen = (name: string, steps: Array<[string, Step["act"]]>): Step[] =>
    steps.map(([what, act]) => ({ screen: name, what, act }));
  return [
    ...screen("contacts", [
      ["open", open("contacts")],
      ["filter", press("Unsubscribed")],
      ["everybody", press("All")],
      ["segment", (page) => page.getByLabel("Segment").selectOption({ index: 1 })],
      ["no segment", (page) => page.getByLabel("Segment").selectOption({ index: 0 })],
      ["search", (page) => page.getByLabel("Search by address").fill("ada")],
      ["no search", (page) => page.getByLabel("Search by address").fill("")],
      ["sort by address", press("Address")],
      ["the other way", press("Address")],
      ["scroll", scroll],
      ["scroll on", scroll],
    ]),
    ...screen("contacts by conditions", [
      ["open", contactsWhere(CONDITIONS)],
      ["sort by address", press("Address")],
      ["scroll", scroll],
      ["edit", press("Edit")],
      ["another value", (page) => page.getByRole("textbox", { name: "Value" }).fill("free")],
    ]),
    ...screen("contacts nobody fits", [
      ["open", contactsWhere(NOBODY)],
      ["by address", contactsWhere(NOBODY, "&sort=email")],
      ["edit", press("Edit")],
    ]),
    ...screen("segments", [
      ["open", open("segments")],
      ["one segment", (page) => page.getByRole("table").getByRole("link").first().click()],
    ]),
    ...screen("activity", [
      ["open", open("activity")],
      ["filter", press("Events")],
      ["other filter", press("Contacts")],
      ["everything", press("All")],
      ["scroll", scroll],
      ["scroll on", scroll],
    ]),
  ];
}

const CONDITIONS = {
  operator: "AND",
  conditions: [
    { field: "data.plan", operator: "equals", value: "pro" },
    { field: "event.signed_in", operator: "triggeredWithin", value: 30, unit: "days" },
  ],
};

/** No index tells: everybody is looked at. */
const NOBODY = {
  operator: "AND",
  conditions: [{ field: "data.plan", operator: "contains", value: "nobody has it" }],
};
