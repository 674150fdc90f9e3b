// The Postloft logo.
export function Mark({ size }: { size: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden>
      <rect width="32" height="32" rx="8" className="fill-accent-fill" />
      <path
        d="M7 15.5 16 8l9 7.5V23a1 1 0 0 1-1 1H8a1 1 0 0 1-1-1z M7.5 16 16 20.5 24.5 16"
        fill="none"
        stroke="#fff"
        strokeWidth="2"
        strokeLinejoin="round"
        strokeLinecap="round"
      />
    </svg>
  );
}
