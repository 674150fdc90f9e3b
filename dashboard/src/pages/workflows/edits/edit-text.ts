// Edits of a workflow in words.
import { plural, t } from "../../../text/t.ts";
import type { Edit } from "./edit-history.ts";

export function editText({ kind, name, count = 1 }: Edit): string {
  switch (kind) {
    case "add":
      return t("add “{name}”", { name });
    case "delete":
      return t("delete “{name}”", { name });
    case "edit":
      return t("edit “{name}”", { name });
    case "paste":
      return count === 1 ? t("paste “{name}”", { name }) : plural(count, "paste {n} step", "paste {n} steps");
    case "exits":
      return t("change exit conditions or goal");
  }
}
