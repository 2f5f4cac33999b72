import { PersistentVolumeClaim } from '@openstack-operator/kube';
import { bytesOf } from '@openstack-operator/openstack';
import type { ComposeContext } from './context.ts';

/** Bytes that a PersistentVolumeClaim beside the resource has (`Surroundings.claimBytes`). */
export function claimBytes(
  { cache, object }: Pick<ComposeContext, 'cache' | 'object'>,
  name: string,
): number | undefined {
  const { spec, status } = cache.get(PersistentVolumeClaim, { namespace: object.metadata.namespace ?? '', name }) ?? {};
  const sizes = [spec?.resources?.requests?.['storage'], status?.capacity?.['storage']];
  const bytes = sizes.flatMap((size) => (size === undefined ? [] : (bytesOf(size) ?? [])));
  return bytes.length === 0 ? undefined : Math.min(...bytes);
}
