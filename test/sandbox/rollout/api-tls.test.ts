import { Pod, Secret } from '@openstack-operator/kube';
import { OpenStackControlPlane } from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, readyCloud } from './cloud.ts';
import { entitiesOf } from './keystone.ts';
import { asUser, userImage } from './servers.ts';

const authority = 'my-cloud-keystone-ca';

const change = (cloud: Cloud, tls: object | null) =>
  cloud.change(OpenStackControlPlane, 'my-cloud', { spec: { keystone: { tls } } });

/** The endpoints of the catalogue, by their URLs without paths. */
async function endpoints(cloud: Cloud): Promise<string[]> {
  const all = (await entitiesOf(cloud, 'endpoints')) as unknown as { interface: string; url: string }[];
  return all.flatMap(({ interface: of, url }) => (of === 'internal' ? [new URL(url).origin] : [])).sort();
}

const podOf = (cloud: Cloud, component: string) =>
  cloud.list('Pod').find(({ metadata }) => metadata.name.startsWith(`my-cloud-${component}-`))?.metadata.name ?? '';

/** What a container of a component prints for a command. */
async function run(cloud: Cloud, component: string, ...argv: string[]) {
  const name = podOf(cloud, component);
  return await cloud.settle(cloud.rehearsal.sandbox.pods.exec({ namespace: 'openstack', name }, argv));
}

/** Those of the minimal cloud; glance-api serves no TLS itself. */
const secure = [
  'http://my-cloud-glance-api.openstack.svc:9292',
  'https://my-cloud-keystone-api.openstack.svc:15000',
  'https://my-cloud-neutron-server.openstack.svc:19696',
  'https://my-cloud-nova-api.openstack.svc:18774',
  'https://my-cloud-placement-api.openstack.svc:18778',
];

const host = (service: string) => `my-cloud-${service}.openstack.svc`;

test('APIs and their clients use TLS once that is enabled, and do without when it is disabled again', async () => {
  const { cloud } = await readyCloud({ images: [userImage] });
  const plain = await endpoints(cloud);
  await change(cloud, { enabled: false });
  await cloud.ready();
  // Nothing is elsewhere yet, and all is there.
  expect(await endpoints(cloud)).toEqual(plain);
  await change(cloud, { enabled: true });
  await cloud.ready();
  expect(await endpoints(cloud)).toEqual(secure);
  await asUser(cloud, 'boot');

  await change(cloud, { enabled: false });
  await cloud.ready();
  expect(await endpoints(cloud)).toEqual(plain);
  await change(cloud, null);
  await cloud.ready();
  expect(await endpoints(cloud)).toEqual(plain);
  expect(cloud.get('Service', 'my-cloud-keystone-api')?.['spec']).toMatchObject({ ports: [{ port: 5000 }] });
});

test('another certificate, and another authority, are taken over while all goes on; whoever trusts another one is refused', async () => {
  const { cloud } = await readyCloud({ spec: { keystone: { tls: { enabled: true } } } });
  const url = `https://${host('placement-api')}:18778/`;
  const trusted = ['--cacert', '/etc/openstack/trust/identity/ca.crt'];
  const certificate = (name: string) =>
    ((cloud.get('Secret', name)?.['data'] ?? {}) as Record<string, string>)['tls.crt'] ?? '';
  const uids = () =>
    cloud
      .list('Pod')
      .filter((pod) => (pod['spec'] as { restartPolicy?: string }).restartPolicy === 'Always')
      .map(({ metadata }) => metadata.uid);
  const there = uids();
  const before = certificate('my-cloud-placement-tls');
  await cloud.remove(Secret, authority);
  await cloud.until(() => ![before, ''].includes(certificate('my-cloud-placement-tls')));
  // The kubelet looks at Secrets every minute or so.
  await cloud.clock.advance(120_000);
  expect(uids()).toEqual(there);
  expect(await run(cloud, 'nova-scheduler', 'curl', '-sS', ...trusted, url)).toMatchObject({ code: 0 });
  expect(await run(cloud, 'nova-scheduler', 'curl', '-sS', url)).toMatchObject({
    stderr: 'curl: (60) SSL certificate problem: unable to get local issuer certificate\n',
  });
  const other = `https://${host('placement-api').replace('.svc', '')}:18778/`;
  expect((await run(cloud, 'nova-scheduler', 'curl', '-sS', ...trusted, other)).stderr).toContain(
    '(60) SSL: no alternative',
  );
  await cloud.ready();

  const stranger = { 'ca.crt': certificate('my-cloud-nova-tls') };
  await cloud.change(Secret, authority, { data: stranger });
  await cloud.clock.advance(120_000);
  await cloud.remove(Pod, podOf(cloud, 'nova-compute'));
  await cloud.clock.advance(120_000);
  const logs = cloud.rehearsal.sandbox.pods.logs({ namespace: 'openstack', name: podOf(cloud, 'nova-compute') });
  expect(logs).toContain('[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: unable to get local issuer');
});
