// Defines an entry of the error catalog.

export interface ErrorEntry {
  readonly status: number;
  readonly message: string;
  readonly suggestion: string;
}

export function entry(status: number, message: string, suggestion: string): ErrorEntry {
  return { status, message, suggestion };
}
