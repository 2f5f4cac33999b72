import { expect, test } from 'vitest';
import { ofClouds, type Shape, setupCommands, smallest } from './configuration.ts';
import { identityFrom } from './keys.ts';
import { monitorServices, objects } from './objects.ts';

interface Container {
  readonly name: string;
  readonly command: readonly string[];
  readonly securityContext: object;
}

interface Made {
  readonly kind: string;
  readonly metadata: { readonly namespace: string; readonly name: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: {
    readonly selector?: Readonly<Record<string, string>>;
    readonly template?: {
      readonly metadata: { readonly labels: object; readonly annotations: object };
      readonly spec: {
        readonly initContainers?: Container[];
        readonly containers: Container[];
        readonly volumes: object[];
      };
    };
  };
}

const identity = identityFrom({});
const addresses = { a: '10.96.0.11', b: '10.96.0.12', c: '10.96.0.13' };
const large: Shape = { store: 'bluestore', monitors: 3, mds: true, rgw: true };

function made(shape: Shape, usersIn: string[] = []): Made[] {
  const monitors = shape.monitors === 3 ? addresses : { a: addresses.a };
  return objects({ identity, monitors, shape, image: 'localhost/ceph:1' }, usersIn) as Made[];
}

const podsOf = (all: readonly Made[]) =>
  all.flatMap(({ metadata: { name }, spec }) => (spec?.template === undefined ? [] : [{ name, ...spec.template }]));

test('containers: none is privileged, or writes into its image', () => {
  const containers = podsOf(made(large)).flatMap(({ spec }) => [...(spec.initContainers ?? []), ...spec.containers]);
  expect(containers.map(({ name }) => name)).toEqual(['mon', 'setup', 'mgr', 'osd', 'mds', 'rgw', 'mon', 'mon']);
  for (const { securityContext, command } of containers) {
    expect(securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(command[0]).toBe('dumb-init');
  }
});

test('the smallest is one pod whose data end with it', () => {
  const all = made(smallest);
  const [pod, ...others] = podsOf(all);
  expect(others).toEqual([]);
  expect(pod?.spec.containers.map(({ name }) => name)).toEqual(['mgr', 'osd']);
  expect(pod?.spec.volumes).toContainEqual({ name: 'data', emptyDir: {} });
  expect(all.filter(({ kind }) => kind === 'PersistentVolumeClaim')).toEqual([]);
});

test('clouds have a filesystem, too', () => {
  expect(podsOf(made(ofClouds))[0]?.spec.containers.map(({ name }) => name)).toEqual(['mgr', 'osd', 'mds']);
  expect(setupCommands(identity, ofClouds)).toContainEqual(
    expect.objectContaining({ prefix: 'fs new', fs_name: 'cephfs' }),
  );
});

test('a Service selects the pod of its monitor', () => {
  const labels = podsOf(made(large)).map(({ metadata }) => metadata.labels);
  const selected = (monitorServices(['a', 'b', 'c']) as Made[]).map(({ spec }) => spec?.selector);
  expect(labels).toEqual(selected);
});

test('another namespace gets what clients need, and nothing of the administrator', () => {
  const given = made(smallest, ['openstack']).filter(({ metadata }) => metadata.namespace === 'openstack');
  const names = given.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
  const users = ['glance', 'cinder', 'cinder-backup', 'nova', 'manila', 'swift'].map(
    (user) => `Secret ceph-client-${user}`,
  );
  expect(names).toEqual(['ConfigMap ceph', ...users, 'Secret ceph-keyrings']);
  expect(given[0]?.data).toEqual({
    fsid: identity.fsid,
    'ceph.conf': `[global]\nfsid = ${identity.fsid}\nmon_host = [v2:10.96.0.11:3300/0,v1:10.96.0.11:6789/0]\n`,
  });
  expect(Object.keys(given[2]?.data ?? {})).toEqual(['ceph.client.cinder.keyring']);
});

test('pods begin anew when what they mount changes', () => {
  const annotations = (shape: Shape) => podsOf(made(shape)).map(({ metadata }) => metadata.annotations);
  expect(annotations(smallest)).toEqual(annotations(smallest));
  expect(annotations(smallest)).not.toEqual(annotations({ ...smallest, store: 'bluestore' }));
});
