// A search field that waits for a pause in typing, so that not every letter causes a request.
import { Search } from "lucide-react";
import { useEffect, useState } from "react";
import { INPUT_CLASS } from "./field.tsx";

const TYPING_PAUSE_MS = 250;

interface SearchBoxProps {
  label: string;
  value: string;
  onSearch: (text: string) => void;
}

export function SearchBox({ label, value, onSearch }: SearchBoxProps) {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  useEffect(() => {
    if (typed === value) return undefined;
    const timer = setTimeout(() => onSearch(typed), TYPING_PAUSE_MS);
    return () => clearTimeout(timer);
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- only the text may trigger the search
  }, [typed, value]);
  return (
    <div className="relative w-full sm:max-w-72 in-[[role=dialog]]:max-w-none">
      <Search size={14} className="absolute top-2.25 left-2.5 text-faint" aria-hidden />
      <input
        type="search"
        aria-label={label}
        placeholder={label}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        className={`${INPUT_CLASS} pl-8`}
      />
    </div>
  );
}
