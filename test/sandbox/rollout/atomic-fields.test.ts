import { NetworkPolicy, Service } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import { identityOnly, readyCloud } from './cloud.ts';

test('what somebody adds to a selector or to a network policy is taken off again', async () => {
  const { cloud } = await readyCloud({ spec: identityOnly });
  const stated = (kind: string, name: string) => cloud.get(kind, name)?.['spec'];
  const [service, policy] = [stated('Service', 'my-cloud-mariadb'), stated('NetworkPolicy', 'my-cloud-mariadb')];
  await cloud.change(Service, 'my-cloud-mariadb', { spec: { selector: { foo: 'bar' } } });
  await cloud.until(() => !JSON.stringify(stated('Service', 'my-cloud-mariadb')).includes('foo'));
  const { ingress = [] } = policy as { ingress?: { ports?: object[] }[] };
  const wider = ingress.map((rule) => ({ ...rule, ports: [...(rule.ports ?? []), { port: 4444 }] }));
  await cloud.change(NetworkPolicy, 'my-cloud-mariadb', { spec: { ingress: wider } });
  await cloud.until(() => !JSON.stringify(stated('NetworkPolicy', 'my-cloud-mariadb')).includes('4444'));
  await cloud.change(NetworkPolicy, 'my-cloud-mariadb', { spec: { podSelector: { matchLabels: { foo: 'bar' } } } });
  await cloud.until(() => !JSON.stringify(stated('NetworkPolicy', 'my-cloud-mariadb')).includes('foo'));
  expect(stated('Service', 'my-cloud-mariadb')).toEqual(service);
  expect(stated('NetworkPolicy', 'my-cloud-mariadb')).toEqual(policy);
});
