import { describe, expect, test } from 'vitest';
import { controlPlane, createCloud, readyCloud } from './cloud.ts';
import { sharedCloud } from './shared-cloud.ts';

describe('the minimal cloud', () => {
  const shared = sharedCloud(() => readyCloud());

  test('reaches Ready through its phases in order', async () => {
    const cloud = await createCloud();
    await cloud.startOperator();
    const phases: string[] = [];
    cloud.rehearsal.sandbox.api.store.subscribe(undefined, ({ object }) => {
      const { phase } = (object['status'] ?? {}) as { phase?: string };
      if (object.kind === 'OpenStackControlPlane' && phase !== undefined && phases.at(-1) !== phase) phases.push(phase);
    });
    await cloud.settle(cloud.rehearsal.create(controlPlane()));
    await cloud.until(() => cloud.isReady('OpenStackControlPlane', 'my-cloud'));
    // What does not depend on each other comes up side by side, so that a phase may be over before it was the first.
    const order = ['Pending', 'Infrastructure', 'Identity', 'CoreServices', 'Compute', 'Ready'];
    expect(phases).toEqual(order.filter((phase) => phases.includes(phase)));
    expect(phases).toEqual(expect.arrayContaining(['Infrastructure', 'CoreServices', 'Compute', 'Ready']));
  });

  test('a Ready cloud writes nothing but leases: 5 minutes and a full resync', async () => {
    const { cloud, operator } = await shared();
    await cloud.clock.advance(60_000);
    const writes: string[] = [];
    operator.onWrite(({ method, path }) => {
      if (!path.includes('/leases/')) writes.push(`${method} ${path}`);
    });
    await cloud.clock.advance(300_000);
    operator.runtime.resync();
    await cloud.clock.advance(10_000);
    expect(writes).toEqual([]);
  });

  test('no generated value stands anywhere but in Secrets: objects, events, status, logs', async () => {
    const { cloud } = await shared();
    const secrets = cloud.list('Secret').filter(({ metadata }) => metadata.namespace === 'openstack');
    const values = secrets.flatMap((secret) =>
      Object.entries((secret['data'] ?? {}) as Record<string, string>)
        // Names of users are no secrets.
        .filter(([key]) => key !== 'username')
        .map(([key, value]) => ({
          where: `${secret.metadata.name}/${key}`,
          value: Buffer.from(value, 'base64').toString(),
        })),
    );
    const generated = values.filter(({ value }) => value.length >= 16 && !value.includes('\n'));
    expect(generated.length).toBeGreaterThan(10);
    const texts = cloud.rehearsal
      .objects()
      .filter(({ kind }) => kind !== 'Secret')
      .map((object) => ({ where: `${object.kind} ${object.metadata.name}`, text: JSON.stringify(object) }));
    for (const pod of cloud.list('Pod')) {
      const { containers = [], initContainers = [] } = pod['spec'] as {
        containers?: { name: string }[];
        initContainers?: { name: string }[];
      };
      for (const { name } of [...initContainers, ...containers]) {
        const log = cloud.rehearsal.sandbox.pods.logs(
          { namespace: pod.metadata.namespace ?? '', name: pod.metadata.name },
          { container: name },
        );
        texts.push({ where: `log of ${pod.metadata.name}/${name}`, text: log });
      }
    }
    const leaks = generated.flatMap(({ where, value }) =>
      texts
        .filter(({ text }) => text.includes(value) || text.includes(encodeURIComponent(value)))
        .map((text) => `${where} in ${text.where}`),
    );
    expect(leaks).toEqual([]);
  });

  // The last one of the cloud that is shared.
  test('deleted, leaves only volumes, their Secrets and what finds data again; created again, takes those up', async () => {
    const { cloud } = await shared();
    const client = cloud.rehearsal.sandbox.client();
    const kind = {
      group: 'openstack.k8s.io',
      version: 'v1alpha1',
      kind: 'OpenStackControlPlane',
      plural: 'openstackcontrolplanes',
      namespaced: true,
    };
    const secret = (name: string) => JSON.stringify(cloud.get('Secret', name)?.['data']);
    const before = {
      volume: cloud.get('PersistentVolumeClaim', 'data-my-cloud-mariadb-0')?.metadata.uid,
      root: secret('my-cloud-mariadb-root-password'),
    };
    await cloud.settle(client.delete(kind, { namespace: 'openstack', name: 'my-cloud' }));
    const left = () =>
      cloud.rehearsal
        .objects()
        .filter(
          ({ metadata, kind: of }) =>
            metadata.namespace === 'openstack' &&
            !['Event', 'ServiceAccount', 'ConfigMap', 'EndpointSlice'].includes(of),
        )
        .map((object) => object.kind);
    await cloud.clock.advance(120_000);
    expect(new Set(left())).toEqual(new Set(['PersistentVolumeClaim', 'Secret']));
    expect(
      cloud
        .list('ConfigMap')
        .filter(({ metadata }) => metadata.namespace === 'openstack')
        .map(({ metadata }) => metadata.name),
    ).toEqual(['kube-root-ca.crt', 'my-cloud-glance-lasting', 'my-cloud-nova-lasting']);
    expect(
      cloud
        .list('Node')
        .flatMap(({ metadata }) => Object.keys(metadata.labels ?? {}))
        .filter((label) => label.startsWith('openstack.k8s.io/')),
    ).toEqual([]);

    await cloud.settle(cloud.rehearsal.create(controlPlane()));
    await cloud.until(() => cloud.isReady('OpenStackControlPlane', 'my-cloud'));
    expect({
      volume: cloud.get('PersistentVolumeClaim', 'data-my-cloud-mariadb-0')?.metadata.uid,
      root: secret('my-cloud-mariadb-root-password'),
    }).toEqual(before);
  });
});
