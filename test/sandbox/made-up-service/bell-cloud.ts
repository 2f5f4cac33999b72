import { addServices } from './add-services.ts';

addServices(['bell.ts', 'bell'], ['chime.ts', 'chime'], ['echo.ts', 'echo']);

const { identityOnly, readyCloud } = await import('../rollout/cloud.ts');
const keystone = await import('../rollout/keystone.ts');
const { OpenStackControlPlane } = await import('@openstack-operator/openstack');

/** Database, broker, cache, Keystone and the service Bell, below a control plane; `more`: further fields of its spec. */
export async function bellCloud(bell: object, more: object = {}) {
  const { cloud } = await readyCloud({ spec: { ...identityOnly, rabbitmq: {}, ...more, bell } });
  const texts = (kind: string, name: string) => {
    const data = Object.entries((cloud.get(kind, name)?.['data'] ?? {}) as Record<string, string>);
    const text = (value: string) => (kind === 'Secret' ? Buffer.from(value, 'base64').toString() : value);
    return Object.fromEntries(data.map(([key, value]) => [key, text(value)]));
  };
  const patched = (spec: object) => cloud.change(OpenStackControlPlane, 'my-cloud', { spec });
  return {
    ...cloud,
    /** What Keystone has of a name. */
    entity: async (collection: string, name: string) =>
      (await keystone.entitiesOf(cloud, collection)).find((one) => one['name'] === name),
    login: (auth?: object) => keystone.login(cloud, auth),
    /** What Keystone answers to the administrator, or to whoever has the token. */
    call: async (method: string, path: string, { body, token }: { body?: object; token?: string } = {}) =>
      await keystone.call(cloud, token ?? (await keystone.login(cloud)), method, path, body),
    /** What another API answers to the administrator. */
    ask: async (method: string, url: string, body?: object) =>
      await keystone.request(cloud, await keystone.login(cloud), method, url, body),
    /** What a Secret holds. */
    secret: (name: string) => texts('Secret', name),
    /** The configuration that a Deployment mounts. */
    file(deployment: string, name: string) {
      const { template } = (cloud.get('Deployment', deployment)?.['spec'] ?? {}) as {
        template?: { spec: { volumes: { name: string; configMap?: { name: string } }[] } };
      };
      const volume = template?.spec.volumes.find((one) => one.name === 'config');
      return texts('ConfigMap', volume?.configMap?.name ?? '')[name];
    },
    /** Notes of the events of a reason. */
    events: (reason: string) =>
      cloud
        .list('Event')
        .map((event) => event as unknown as { reason?: string; message?: string })
        .flatMap((event) => (event.reason === reason ? [event.message] : [])),
    /** Changes the control plane. */
    patched,
    /** Changes the control plane, and waits until it is Ready again. */
    async changed(spec: object) {
      await patched(spec);
      await cloud.ready();
    },
    /** Lets each audit run once that runs every five minutes. */
    audited: () => cloud.clock.advance(7 * 60_000),
  };
}

/** Fields of a control plane that wants all services of this version. */
export const whole = { ovnNetwork: {}, glance: {}, placement: {}, neutron: {}, nova: {} };

/** The audit's schedule of a service in these tests: what is to be seen takes less time. */
export const often = { recordsAudit: { schedule: '*/5 * * * *' } };

/** Ends the process with what a scenario has seen, as JSON. */
export function tell(outcome: object): never {
  process.stdout.write(JSON.stringify(outcome));
  process.exit(0);
}
