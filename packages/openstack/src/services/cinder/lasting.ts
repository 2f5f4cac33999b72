import type { Context } from '../../engine/vocabulary/context.ts';
import type { Job } from '../../engine/vocabulary/service.ts';
import { backendsOf } from '../backends.ts';
import type { Cinder } from './kind.ts';

const place = (name: string): string => `spec.backends[name=${name}]`;

/** What volumes are recorded under and where they lie, as Cinder writes it (`host@backend#pool`), and where backups do. */
export function lasting({ spec, name: host }: Context<Cinder>): Record<string, string> {
  const backends = backendsOf(spec).map(({ name, type, backendHost = host, cephPoolName: pool }) => [
    place(name),
    `${type} ${backendHost}@${name}${pool === undefined ? '' : `#${pool}`}`,
  ]);
  const { backup } = spec;
  const copies = backup && `${backup.type}${backup.type === 'ceph' ? ` ${backup.cephPoolName ?? 'backups'}` : ''}`;
  return { ...Object.fromEntries(backends), ...(copies === undefined ? {} : { 'spec.backup': copies }) };
}

/** Backends that were stated once, as their volumes are recorded: `host@backend`. */
function removedHosts({ spec, surroundings }: Context<Cinder>): string[] {
  const stated = new Set(backendsOf(spec).map(({ name }) => place(name)));
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

/** The Job that asks Cinder whether volumes lie on backends that are stated no more; it fails for as long as any do. */
export function removed(context: Context<Cinder>): readonly Job[] {
  const hosts = removedHosts(context);
  if (hosts.length === 0) return [];
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
      runs: [{ name: 'volume-count', command: ['openstack-operator', 'count-volumes', ...hosts] }],
    },
  ];
}
