// The canonical form of a filter, as types: what is stored, compiled and evaluated.
import type { FilterOperator, FilterUnit } from "./filter-fields.ts";

export type FilterScalar = string | number | boolean;

export interface FilterCondition {
  field: string;
  operator: FilterOperator;
  value?: FilterScalar | FilterScalar[];
  unit?: FilterUnit;
  /** Of `triggered`: within so many units. */
  window?: number;
}

/** The canonical form: what is stored, compiled and evaluated. A filter that was read is sound in every part. */
export interface Filter {
  operator: "AND" | "OR";
  conditions: Array<Filter | FilterCondition>;
}
