import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { composed, objectsOf, resource, surroundings } from '../../testing/compositions.ts';

const read = (name: string) =>
  readFileSync(new URL(`../../../../../config/samples/${name}.yaml`, import.meta.url), 'utf8');

/** Objects of a Nova with these fields, by kind and name. */
function objects(spec: object) {
  const nova = resource(read('nova'));
  const all = objectsOf(composed({ ...nova, spec: { ...nova.spec, ...spec } }, surroundings(read)));
  return new Map(
    all.map(({ object }) => [`${object.kind} ${object.metadata.name?.replace(/-[a-z0-5]{10}$/, '')}`, object]),
  );
}

interface PodSpec {
  readonly securityContext: object;
  readonly containers: readonly { readonly securityContext: object; readonly volumeMounts: readonly object[] }[];
  readonly volumes: readonly { readonly hostPath?: { readonly path: string } }[];
}
const podOf = (object: unknown) => (object as { spec: { template: { spec: PodSpec } } }).spec.template.spec;

test('it concerns nova-compute, and an sshd that may do nothing on its node but read and write disks', () => {
  const [before, after] = [objects({}), objects({ coldMigration: { enabled: true } })];
  const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
    (name) => JSON.stringify(before.get(name)) !== JSON.stringify(after.get(name)),
  );
  expect(changed.toSorted()).toEqual([
    'ConfigMap nova-compute-compute-config',
    'ConfigMap nova-ssh-config',
    'ConfigMap nova-ssh-start',
    'DaemonSet nova-compute-compute',
    'DaemonSet nova-ssh',
    'Secret nova-migration-ssh',
  ]);
  const pod = podOf(after.get('DaemonSet nova-ssh'));
  // Files of the Secret are read by a user who is not root.
  expect(pod.securityContext).toEqual({ runAsUser: 42_436, runAsGroup: 42_436, fsGroup: 42_436 });
  expect(pod.containers[0]?.securityContext).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    runAsUser: 42_436,
    capabilities: { drop: ['ALL'] },
  });
  expect(pod.volumes.flatMap(({ hostPath }) => (hostPath === undefined ? [] : [hostPath.path]))).toEqual([
    '/var/lib/nova',
  ]);
  // The private key with which hosts log in is nova-compute's alone.
  const [ssh, compute] = ['ssh', 'compute-compute'].map((name) => JSON.stringify(after.get(`DaemonSet nova-${name}`)));
  expect([ssh?.includes('"key":"id"'), compute?.includes('"key":"id"')]).toEqual([false, true]);
  expect(objects({ coldMigration: { enabled: false } })).toEqual(before);
});
