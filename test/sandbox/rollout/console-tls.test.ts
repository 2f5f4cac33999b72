import { Secret, type StoredObject } from '@openstack-operator/kube';
import { OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, readyCloud } from './cloud.ts';
import { asUser, userImage } from './servers.ts';

const change = (cloud: Cloud, enabled: boolean | null) =>
  cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { tls: { enabled } } });
const rollAgents = (cloud: Cloud, roll: boolean) =>
  cloud.change(OpenStackControlPlane, 'my-cloud', {
    metadata: { annotations: { 'openstack.k8s.io/roll-node-agents': roll ? 'true' : null } },
  });
const told = (cloud: Cloud): unknown =>
  (cloud.get('Nova', 'my-cloud-nova')?.['spec'] as { tls?: object } | undefined)?.tls;
const pods = (cloud: Cloud, component: string) =>
  cloud.list('Pod').filter(({ metadata }) => metadata.name.startsWith(`my-cloud-nova-${component}-`));
const message = (cloud: Cloud) =>
  ((cloud.get('OpenStackControlPlane', 'my-cloud')?.['status'] ?? {}) as { message?: string }).message ?? '';

/** Text of the files that a pod is configured by. */
function configurationOf(cloud: Cloud, pod: StoredObject): string {
  const { volumes = [] } = (pod['spec'] ?? {}) as { volumes?: readonly { configMap?: { name: string } }[] };
  return JSON.stringify(volumes.map(({ configMap }) => configMap && cloud.get('ConfigMap', configMap.name)?.['data']));
}

/** Whether guests that are started on some node show their screens by TLS, and all proxies are able to. */
const isShown = (cloud: Cloud) =>
  pods(cloud, 'libvirt').some((pod) => configurationOf(cloud, pod).includes('vnc_tls = 1'));
const isAble = (cloud: Cloud) => {
  const proxies = pods(cloud, 'cell1-novncproxy');
  return proxies.length > 0 && proxies.every((pod) => configurationOf(cloud, pod).includes('vencrypt,none'));
};

const screen = 'RFB 003.008\n';
const refused = '19: ScreenClosedError: EOF occurred in violation of protocol (_ssl.c:2495)';

test('screens are shown to proxies alone once it is enabled and libvirt is replaced; to them before, meanwhile and afterwards', async () => {
  const { cloud } = await readyCloud({ images: [userImage] });
  const host = () => ((pods(cloud, 'libvirt')[0]?.['status'] ?? {}) as { hostIP?: string }).hostIP ?? '';
  const peek = (port: number) => asUser(cloud, 'peek', host(), String(port));
  await asUser(cloud, 'boot', 'first');
  expect(await asUser(cloud, 'console', 'first')).toBe(screen);
  expect(await peek(5900)).toBe('1: shown');

  const seen: unknown[] = [told(cloud)];
  const look = () => {
    if (JSON.stringify(seen.at(-1)) !== JSON.stringify(told(cloud))) seen.push(told(cloud));
    // At no time does a host ask for what a proxy cannot do.
    if (isShown(cloud)) expect(isAble(cloud)).toBe(true);
  };
  const until = (enabled: boolean) =>
    cloud.until(() => {
      look();
      const isTold = JSON.stringify(told(cloud)) === JSON.stringify({ enabled });
      return isTold && cloud.isReady('OpenStackControlPlane', 'my-cloud');
    }, 60);
  await rollAgents(cloud, true);
  await change(cloud, true);
  await cloud.until(() => isAble(cloud));
  expect(await asUser(cloud, 'console', 'first')).toBe(screen);
  await rollAgents(cloud, false);
  await until(true);
  expect(seen).toEqual([undefined, { enabled: false }, { enabled: true }]);
  // Guests live there: somebody says when.
  await cloud.clock.advance(120_000);
  expect(isShown(cloud)).toBe(false);
  expect(message(cloud)).toContain('roll-node-agents');
  await rollAgents(cloud, true);
  await cloud.until(() => isShown(cloud));
  await cloud.ready();
  await asUser(cloud, 'boot', 'second');
  expect(await asUser(cloud, 'console', 'first')).toBe(screen);
  expect(await asUser(cloud, 'console', 'second')).toBe(screen);
  expect(await peek(5900)).toBe('1: shown');
  expect(await peek(5901)).toBe(refused);

  // With another authority, all read theirs anew: guests that run as well.
  const uids = () =>
    ['libvirt', 'cell1-novncproxy'].flatMap((of) => pods(cloud, of).map(({ metadata }) => metadata.uid));
  const before = uids();
  await cloud.remove(Secret, 'my-cloud-nova-console-tls');
  await cloud.clock.advance(180_000);
  expect(uids()).toEqual(before);
  expect(await asUser(cloud, 'console', 'first')).toBe(screen);
  expect(await asUser(cloud, 'console', 'second')).toBe(screen);
  expect(await peek(5901)).toBe(refused);

  // Guests that were started by TLS go on so: proxies stay able to.
  await change(cloud, null);
  await until(false);
  await cloud.until(() => !isShown(cloud));
  await cloud.until(() => !JSON.stringify(cloud.get('Keystone', 'my-cloud-keystone')?.['spec']).includes('"tls"'), 60);
  await cloud.ready();
  await asUser(cloud, 'boot', 'third');
  for (const name of ['first', 'second', 'third']) expect(await asUser(cloud, 'console', name)).toBe(screen);
  expect(await peek(5901)).toBe(refused);
  expect(await peek(5902)).toBe('1: shown');
}, 600_000);

test('a new cloud shows screens to proxies alone from the beginning', async () => {
  const { cloud } = await readyCloud({ images: [userImage], spec: { tls: { enabled: true } } });
  expect(told(cloud)).toEqual({ enabled: true });
  await asUser(cloud, 'boot', 'first');
  expect(await asUser(cloud, 'console', 'first')).toBe(screen);
  const host = ((pods(cloud, 'libvirt')[0]?.['status'] ?? {}) as { hostIP?: string }).hostIP ?? '';
  expect(await asUser(cloud, 'peek', host, '5900')).toBe(refused);
});
