import { Pod, Service } from '@openstack-operator/kube';
import { expect, test } from 'vitest';
import { isReady, readyCloud } from './cloud.ts';

test('Neutron finds the databases of OVN by addresses, which outlive their pods and are followed when they change', async () => {
  const { cloud } = await readyCloud();
  const pods = (name: string) =>
    cloud.list('Pod').filter(({ metadata }) => metadata.name.startsWith(`my-cloud-neutron-${name}-`));
  const addressOf = (name: string) =>
    ((cloud.get('Service', name)?.['spec'] ?? {}) as { clusterIP?: string }).clusterIP;
  const connections = () => {
    const [pod] = pods('server');
    const { volumes = [] } = (pod?.['spec'] ?? {}) as { volumes?: { configMap?: { name: string } }[] };
    const files = volumes.flatMap(({ configMap }) =>
      Object.values((cloud.get('ConfigMap', configMap?.name ?? '')?.['data'] ?? {}) as Record<string, string>),
    );
    return files.join('\n').match(/^ovn_[ns]b_connection = .*$/gm);
  };
  const expected = () => [
    `ovn_nb_connection = tcp:${addressOf('my-cloud-ovn-nb-db-0')}:6641`,
    `ovn_sb_connection = tcp:${addressOf('my-cloud-ovn-sb-db-0')}:6642`,
  ];
  expect(connections()).toEqual(expected());

  const agents = () => pods('metadata-agent').map(({ metadata }) => metadata.uid);
  const before = agents();
  await cloud.remove(Pod, 'my-cloud-ovn-sb-db-0');
  await cloud.ready();
  await cloud.until(() => pods('metadata-agent').every(isReady));
  expect(agents(), 'it connects again by itself').toEqual(before);

  await cloud.remove(Service, 'my-cloud-ovn-nb-db-0');
  await cloud.until(() => cloud.get('Service', 'my-cloud-ovn-nb-db-0') !== undefined);
  await cloud.until(() => JSON.stringify(connections()) === JSON.stringify(expected()));
  await cloud.ready();
});
