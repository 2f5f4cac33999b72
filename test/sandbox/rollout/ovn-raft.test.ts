import { Pod } from '@openstack-operator/kube';
import { OpenStackControlPlane, OVNNetwork } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, identityOnly, readyCloud } from './cloud.ts';
import { sharedCloud } from './shared-cloud.ts';

const namespace = 'openstack';
const network = 'my-cloud-ovn';
const members = { northboundDBReplicas: 3, southboundDBReplicas: 3 };
/** No more than OVN. */
const three = { ...identityOnly, ovnNetwork: members };
const podsOf = (side: 'nb' | 'sb') => [0, 1, 2].map((ordinal) => `${network}-${side}-db-${ordinal}`);
const all = [...podsOf('nb'), ...podsOf('sb')];
const [first = '', second = '', third = ''] = podsOf('nb');

const isWhole = (cloud: Cloud) => () =>
  all.every((name) => cloud.isReady('Pod', name)) && cloud.isReady('OVNNetwork', network);

async function inPod(cloud: Cloud, pod: string, script: string): Promise<string> {
  const words = ['bash', '-c', script];
  const { stdout, stderr } = await cloud.settle(cloud.rehearsal.sandbox.pods.exec({ namespace, name: pod }, words));
  return stdout || stderr;
}

function kill(cloud: Cloud, names: readonly string[]): void {
  for (const name of names) cloud.rehearsal.sandbox.pods.kill({ namespace, name });
}

const status = (cloud: Cloud, pod: string) =>
  inPod(cloud, pod, 'ovn-appctl -t /run/ovn/ovnnb_db.ctl cluster/status OVN_Northbound');

/** The pods at whose addresses servers of the cluster are, and how many of them. */
async function servers(cloud: Cloud, pod: string): Promise<string[]> {
  const lines = (await status(cloud, pod)).split('Servers:\n')[1]?.split('\n') ?? [];
  return lines.flatMap((line) => / at tcp:([^.]+)\./.exec(line)?.[1] ?? []).sort();
}

const nbctl = (cloud: Cloud, pod: string, words: string) =>
  inPod(cloud, pod, `ovn-nbctl --timeout=5 --no-leader-only --db=unix:/run/ovn/ovnnb_db.sock ${words}`);
const write = (cloud: Cloud, pod: string, name: string) =>
  nbctl(cloud, pod, `set nb_global . external_ids:${name}=yes`);
const read = (cloud: Cloud, pod: string) => nbctl(cloud, pod, 'get nb_global . external_ids');

const shared = sharedCloud(() => readyCloud({ spec: three }));

test('three members of each database form a cluster, and clients know all of them', async () => {
  const { cloud } = await readyCloud({ spec: { ovnNetwork: members } });
  expect(await servers(cloud, first)).toEqual(podsOf('nb'));
  const [neutron] = cloud.list('ConfigMap').flatMap((object) => {
    const { data = {} } = object as { data?: Record<string, string> };
    return Object.values(data).filter((text) => text.includes('ovn_nb_connection'));
  });
  expect(neutron).toMatch(/ovn_nb_connection = tcp:[\d.]+:6641,tcp:[\d.]+:6641,tcp:[\d.]+:6641/);
  // Open vSwitch does not get on with several names.
  for (const workload of ['DaemonSet my-cloud-ovn-ovs-settings', 'Deployment my-cloud-ovn-northd']) {
    const [kind = '', name = ''] = workload.split(' ');
    expect(JSON.stringify(cloud.get(kind, name))).toMatch(/tcp:[\d.]+:6642,tcp:[\d.]+:6642,tcp:[\d.]+:6642/);
  }
  expect(await nbctl(cloud, third, 'list Connection')).toContain('ptcp:6641:0.0.0.0');
  expect(cloud.get('OVNNetwork', network)?.['status']).toMatchObject({
    lasting: { northboundDBReplicas: 'a Raft cluster', southboundDBReplicas: 'a Raft cluster' },
    southboundDBEndpoint: podsOf('sb')
      .map((pod) => `tcp:${pod}.openstack.svc:6642`)
      .join(','),
  });
});

test('a member that is killed comes back, and the others go on without it', async () => {
  const { cloud } = await shared();
  await cloud.remove(Pod, first);
  await cloud.clock.advance(3000);
  expect(await write(cloud, second, 'meanwhile')).toBe('');
  await cloud.until(isWhole(cloud));
  expect(await read(cloud, first)).toContain('meanwhile');
  expect(await servers(cloud, first)).toEqual(podsOf('nb'));
});

test('two of three that are lost, and all at once, come back with their data', async () => {
  const { cloud } = await shared();
  await write(cloud, second, 'before');
  kill(cloud, [second, third]);
  await cloud.clock.advance(3000);
  await cloud.until(isWhole(cloud));
  kill(cloud, all);
  await cloud.clock.advance(5000);
  await cloud.until(isWhole(cloud));
  for (const pod of podsOf('nb')) expect(await read(cloud, pod)).toContain('before');
});

test.each([first, third])('%s, whose volume is lost, joins the others, who forget what it was', async (lost) => {
  const { cloud } = await shared();
  const kept = `kept${podsOf('nb').indexOf(lost)}`;
  await write(cloud, second, kept);
  const identity = (await status(cloud, lost)).slice(0, 4);
  await inPod(cloud, lost, 'rm -rf /var/lib/ovn/data');
  kill(cloud, [lost]);
  await cloud.clock.advance(10_000);
  await cloud.until(isWhole(cloud));
  expect(await read(cloud, lost)).toContain(kept);
  expect((await status(cloud, lost)).slice(0, 4)).not.toBe(identity);
  expect(await servers(cloud, lost)).toEqual(podsOf('nb'));
});

// The last one of the cloud that is shared: its database is away then.
test('a first member without data founds nothing while others may have them', async () => {
  const { cloud } = await shared();
  await write(cloud, second, 'kept');
  await inPod(cloud, first, 'rm -rf /var/lib/ovn/data');
  // Nobody starts for a while.
  for (const pod of podsOf('nb').slice(1)) await inPod(cloud, pod, 'mv /var/lib/ovn/data /var/lib/ovn/away');
  for (const pod of podsOf('nb').slice(1)) await inPod(cloud, pod, 'touch /var/lib/ovn/data');
  kill(cloud, podsOf('nb'));
  await cloud.clock.advance(30_000);
  const said = cloud.rehearsal.sandbox.pods.logs({ namespace, name: first });
  expect(said).toContain(`waits until ${second} ${third} tell whether they have the database`);
});

test('one member becomes three with its data, while it runs, and never fewer again', async () => {
  const { cloud } = await readyCloud({ spec: { ...identityOnly, ovnNetwork: {} } });
  await write(cloud, first, 'old');
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { ovnNetwork: members } });
  await cloud.until(isWhole(cloud));
  await cloud.ready();
  for (const pod of podsOf('nb')) expect(await read(cloud, pod)).toContain('old');
  expect(await servers(cloud, first)).toEqual(podsOf('nb'));
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { ovnNetwork: { northboundDBReplicas: 1 } } });
  await cloud.clock.advance(60_000);
  expect(cloud.condition(OVNNetwork, network)?.message).toContain(
    'spec.northboundDBReplicas: 1 is fewer than the 3 members that hold the database',
  );
  expect(await servers(cloud, first)).toEqual(podsOf('nb'));
  // Made anew above their volumes, it is what it was.
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { ovnNetwork: members } });
  await cloud.ready();
  await cloud.remove(OVNNetwork, network);
  await cloud.clock.advance(30_000);
  await cloud.until(isWhole(cloud));
  for (const pod of podsOf('nb')) expect(await read(cloud, pod)).toContain('old');
});
