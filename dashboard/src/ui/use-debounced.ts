// A value that stands still: what follows it need not follow every letter.
import { useEffect, useState } from "react";

/** The value as it was when it last stood still for so long. */
export function useDebounced<Value>(value: Value, pauseMs: number): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), pauseMs);
    return () => clearTimeout(timer);
  }, [value, pauseMs]);
  return settled;
}
