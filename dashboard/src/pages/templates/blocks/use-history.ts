// What was before, and what was taken back. Before it: block-editor.tsx.
import { useRef, useState } from "react";

/** Changes that come so soon after another are one step: a word, not its letters. */
const ONE_STEP_MS = 800;
const STEPS = 100;

/** Undo and redo of a value that is kept elsewhere. */
export function useHistory<Value>(value: Value, onChange: (value: Value) => void) {
  const [past, setPast] = useState<Value[]>([]);
  const [future, setFuture] = useState<Value[]>([]);
  const changedAt = useRef(0);
  return {
    change: (next: Value) => {
      const now = performance.now();
      if (past.length === 0 || now - changedAt.current > ONE_STEP_MS)
        setPast((old) => [...old, value].slice(-STEPS));
      changedAt.current = now;
      setFuture([]);
      onChange(next);
    },
    undo:
      past.length === 0
        ? null
        : () => {
            changedAt.current = 0;
            setPast(past.slice(0, -1));
            setFuture([value, ...future]);
            onChange(past[past.length - 1]!);
          },
    redo:
      future.length === 0
        ? null
        : () => {
            changedAt.current = 0;
            setFuture(future.slice(1));
            setPast([...past, value]);
            onChange(future[0]!);
          },
  };
}
