import type { Component } from './component.ts';
import type { Service } from './service.ts';
import type { ComponentOverrides } from './surroundings.ts';

/** Volumes that a user adds to a component where something is mounted already. `path` is the component's field. */
export function takenMounts(
  path: string,
  overrides: ComponentOverrides | undefined,
  component: Pick<Component, 'mounts'>,
): string[] {
  const taken = ['/tmp', ...(component.mounts ?? []).map((mount) => mount.path)];
  const volumes = overrides?.extraVolumes ?? [];
  return volumes.flatMap(({ name, mountPath }, index) => {
    const field = `${path}.extraVolumes[name=${name}].mountPath`;
    return [
      ...(taken.includes(mountPath) ? [`${field}: the operator mounts ${mountPath} itself; choose another`] : []),
      ...(volumes.slice(0, index).some((other) => other.mountPath === mountPath)
        ? [`${field}: another of these volumes is mounted at ${mountPath}; choose another`]
        : []),
    ];
  });
}

/**
 * Volumes that a user adds and that reach the node or the network: these are for kinds whose statement takes the verb
 * `use-nodes`. `path` is the component's field.
 */
export function volumeMistakes(
  path: string,
  overrides: ComponentOverrides | undefined,
  { usesNodes }: Pick<Service, 'usesNodes'>,
): string[] {
  if (usesNodes === true) return [];
  return (overrides?.extraVolumes ?? []).flatMap(({ name, nfs, hostPath }) => {
    const source = nfs === undefined ? (hostPath === undefined ? undefined : 'hostPath') : 'nfs';
    if (source === undefined) return [];
    const field = `${path}.extraVolumes[name=${name}].${source}`;
    return [`${field}: this kind has no access to nodes; name a PersistentVolumeClaim instead`];
  });
}
