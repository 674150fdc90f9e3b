// Shows a value as formatted JSON.

export function Json({ value }: { value: unknown }) {
  return (
    <pre className="mt-1 font-mono text-xs leading-5 wrap-anywhere whitespace-pre-wrap">
      {JSON.stringify(value, null, 2)}
    </pre>
  );
}
