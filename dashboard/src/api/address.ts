// Builds typed addresses of API endpoints: method, path and response envelope.
import type { Endpoint, Method } from "@postloft/contract/endpoint.ts";
import type { Address } from "./call.ts";

export function bare<E extends Endpoint>(method: Method, path: string): Address<E> {
  return { method, path, envelope: "bare" };
}

export function wrapped<E extends Endpoint>(method: Method, path: string): Address<E> {
  return { method, path, envelope: "wrapped" };
}

export function raw<E extends Endpoint>(method: Method, path: string): Address<E> {
  return { method, path, envelope: "raw" };
}
