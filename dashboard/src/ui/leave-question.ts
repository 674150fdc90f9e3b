// Asks before leaving unsaved changes, in a native modal dialog. It appears above every other dialog, and the browser moves the focus back
// afterwards.
import { t } from "../text/t.ts";
import { buttonClass } from "./button.tsx";

export interface Question {
  title: string;
  description: string;
}

const LEAVE = "leave";

const UNSAVED: Question = {
  title: t("Leave without saving?"),
  description: t("You will lose your changes."),
};

/** Resolves to whether the user wants to leave. A second attempt while the question is open waits for the same answer. */
export function confirmLeaving(question: Question = UNSAVED): Promise<boolean> {
  const dialog = document.querySelector<HTMLDialogElement>("dialog[data-question=leave]") ?? open(question);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  dialog.addEventListener("close", () => resolve(dialog.returnValue === LEAVE));
  return promise;
}

function open({ title, description }: Question): HTMLDialogElement {
  const dialog = document.createElement("dialog");
  dialog.className =
    "m-auto w-[min(26rem,calc(100vw-2rem))] rounded-lg bg-raised p-5 text-ink shadow-float backdrop:bg-veil";
  dialog.dataset["question"] = "leave";
  const heading = textElement("h2", title, "text-lg font-semibold tracking-tight");
  heading.id = "leave-question";
  dialog.setAttribute("aria-labelledby", heading.id);
  const stay = button(t("Stay on page"), "quiet", () => dialog.close());
  const leave = button(t("Leave page"), "danger", () => dialog.close(LEAVE));
  const buttons = document.createElement("div");
  buttons.className = "mt-5 flex justify-end gap-2";
  buttons.append(stay, leave);
  dialog.append(heading, textElement("p", description, "mt-1 text-soft"), buttons);
  window.addEventListener("keydown", keepKeys, { capture: true });
  dialog.addEventListener("close", () => {
    window.removeEventListener("keydown", keepKeys, { capture: true });
    dialog.remove();
  });
  document.body.append(dialog);
  dialog.showModal();
  stay.focus();
  return dialog;
}

/** Dialogs and shortcuts below listen on the document, and Escape must not close them too. */
function keepKeys(event: KeyboardEvent): void {
  event.stopPropagation();
}

function textElement(tag: "h2" | "p", text: string, className: string): HTMLElement {
  const element = document.createElement(tag);
  element.textContent = text;
  element.className = className;
  return element;
}

function button(label: string, look: "quiet" | "danger", onClick: () => void): HTMLButtonElement {
  const element = document.createElement("button");
  element.type = "button";
  element.textContent = label;
  element.className = buttonClass(look);
  element.addEventListener("click", onClick);
  return element;
}
