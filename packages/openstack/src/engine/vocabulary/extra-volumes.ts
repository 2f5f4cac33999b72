import type { Component } from './component.ts';
import type { Service } from './service.ts';
import type { ComponentOverrides } from './surroundings.ts';

/**
 * What is wrong with the volumes that a user adds to a component. `path` is the component's field. What reaches the node or
 * the network is for kinds whose statement takes the verb `use-nodes`.
 */
export function extraVolumeProblems(
  path: string,
  overrides: ComponentOverrides | undefined,
  { service, component }: { readonly service: Pick<Service, 'usesNodes'>; readonly component: Component },
): string[] {
  const taken = ['/tmp', ...(component.mounts ?? []).map((mount) => mount.path)];
  const volumes = overrides?.extraVolumes ?? [];
  return volumes.flatMap(({ name, mountPath, nfs, hostPath }, index) => {
    const field = `${path}.extraVolumes[name=${name}]`;
    const source = nfs === undefined ? (hostPath === undefined ? undefined : 'hostPath') : 'nfs';
    return [
      ...(taken.includes(mountPath)
        ? [`${field}.mountPath: the operator mounts ${mountPath} itself; choose another`]
        : []),
      ...(volumes.slice(0, index).some((other) => other.mountPath === mountPath)
        ? [`${field}.mountPath: another of these volumes is mounted at ${mountPath}; choose another`]
        : []),
      ...(source !== undefined && service.usesNodes !== true
        ? [`${field}.${source}: this kind has no access to nodes; name a PersistentVolumeClaim instead`]
        : []),
    ];
  });
}
