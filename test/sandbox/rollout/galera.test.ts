import { PersistentVolumeClaim, Pod } from '@openstack-operator/kube';
import { MariaDB, OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, identityOnly, readyCloud } from './cloud.ts';
import { login } from './keystone.ts';
import { sharedCloud } from './shared-cloud.ts';

const namespace = 'openstack';
const database = 'my-cloud-mariadb';
const pods = [0, 1, 2].map((ordinal) => `${database}-${ordinal}`);
const three = { ...identityOnly, mariadb: { replicas: 3 } };

const members = (cloud: Cloud) =>
  cloud.get('MariaDB', database)?.['status'] as { members?: { size?: number; primary?: string } };
const isWhole = (cloud: Cloud) => () =>
  pods.every((name) => cloud.isReady('Pod', name)) && cloud.isReady('MariaDB', database);

async function ask(cloud: Cloud, pod: string, sql: string): Promise<string> {
  const words = ['mariadb', '--defaults-extra-file=/run/mysqld/probe.cnf', '-BNe', sql];
  const { stdout, stderr } = await cloud.settle(cloud.rehearsal.sandbox.pods.exec({ namespace, name: pod }, words));
  return stdout || stderr;
}

async function sizes(cloud: Cloud): Promise<string[]> {
  const told: string[] = [];
  for (const pod of pods) told.push(await ask(cloud, pod, "SHOW STATUS LIKE 'wsrep_cluster_size'"));
  return told;
}

function kill(cloud: Cloud, names: readonly string[]): void {
  for (const name of names) cloud.rehearsal.sandbox.pods.kill({ namespace, name });
}

/** Passwords of the databases' users are in all members alike. */
async function hasKeystone(cloud: Cloud, pod: string): Promise<boolean> {
  return (await ask(cloud, pod, 'SHOW DATABASES')).includes('keystone');
}

const shared = sharedCloud(() => readyCloud({ spec: three }));

test('three servers form a cluster; clients go to one of them, and to another when that is lost', async () => {
  const { cloud } = await shared();
  expect(members(cloud).members).toEqual({ size: 3, primary: pods[0] });
  expect(await sizes(cloud)).toEqual(pods.map(() => 'wsrep_cluster_size\t3\n'));
  await cloud.remove(Pod, pods[0] ?? '');
  await cloud.until(() => members(cloud).members?.primary === pods[1]);
  await login(cloud);
  await cloud.until(isWhole(cloud));
  expect(members(cloud).members?.primary).toBe(pods[1]);
  expect(await hasKeystone(cloud, pods[0] ?? '')).toBe(true);
});

test('after a power cut the members begin again by themselves, with all data', async () => {
  const { cloud } = await shared();
  // The others go on without it, and know more.
  kill(cloud, [pods[0] ?? '']);
  await ask(cloud, pods[1] ?? '', 'CREATE DATABASE later');
  kill(cloud, pods);
  await cloud.clock.advance(10_000);
  await cloud.until(isWhole(cloud));
  for (const pod of pods) expect(await ask(cloud, pod, 'SHOW DATABASES')).toContain('later');
  await login(cloud);
});

test('two of three that are lost come back by themselves, and nobody writes meanwhile', async () => {
  const { cloud } = await shared();
  kill(cloud, pods.slice(1));
  await cloud.clock.advance(6000);
  await cloud.until(isWhole(cloud));
  await login(cloud);
});

test('a member whose volume is lost gets all data from the others', async () => {
  const { cloud } = await shared();
  const gone = pods[2] ?? '';
  const ran = await cloud.settle(
    cloud.rehearsal.sandbox.pods.exec({ namespace, name: gone }, ['rm', '-rf', '/var/lib/mysql/data']),
  );
  expect(ran).toMatchObject({ code: 0 });
  kill(cloud, [gone]);
  await cloud.clock.advance(10_000);
  await cloud.until(isWhole(cloud));
  expect(await hasKeystone(cloud, gone)).toBe(true);
});

test('a member whose claim is lost gets all data from the others; most of them are not replaced so', async () => {
  const { cloud } = await readyCloud({ spec: three });
  const lose = async (...lost: readonly string[]) => {
    for (const pod of lost) await cloud.remove(PersistentVolumeClaim, `data-${pod}`);
    for (const pod of lost) await cloud.remove(Pod, pod);
  };
  const [first = '', second = '', third = ''] = pods;
  await lose(third);
  await cloud.clock.advance(10_000);
  await cloud.until(isWhole(cloud));
  expect(await hasKeystone(cloud, third)).toBe(true);
  await lose(first);
  await cloud.clock.advance(10_000);
  await cloud.until(isWhole(cloud));
  await login(cloud);
  await lose(second, third);
  await cloud.until(() => cloud.condition(MariaDB, database)?.reason === 'VolumeLost', 5);
});

test('a disk that was cut off while it got its data never begins, and never loses to empty ones', async () => {
  const { cloud } = await shared();
  const [whole = '', ...others] = pods;
  const onDisk = (pod: string, script: string) =>
    cloud.settle(cloud.rehearsal.sandbox.pods.exec({ namespace, name: pod }, ['bash', '-ec', script]));
  for (const pod of others) await onDisk(pod, 'rm -rf /var/lib/mysql/data');
  await onDisk(whole, 'touch /var/lib/mysql/data/sst_in_progress');
  kill(cloud, pods);
  await cloud.clock.advance(60_000);
  expect(pods.some((pod) => cloud.isReady('Pod', pod))).toBe(false);
  const said = cloud.rehearsal.sandbox.pods.logs({ namespace, name: whole });
  expect(said).toContain(`nobody knows how far the data of ${whole} go`);
  // Whoever knows that its data are whole says so.
  await onDisk(whole, 'rm /var/lib/mysql/data/sst_in_progress');
  kill(cloud, pods);
  await cloud.clock.advance(10_000);
  await cloud.until(isWhole(cloud));
  for (const pod of pods) expect(await hasKeystone(cloud, pod)).toBe(true);
});

test('one server becomes three with its data, and never fewer again', async () => {
  const { cloud } = await readyCloud({ spec: identityOnly });
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { mariadb: { replicas: 3 } } });
  await cloud.until(() => members(cloud).members?.size === 3);
  await cloud.ready();
  await cloud.until(isWhole(cloud));
  for (const pod of pods) expect(await hasKeystone(cloud, pod)).toBe(true);
  await login(cloud);
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { mariadb: { replicas: 1 } } });
  await cloud.clock.advance(60_000);
  expect(cloud.condition(MariaDB, database)?.message).toContain(
    '1 is fewer than the 3 members that hold the databases',
  );
  expect(await sizes(cloud)).toEqual(pods.map(() => 'wsrep_cluster_size\t3\n'));
  // Clients are led to another member all the same.
  const { primary = '' } = members(cloud).members ?? {};
  await cloud.remove(Pod, primary);
  await cloud.until(() => members(cloud).members?.primary !== primary);
  await login(cloud);
});

test('a database that is made anew above the volumes of a cluster is that cluster, and no smaller one', async () => {
  const { cloud, operator } = await shared();
  await cloud.settle(operator.stop());
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { mariadb: { replicas: 1 } } });
  await cloud.startOperator();
  await cloud.clock.advance(5000);
  await cloud.remove(MariaDB, database);
  await cloud.clock.advance(60_000);
  expect(cloud.condition(MariaDB, database)?.message).toContain(
    '1 is fewer than the 3 members that hold the databases',
  );
  await cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { mariadb: { replicas: 3 } } });
  await cloud.until(isWhole(cloud));
  expect(members(cloud).members?.size).toBe(3);
  for (const pod of pods) expect(await hasKeystone(cloud, pod)).toBe(true);
});
