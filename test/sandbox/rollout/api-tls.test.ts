import { Pod, Secret } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import { type Cloud, readyCloud } from './cloud.ts';

const authority = 'my-cloud-keystone-ca';

const podOf = (cloud: Cloud, component: string) =>
  cloud.list('Pod').find(({ metadata }) => metadata.name.startsWith(`my-cloud-${component}-`))?.metadata.name ?? '';

/** What a container of a component prints for a command. */
async function run(cloud: Cloud, component: string, ...argv: string[]) {
  const name = podOf(cloud, component);
  return await cloud.settle(cloud.rehearsal.sandbox.pods.exec({ namespace: 'openstack', name }, argv));
}

const host = (service: string) => `my-cloud-${service}.openstack.svc`;

test('another certificate, and another authority, are taken over while all goes on; whoever trusts another one is refused', async () => {
  const { cloud } = await readyCloud({ spec: { keystone: { tls: { enabled: true } } } });
  const url = `https://${host('placement-api')}:18778/`;
  // That of a proxy.
  const images = `https://${host('glance-api')}:19292/`;
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
  expect(await run(cloud, 'nova-scheduler', 'curl', '-sS', ...trusted, images)).toMatchObject({ code: 0 });
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
