import { createRehearsal } from '@openstack-operator/cli';
import { type Clock, noLog, realClock, realRandom } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import { startCluster, table } from './cluster.ts';

/** The simulated programs take the time of the real ones: ten times as fast, so that a cloud is up in seconds. */
const begun = realClock.now();
const tenfold: Clock = {
  now: () => begun + (realClock.now() - begun) * 10,
  monotonic: () => realClock.monotonic() * 10,
  after: (ms, callback) => realClock.after(ms / 10, callback),
  immediate: (callback) => realClock.immediate(callback),
};

test('the minimal cloud, from apply to Ready to deleted', { timeout: 120_000 }, async () => {
  const rehearsal = await createRehearsal({ clock: tenfold, random: realRandom, log: noLog });
  const cluster = await startCluster(rehearsal.sandbox);
  const operator = await rehearsal.startOperator();
  const kubectl = await cluster.kubectl('openstack');
  try {
    await kubectl`create namespace openstack`;
    await kubectl`apply -f config/samples/controlplane_minimal.yaml`;
    await kubectl`wait --for=condition=Ready openstackcontrolplane/my-cloud --timeout=90s`;
    await kubectl`wait --for=jsonpath={.status.phase}=Ready oscp/my-cloud --timeout=10s`;
    expect(table(await kubectl`get oscp`)).toEqual([
      'NAME | PHASE | READY | MESSAGE | AGE',
      'my-cloud | Ready | True | *',
    ]);
    const ready = '{range .items[*]}{.kind}={.status.conditions[?(@.type=="Ready")].status} {end}';
    expect((await kubectl`get openstack -o jsonpath=${ready}`).trim().split(' ')).toEqual(
      expect.arrayContaining(['Keystone=True', 'MariaDB=True', 'Nova=True', 'OpenStackControlPlane=True']),
    );
    expect(await kubectl`get pods --field-selector=status.phase=Pending -o name`).toBe('');
    expect(await kubectl`logs deployment/my-cloud-keystone-api --tail=1`).not.toBe('');
    expect(await kubectl`describe oscp my-cloud`).toMatch(/^ {4}Type: +Ready$/m);
    await kubectl`delete oscp my-cloud --timeout=60s`;
    await kubectl.run`wait --for=delete openstack --all --timeout=30s`;
    await kubectl.run`wait --for=delete pods,jobs --all --timeout=60s`;
    expect(await kubectl`get openstack,deployments,statefulsets,daemonsets,jobs,pods -o name`).toBe('');
  } finally {
    await operator.stop();
    await cluster.stop();
  }
});
