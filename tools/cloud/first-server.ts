import { setTimeout as sleep } from 'node:timers/promises';
import type { OpenStack } from './openstack.ts';
import { StepError, say } from './step.ts';

type Named = { readonly id: string; readonly name: string; readonly isNew?: boolean };
type Call = OpenStack['call'];
type Wanted = { readonly name: string } & Record<string, unknown>;

/** What a server needs of services other than Nova. */
interface Needs {
  readonly image: Named;
  readonly network: Named;
}

/**
 * What a user does first: an image, a flavour, a network with subnet and router, and a server. Each is made where it is
 * not there yet, for an earlier run may have been interrupted after any of them.
 * @returns the server's id
 * @throws StepError when it does not become ACTIVE
 */
export async function ensureServer(openstack: OpenStack, guest: string): Promise<string> {
  const { call } = openstack;
  const { image, network } = await ensureImageAndNetwork(openstack, guest);
  const flavor = await ensure(call, 'compute', '/flavors', { name: 'tiny', ram: 128, vcpus: 1, disk: 1 });
  const asked = performance.now();
  const server = await ensure(call, 'compute', '/servers', {
    name: 'first',
    imageRef: image.id,
    flavorRef: flavor.id,
    networks: [{ uuid: network.id }],
  });
  await active(call, server.id);
  const took = ((performance.now() - asked) / 1000).toFixed(1);
  say(`server first: ACTIVE${server.isNew === true ? ` ${took} s after it was asked for` : ''}`);
  return server.id;
}

/**
 * What a user of a cloud with block storage does next: a volume, attached to that server.
 * @throws StepError when it is not attached
 */
export async function ensureVolume({ call }: OpenStack, server: string): Promise<void> {
  const { id } = await ensure(call, 'block-storage', '/volumes', { name: 'first', size: 1 });
  const reaches = async (wanted: readonly string[]): Promise<string> => {
    const deadline = performance.now() + 120_000;
    for (;;) {
      const { volume } = (await call('block-storage', 'GET', `/volumes/${id}`)) as { volume: { status: string } };
      if (wanted.includes(volume.status)) return volume.status;
      if (volume.status.startsWith('error') || performance.now() > deadline)
        throw new StepError(
          `volume first is ${volume.status}, not ${wanted.join(' or ')}. Once the cause is gone, delete it in the shell of the cloud (openstack volume delete first); make cloud makes another.`,
        );
      await sleep(500);
    }
  };
  if ((await reaches(['available', 'in-use'])) === 'in-use') return;
  await call('compute', 'POST', `/servers/${server}/os-volume_attachments`, { volumeAttachment: { volumeId: id } });
  await reaches(['in-use']);
  say('volume first: attached to server first');
}

/** The part of it that Glance and Neutron do: it can be done while Nova still rolls out. @throws StepError */
export async function ensureImageAndNetwork({ call, upload }: OpenStack, guest: string): Promise<Needs> {
  const image = (await ensure(call, 'image', '/v2/images', {
    name: 'guest',
    disk_format: 'raw',
    container_format: 'bare',
    visibility: 'public',
  })) as Named & { status: string };
  if (image.status === 'queued') {
    await upload('image', `/v2/images/${image.id}/file`, guest);
    say('image guest: uploaded');
  }
  const network = await ensure(call, 'network', '/v2.0/networks', { name: 'first' });
  const subnet = await ensure(call, 'network', '/v2.0/subnets', {
    name: 'first',
    network_id: network.id,
    ip_version: 4,
    cidr: '10.20.0.0/24',
  });
  const router = await ensure(call, 'network', '/v2.0/routers', { name: 'first' });
  const attached = `/v2.0/ports?device_id=${router.id}&fixed_ips=subnet_id%3D${subnet.id}`;
  const { ports } = (await call('network', 'GET', attached)) as { ports: unknown[] };
  if (ports.length === 0) {
    await call('network', 'PUT', `/v2.0/routers/${router.id}/add_router_interface`, { subnet_id: subnet.id });
  }
  return { image, network };
}

/** What has this name, or else is made so. `path` ends with the plural of its kind, as all of OpenStack's do. */
async function ensure(call: Call, service: string, path: string, wanted: Wanted): Promise<Named> {
  const plural = path.slice(path.lastIndexOf('/') + 1);
  const kind = plural.slice(0, -1);
  const found = (await call(service, 'GET', `${path}?name=${wanted.name}`))[plural] as Named[];
  // Nova takes the name for a regular expression, and for flavours not at all.
  const there = found.find(({ name }) => name === wanted.name);
  if (there !== undefined) return there;
  // Glance alone has no envelope.
  const made = await call(service, 'POST', path, service === 'image' ? wanted : { [kind]: wanted });
  say(`${kind} ${wanted.name}: made`);
  return { ...((service === 'image' ? made : made[kind]) as Named), isNew: true };
}

/** Waits until the server is ACTIVE; starts one that was stopped, by its user or with its node. */
async function active(call: Call, id: string): Promise<void> {
  const look = async () =>
    (await call('compute', 'GET', `/servers/${id}`)) as {
      server: { status: string; fault?: { message: string } };
    };
  const deadline = performance.now() + 180_000;
  let { server } = await look();
  if (server.status === 'SHUTOFF') await call('compute', 'POST', `/servers/${id}/action`, { 'os-start': null });
  for (; server.status !== 'ACTIVE'; { server } = await look()) {
    if (server.status === 'ERROR') {
      throw new StepError(
        `server first is in ERROR: ${server.fault?.message ?? 'no fault told'}\nOnce the cause is gone, delete it in the shell of the cloud (openstack server delete first); make cloud makes another.`,
      );
    }
    if (performance.now() > deadline) {
      throw new StepError(`server first is still ${server.status} after 180 s; make cloud goes on waiting.`);
    }
    await sleep(500);
  }
}
