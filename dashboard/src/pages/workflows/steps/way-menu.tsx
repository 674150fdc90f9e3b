// The label of a way out of a step, and the button that adds a step there.
import { ClipboardPaste, CornerUpLeft, Plus } from "lucide-react";
import type { CopiedSteps } from "@postloft/contract/workflows/paste.ts";
import { plural, t } from "../../../text/t.ts";
import { Menu, MenuItem, MenuLine } from "../../../ui/menu.tsx";
import type { Way } from "../canvas/plan.ts";
import { ADDABLE_TYPES, STEP_KINDS, stepName, type AddableType } from "./step-kinds.ts";

interface WayMenuProps {
  way: Way;
  /** The name of the step that the way leaves. */
  from: string;
  /** The label of its branch, or null. */
  name: string | null;
  onAdd: (type: AddableType) => void;
  /** The steps that can be pasted, or null. */
  copied: CopiedSteps | null;
  onPaste: () => void;
}

export function WayMenu({ way, from, name, onAdd, copied, onPaste }: WayMenuProps) {
  const { kind, isImplied, transitionId } = way;
  const types = ADDABLE_TYPES.filter((type) => type !== "EXIT" || transitionId === null);
  return (
    <span
      data-way={way.key}
      className="inline-flex items-center gap-1 rounded-full border border-line bg-surface p-0.5 text-xs text-soft"
    >
      {name !== null && (
        <span title={name} className="max-w-27 truncate pl-2 font-medium">
          {name}
        </span>
      )}
      {kind === "loop" && <CornerUpLeft size={13} className="mx-1" aria-label={t("Goes back")} />}
      {!isImplied && (
        <Menu
          label={
            name === null
              ? t("Add a step after {step}", { step: from })
              : t("Add a step after {step}, {branch}", { step: from, branch: name })
          }
          className="grid size-6.5 place-items-center rounded-full text-accent hover:bg-hover data-popup-open:bg-hover"
          button={<Plus size={14} aria-hidden />}
        >
          {types.map((type) => (
            <AddItem key={type} type={type} onAdd={onAdd} />
          ))}
          {copied !== null && <PasteItem copied={copied} onPaste={onPaste} />}
        </Menu>
      )}
      {isImplied && name === null && <span className="px-2 whitespace-nowrap">{t("Starts here")}</span>}
    </span>
  );
}

function AddItem({ type, onAdd }: { type: AddableType; onAdd: (type: AddableType) => void }) {
  const { icon: Icon, name, about } = STEP_KINDS[type];
  return (
    <MenuItem onSelect={() => onAdd(type)}>
      <Icon size={14} className="text-faint" aria-hidden />
      <span>{name}</span>
      <span className="ml-auto pl-4 text-xs text-faint">{about}</span>
    </MenuItem>
  );
}

function PasteItem({ copied: { steps }, onPaste }: { copied: CopiedSteps; onPaste: () => void }) {
  const [first] = steps;
  return (
    <>
      <MenuLine />
      <MenuItem onSelect={onPaste}>
        <ClipboardPaste size={14} className="text-faint" aria-hidden />
        <span className="max-w-72 truncate">
          {steps.length === 1 && first !== undefined
            ? t("Paste “{name}”", { name: stepName(first) })
            : plural(steps.length, "Paste {n} step", "Paste {n} steps")}
        </span>
      </MenuItem>
    </>
  );
}
