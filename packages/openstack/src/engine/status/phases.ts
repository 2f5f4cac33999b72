/** Phases of a control plane, in order (api-fields of `status.phase`). */
export const phases = [
  'Infrastructure',
  'Identity',
  'CoreServices',
  'Compute',
  'ExtendedServices',
  'Dashboards',
] as const;

/** A phase in which services come up. */
export type Phase = (typeof phases)[number];
