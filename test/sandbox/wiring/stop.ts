import { OpenStackControlPlane } from '@openstack-operator/openstack';
import type { Cloud } from '../rollout/cloud.ts';
import { runUntil } from './use.ts';

interface ContainerStatus {
  readonly name: string;
  readonly state?: { readonly terminated?: { readonly exitCode: number } };
}

/** Deletes the cloud; gives the process that did not hear that it was to stop, and had to be killed. */
export async function stop(cloud: Cloud): Promise<string | undefined> {
  const { sandbox } = cloud.rehearsal;
  const killed = new Set<string>();
  sandbox.api.store.subscribe('pods', ({ object }) => {
    if (object.metadata.deletionTimestamp === undefined) return;
    const { containerStatuses = [] } = (object['status'] ?? {}) as { containerStatuses?: ContainerStatus[] };
    const owner = object.metadata.ownerReferences?.[0]?.name ?? object.metadata.name;
    for (const { name, state } of containerStatuses)
      if (state?.terminated?.exitCode === 137) killed.add(`${owner} ${name}`);
  });
  const annotations = { 'openstack.k8s.io/delete-with-resources': 'true' };
  await cloud.change(OpenStackControlPlane, 'my-cloud', { metadata: { annotations } });
  await cloud.settle(sandbox.client().delete(OpenStackControlPlane, { namespace: 'openstack', name: 'my-cloud' }));
  const left = () => cloud.list('Pod').some(({ metadata }) => metadata.ownerReferences !== undefined);
  await runUntil(cloud, () => !left(), 15 * 60_000);
  if (left()) return 'stop: pods are left after 15 minutes';
  return killed.size === 0 ? undefined : `stop: killed after their grace period: ${[...killed].join(', ')}`;
}
