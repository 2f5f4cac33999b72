import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer, OpenStack } from './openstack.ts';
import { StepError, say } from './step.ts';

type Named = { readonly id: string; readonly name: string };

/** What a user does first: an image, a flavour, a network with subnet and router, and a server, each where it is not there yet. */
export async function ensureServer(openstack: OpenStack, guest: string): Promise<void> {
  const { call } = openstack;
  const image = await ensure(
    openstack,
    { service: 'image', path: '/v2/images', kind: 'image', name: 'guest' },
    async () => {
      const made = (await call('image', 'POST', '/v2/images', {
        name: 'guest',
        disk_format: 'raw',
        container_format: 'bare',
        visibility: 'public',
      })) as unknown as Named;
      await openstack.upload('image', `/v2/images/${made.id}/file`, guest);
      return made;
    },
  );
  const flavor = await ensure(
    openstack,
    { service: 'compute', path: '/flavors', kind: 'flavor', name: 'tiny' },
    async () =>
      unwrap(await call('compute', 'POST', '/flavors', { flavor: { name: 'tiny', ram: 128, vcpus: 1, disk: 1 } })),
  );
  const network = await ensure(openstack, neutron('network'), async () => {
    const made = unwrap(await call('network', 'POST', '/v2.0/networks', { network: { name: 'first' } }));
    const { subnet } = (await call('network', 'POST', '/v2.0/subnets', {
      subnet: { name: 'first', network_id: made.id, ip_version: 4, cidr: '10.20.0.0/24' },
    })) as { subnet: Named };
    const router = unwrap(await call('network', 'POST', '/v2.0/routers', { router: { name: 'first' } }));
    await call('network', 'PUT', `/v2.0/routers/${router.id}/add_router_interface`, { subnet_id: subnet.id });
    return made;
  });
  const asked = performance.now();
  const server = await ensure(
    openstack,
    { service: 'compute', path: '/servers', kind: 'server', name: 'first' },
    async () =>
      unwrap(
        await call('compute', 'POST', '/servers', {
          server: { name: 'first', imageRef: image.id, flavorRef: flavor.id, networks: [{ uuid: network.id }] },
        }),
      ),
  );
  await active(openstack, server.id);
  say(`server first: ACTIVE ${((performance.now() - asked) / 1000).toFixed(1)} s after it was asked for`);
}

function neutron(kind: string) {
  return { service: 'network', path: `/v2.0/${kind}s`, kind, name: 'first' };
}

async function ensure(
  { call }: OpenStack,
  what: { service: string; path: string; kind: string; name: string },
  make: () => Promise<Named>,
): Promise<Named> {
  const found = (await call(what.service, 'GET', `${what.path}?name=${what.name}`))[`${what.kind}s`] as Named[];
  const there = found.find(({ name }) => name === what.name);
  if (there !== undefined) return there;
  const made = await make();
  say(`${what.kind} ${what.name}: made`);
  return made;
}

function unwrap(answer: Answer): Named {
  return Object.values(answer)[0] as Named;
}

async function active({ call }: OpenStack, id: string): Promise<void> {
  const deadline = performance.now() + 180_000;
  for (;;) {
    const { server } = (await call('compute', 'GET', `/servers/${id}`)) as {
      server: { status: string; fault?: { message: string } };
    };
    if (server.status === 'ACTIVE') return;
    if (server.status === 'ERROR')
      throw new StepError(`server first is in ERROR: ${server.fault?.message ?? 'no fault told'}`);
    if (performance.now() > deadline) throw new StepError(`server first is still ${server.status} after 180 s`);
    await sleep(500);
  }
}
