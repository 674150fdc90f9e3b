// Operates a dashboard page with the keyboard only.
import type { Locator, Page } from "playwright-core";

/** More than the Tab stops between any two controls. */
const MOST_STEPS = 80;

/** Presses Tab, or an arrow key in a menu, until the target has focus. */
export async function reach(page: Page, target: Locator, key: "Tab" | "ArrowDown" = "Tab"): Promise<void> {
  await target.waitFor();
  for (let step = 0; step < MOST_STEPS; step++) {
    if (await target.evaluate((element) => element === element.ownerDocument.activeElement)) return;
    await page.keyboard.press(key);
  }
  throw new Error(`${key} does not reach ${target.toString()}`);
}

export async function press(page: Page, name: string, role: "button" | "link" = "button"): Promise<void> {
  await reach(page, page.getByRole(role, { name, exact: true }).first());
  await page.keyboard.press("Enter");
}

export async function type(page: Page, label: string, text: string): Promise<void> {
  await reach(page, page.getByRole("textbox", { name: label }));
  await page.keyboard.insertText(text);
}

/** Selects an option by typing its first letters. */
export async function choose(page: Page, label: string, letters: string): Promise<void> {
  await reach(page, page.getByLabel(label));
  await page.keyboard.type(letters);
}

/** Opens a page with its shortcut. */
export async function go(page: Page, letter: string, heading: string): Promise<void> {
  await page.keyboard.press("g");
  await page.keyboard.press(letter);
  await page.getByRole("heading", { level: 1, name: heading }).waitFor();
}

/** Reaches the toast with F6 and presses Undo. */
export async function undo(page: Page): Promise<void> {
  const button = page.getByRole("button", { name: "Undo" });
  await button.waitFor();
  await page.keyboard.press("F6");
  await reach(page, button);
  await page.keyboard.press("Enter");
}
