// Shows advice as a list, or nothing if there is none.
export function AdviceList({
  sentences,
  className = "",
}: {
  sentences: readonly string[];
  className?: string;
}) {
  if (sentences.length === 0) return null;
  return (
    <ul className={`flex flex-col gap-2 ${className}`}>
      {sentences.map((text) => (
        <li key={text} className="rounded-md bg-warn-wash px-3.5 py-2.5 text-sm text-warn">
          {text}
        </li>
      ))}
    </ul>
  );
}
