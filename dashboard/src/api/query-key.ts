// Derives query keys from the paths of endpoints. A shorter key matches all longer ones that begin with it.
import type { AnyAddress, AnyInput } from "./address.ts";

/** The part of a path that names the project. In keys the project comes first. */
const PROJECT = /\/projects?\/:projectId/;

/** Matches everything of a project, or of all projects. */
export function projectKey(projectId?: string): readonly unknown[] {
  return projectId === undefined ? ["project"] : ["project", projectId];
}

/** Matches every read of a path and of the paths below it. */
export function resourceKey({ path }: AnyAddress, { params, projectId }: AnyInput = {}): readonly unknown[] {
  const values = (params ?? {}) as Readonly<Record<string, unknown>>;
  const segments = path.replace(PROJECT, "").split("/").slice(1);
  return [
    ...(projectId === undefined ? [] : projectKey(projectId)),
    ...segments.map((segment) => (segment.startsWith(":") ? values[segment.slice(1)] : segment)),
  ];
}

/** Matches every read of an endpoint with the fields of this input, but not of the paths below it. */
export function endpointKey(address: AnyAddress, input: AnyInput = {}): readonly unknown[] {
  return [
    ...resourceKey(address, input),
    { ...(input.query as object | undefined), ...(input.body as object | undefined) },
  ];
}
