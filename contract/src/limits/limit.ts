// Defines a limit: a number, its unit and a sentence about it.

export interface Limit {
  readonly value: number;
  readonly unit: string;
  readonly meaning: string;
}

export function limit(value: number, unit: string, meaning: string): Limit {
  return { value, unit, meaning };
}

export const MEGABYTE = 1024 * 1024;
