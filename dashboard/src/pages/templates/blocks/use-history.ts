// Undo and redo for the block editor.
import { useRef, useState } from "react";

/** Keystrokes within this time form one undo step. */
const ONE_STEP_MS = 800;
const STEPS = 100;

/**
 * Adds undo and redo to a value stored elsewhere.
 * @param isTyping returns whether a change may be merged into the previous step, as keystrokes are
 */
export function useHistory<Value>(
  value: Value,
  onChange: (value: Value) => void,
  isTyping: (before: Value, after: Value) => boolean,
) {
  const [past, setPast] = useState<Value[]>([]);
  const [future, setFuture] = useState<Value[]>([]);
  const typedAt = useRef(0);
  return {
    change: (next: Value) => {
      const now = performance.now();
      const isTyped = isTyping(value, next);
      if (!isTyped || past.length === 0 || now - typedAt.current > ONE_STEP_MS)
        setPast((old) => [...old, value].slice(-STEPS));
      typedAt.current = isTyped ? now : 0;
      setFuture([]);
      onChange(next);
    },
    undo:
      past.length === 0
        ? null
        : () => {
            typedAt.current = 0;
            setPast(past.slice(0, -1));
            setFuture([value, ...future]);
            onChange(past[past.length - 1]!);
          },
    redo:
      future.length === 0
        ? null
        : () => {
            typedAt.current = 0;
            setFuture(future.slice(1));
            setPast([...past, value]);
            onChange(future[0]!);
          },
  };
}
