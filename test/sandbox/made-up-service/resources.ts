import type { Condition } from '@openstack-operator/kube';
import { bellCloud, often, tell, whole } from './bell-cloud.ts';

/** What a service has in Neutron and Nova, from its start to its end. */
const cloud = await bellCloud({ enabled: false }, { ...whole, deletionPolicy: 'Delete', chime: often });
const compute = 'http://my-cloud-nova-api.openstack.svc:8774/v2.1/flavors';
const network = 'http://my-cloud-neutron-server.openstack.svc:9696/v2.0';

type Shown = Readonly<Record<string, unknown>> & { readonly id: string };

async function shown(url: string, list: string): Promise<Shown | undefined> {
  const answer = JSON.parse(await cloud.ask('GET', url)) as Record<string, Shown[]>;
  return answer[list]?.find(({ name }) => String(name).startsWith('chime'));
}
const resources = async () => ({
  network: await shown(`${network}/networks`, 'networks'),
  subnet: await shown(`${network}/subnets`, 'subnets'),
  flavor: await shown(`${compute}/detail?is_public=None`, 'flavors'),
});
const up = await resources();
await cloud.changed({ chime: { networkMTU: 1300 } });
const changed = await resources();
await cloud.ask('PUT', `${network}/networks/${up.network?.id}`, { network: { mtu: 1500 } });
await cloud.ask('DELETE', `${compute}/${up.flavor?.id}`);
await cloud.audited();
const repaired = { ...(await resources()), events: cloud.events('RecordsRepaired') };

const condition = () => {
  const { conditions = [] } = (cloud.get('Chime', 'my-cloud-chime')?.['status'] ?? {}) as { conditions?: Condition[] };
  return conditions.find(({ type }) => type === 'ResourcesReady');
};
await cloud.patched({ chime: { ramMegabytes: 1024 } });
await cloud.until(() => condition()?.message.includes('cannot be changed') === true);
const refused = condition()?.message;
await cloud.ask('DELETE', `${compute}/${repaired.flavor?.id}`);
await cloud.ready();
const anew = (await resources()).flavor;
await cloud.changed({ chime: { enabled: false } });
tell({ up, changed, repaired, refused, anew, off: { ...(await resources()), events: cloud.events('Deregistered') } });
