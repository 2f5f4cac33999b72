import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { admin, externalNetwork, guestImage, larger, otherGuestImage, tiny } from '../fixture.ts';
import { prefix } from '../running-cloud.ts';
import type { Facts, Volumes } from './configuration.ts';

interface Entry {
  readonly region_name: string;
  readonly auth: { readonly auth_url: string; readonly password: string };
}

/** Asks the cloud what it has, and makes what tempest needs beside: images, flavors, the network outside. */
export async function facts(): Promise<Facts> {
  const { clouds } = parse(readFileSync(process.env['OS_CLIENT_CONFIG_FILE'] ?? '', 'utf8')) as {
    clouds: Record<string, Entry>;
  };
  const [entry] = Object.values(clouds);
  if (entry === undefined) throw new Error('clouds.yaml is empty');
  const networkId = await externalNetwork();
  await makeAutoAllocation(networkId);
  const [catalogue, extensions, network, schema, compute, ...made] = await Promise.all([
    admin.call<{ type: string }[]>('service_catalog'),
    admin.call<{ alias: string }[]>('network.extensions'),
    admin.call<{ name: string }>('network.get_network', networkId),
    admin.call<{ text: string }>('image.get', '/schemas/image'),
    admin.call<{ text: string }>('compute.get', '/'),
    guestImage(),
    otherGuestImage(),
    tiny(),
    larger(),
  ]);
  const { properties } = JSON.parse(schema.text) as { properties: { disk_format: { enum: (string | null)[] } } };
  const { version } = JSON.parse(compute.text) as { version: { version: string } };
  const [firstImage, otherImage, firstFlavor, otherFlavor] = made;
  const services = catalogue.map(({ type }) => type);
  return {
    authUrl: entry.auth.auth_url,
    password: entry.auth.password,
    region: entry.region_name,
    images: [firstImage, otherImage],
    flavors: [firstFlavor, otherFlavor],
    network: { id: networkId, name: network.name },
    extensions: extensions.map(({ alias }) => alias),
    diskFormats: properties.disk_format.enum.filter((format) => format !== null),
    computeMicroversion: version.version,
    services,
    ...(services.includes('block-storage') && { volumes: await volumes() }),
    ...(services.includes('object-store') && (await objects())),
  };
}

/** What Cinder says of itself, and a type for volumes of several servers. @throws Error when none of its backends has told the scheduler of a pool */
async function volumes(): Promise<Volumes> {
  const root = new URL('/v3/', await admin.call<string>('block_storage.get_endpoint')).href;
  const [said, stated, processes] = await Promise.all([
    admin.call<{ text: string }>('block_storage.get', root),
    admin.call<{ text: string }>('block_storage.get', '/scheduler-stats/get_pools?detail=True'),
    admin.call<{ binary: string }[]>('block_storage.services'),
  ]);
  const { versions } = JSON.parse(said.text) as { versions: { id: string; version: string }[] };
  const { pools } = JSON.parse(stated.text) as {
    pools: { capabilities: { storage_protocol: string; vendor_name: string } }[];
  };
  const version = versions.find(({ id }) => id === 'v3.0')?.version;
  const [pool] = pools;
  if (version === undefined) throw new Error(`Cinder says of no version 3 at ${root}: ${said.text}`);
  if (pool === undefined) throw new Error("Cinder's scheduler knows no pool: is a process of volumes up?");
  const type = `${prefix}multiattach`;
  await admin.call('block_storage.create_type', { name: type, extra_specs: { multiattach: '<is> True' } });
  return {
    microversion: version,
    typeOfSeveral: type,
    storageProtocol: pool.capabilities.storage_protocol,
    vendorName: pool.capabilities.vendor_name,
    hasBackup: processes.some(({ binary }) => binary === 'cinder-backup'),
  };
}

/** What Swift's proxies can, or Ceph's gateway in their place: that has a prefix before the version of the API. */
async function objects(): Promise<Pick<Facts, 'objectFeatures' | 'hasGateway'>> {
  const [base = ''] = (await admin.call<string>('object_store.get_endpoint')).split('/v1/');
  const { text } = await admin.call<{ text: string }>('object_store.get', `${base}/info`);
  return { objectFeatures: Object.keys(JSON.parse(text) as object), hasGateway: new URL(base).pathname !== '/' };
}

/** What Neutron makes a network of for a project that has none: where it leads, and its addresses. */
async function makeAutoAllocation(networkId: string): Promise<void> {
  const { name } = await admin.call<{ name: string }>('network.get_network', networkId);
  if (name.startsWith(prefix)) await admin.call('network.update_network', networkId, { is_default: true });
  const pools = await admin.call<{ ip_version: number }[]>('network.subnet_pools', { is_default: true });
  if (pools.some(({ ip_version: version }) => version === 4)) return;
  await admin.call('network.create_subnet_pool', {
    name: `${prefix}default`,
    prefixes: ['10.200.0.0/16'],
    default_prefix_length: 26,
    is_default: true,
    is_shared: true,
  });
}
