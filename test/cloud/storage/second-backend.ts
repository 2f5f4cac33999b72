import { onTestFinished } from 'vitest';
import { admin } from '../fixture.ts';
import { controlPlane, program } from '../kubernetes.ts';
import { until } from '../until.ts';
import { servicesAreUp } from './disks.ts';

/** A backend in the same Ceph. */
export const second = { name: 'second', type: 'ceph', cephPoolName: 'vms' };

/** The backends of the control plane, with another one or without. */
export async function backends(more: readonly object[]): Promise<void> {
  const { metadata, spec } = await controlPlane();
  const { cinder } = spec as { cinder: { backends: readonly { readonly name: string }[] } };
  const others = cinder.backends.filter(({ name }) => name !== second.name);
  const patch = JSON.stringify({ spec: { cinder: { backends: [...others, ...more] } } });
  const cloud = ['-n', metadata.namespace, 'openstackcontrolplane', metadata.name];
  await program('kubectl', 'patch', ...cloud, '--type', 'merge', '-p', patch);
}

interface Service {
  readonly host: string;
  readonly status: string;
  readonly state: string;
}

/** Waits until the service of the backend is so. */
export async function serviceIs(status: string): Promise<void> {
  const service = async () =>
    (await admin.call<Service[]>('block_storage.services')).find(({ host }) => host.endsWith('@second'));
  await until({
    what: `cinder-volume of the backend to be ${status}`,
    seconds: 180,
    probe: async () => {
      const found = await service();
      return (found?.status === status && (status === 'disabled' || found.state === 'up')) || undefined;
    },
    explain: async () => JSON.stringify(await service()),
  });
}

/** Takes the second backend away again when the test is over. */
export function goesWithTest(): void {
  onTestFinished(async () => {
    await backends([]);
    await servicesAreUp().catch(() => undefined);
  }, 300_000);
}

/** Adds the second backend, and waits for its process and its type. */
export async function addSecond(): Promise<void> {
  await backends([second]);
  await serviceIs('enabled');
  await until({
    what: 'the type of the backend',
    seconds: 180,
    probe: async () => (await admin.call('block_storage.find_type', second.name)) !== null || undefined,
  });
}
