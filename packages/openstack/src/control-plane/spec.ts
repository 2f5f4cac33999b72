import type { IssuerRef } from '../api/issuer.ts';
import type { ServiceSpec } from '../engine/vocabulary/surroundings.ts';
import { children } from './children.ts';

/** The spec of a control plane, as far as its composition reads it. */
export interface ControlPlaneSpec extends ServiceSpec {
  readonly publicDomain?: string;
  readonly tls?: { readonly enabled?: boolean; readonly issuerRef?: IssuerRef; readonly duration?: string };
  readonly [field: string]: unknown;
}

/** Whether a control plane wants the child of a field. */
export function isEnabled(spec: Readonly<Record<string, unknown>>, field: string): boolean {
  const template = spec[field] as { enabled?: boolean } | null | undefined;
  return template?.enabled ?? (!isAbsent(spec, field) || !isOptional(field));
}

/** A file may have null, which an API server drops. */
export function isAbsent(spec: Readonly<Record<string, unknown>>, field: string): boolean {
  return spec[field] === undefined || spec[field] === null;
}

/** Whether a cloud that says nothing of a field is without its child. */
function isOptional(field: string): boolean {
  return children.some((child) => child.field === field && child.optional);
}

/** The template of a child. */
export function templateOf(spec: ControlPlaneSpec, field: string): ServiceSpec {
  return spec[field] ?? {};
}
