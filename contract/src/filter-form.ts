// Types of the canonical form of a filter, which is stored, compiled and evaluated.
import type { FilterOperator, FilterUnit } from "./filter-fields.ts";

export type FilterScalar = string | number | boolean;

export interface FilterCondition {
  field: string;
  operator: FilterOperator;
  value?: FilterScalar | FilterScalar[];
  unit?: FilterUnit;
  /** Number of units, for `triggered`. */
  window?: number;
}

/** A parsed filter in canonical form, which is valid in every part. */
export interface Filter {
  operator: "AND" | "OR";
  conditions: Array<Filter | FilterCondition>;
}
