import type { Context } from '../../engine/vocabulary/context.ts';
import type { Job } from '../../engine/vocabulary/service.ts';
import { backendsOf, hostOf, lastingBackends, placeOf } from '../backends.ts';
import type { Cinder } from './kind.ts';

/** What volumes are recorded under and where they lie, as Cinder writes it (`host@backend#pool`), and where backups do. */
export function lasting(context: Context<Cinder>): Record<string, string> {
  const { backup } = context.spec;
  const copies = backup && `${backup.type}${backup.type === 'ceph' ? ` ${backup.cephPoolName ?? 'backups'}` : ''}`;
  return {
    ...lastingBackends(context, backendsOf(context.spec), ({ cephPoolName: pool }) => pool),
    ...Object.fromEntries(removedHosts(context).map((host) => [serviceOf(host), 'disabled'])),
    ...(copies === undefined ? {} : { 'spec.backup': copies }),
  };
}

/** How the memory has the service of a backend that was removed: no volume is placed there until it is stated again. */
const serviceOf = (host: string): string => `cinder-volume ${host}`;

/** Backends that are stated again: their services were disabled when they were removed. */
function returnedHosts(context: Context<Cinder>): string[] {
  const hosts = backendsOf(context.spec).map((backend) => `${hostOf(context, backend)}@${backend.name}`);
  return hosts.filter((host) => context.surroundings.lasting[serviceOf(host)] !== undefined).sort();
}

/** Backends that were stated once, as their volumes are recorded: `host@backend`. */
function removedHosts({ spec, surroundings }: Context<Cinder>): string[] {
  const stated = new Set(backendsOf(spec).map(({ name }) => placeOf(name)));
  return Object.entries(surroundings.lasting)
    .filter(([field]) => field.startsWith('spec.backends[') && !stated.has(field))
    .map(([, is]) => is.slice(is.indexOf(' ') + 1).replace(/#.*/, ''))
    .sort();
}

/** Their processes stay until none of their volumes is left. */
export function staying(context: Context<Cinder>): Record<string, readonly string[]> {
  return { [emptied]: removedHosts(context).map((host) => `volume-${host.slice(host.indexOf('@') + 1)}`) };
}

const emptied = 'RemovedBackendsEmpty';

/**
 * The Job that has no more volumes placed on backends that are stated no more, and asks Cinder whether any lie there: it fails
 * for as long as any do. Backends that are stated again get volumes again.
 */
export function removed(context: Context<Cinder>): readonly Job[] {
  const hosts = removedHosts(context);
  const returned = returnedHosts(context).flatMap((host) => ['--enable', host]);
  if (hosts.length === 0 && returned.length === 0) return [];
  const { name: username, secret } = context.user();
  return [
    {
      suffix: 'volume-count',
      step: emptied,
      image: 'operator',
      user: 'operator',
      config: 'none',
      env: {
        OS_AUTH_URL: context.identity.internalUrl,
        OS_USERNAME: username,
        OS_PASSWORD: { secret, key: 'password' },
        VOLUME_URL: `http://${context.host('api')}:8776/v3`,
      },
      runs: [
        {
          name: 'volume-count',
          command: ['openstack-operator', 'count-volumes', '--binary', 'cinder-volume', ...returned, ...hosts],
        },
      ],
    },
  ];
}
