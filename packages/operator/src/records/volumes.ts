import { parseArgs } from 'node:util';
import { sleep } from '@openstack-operator/kube';
import { type JsonApi, jsonApi, patient } from './http.ts';
import { login } from './identity-login.ts';
import type { RecordsWorld } from './run.ts';

/** Volumes that are asked for at once: what `osapi_max_limit` allows by default. */
const pageSize = 1000;

/** Seconds for which an API that is just starting is waited for. */
const patience = 60;

/** Exit code of `count-volumes` when there are volumes. */
export const volumesExist = 3;

/** Seconds after which a scheduler that had chosen a backend before its service was disabled has written that down. */
const settling = 10;

/** Why a service is disabled: only what says so is enabled again. */
const reason = 'openstack-operator: the backend is not in spec.backends';

/**
 * `openstack-operator count-volumes --binary NAME [--enable HOST]... HOST...`: has no more volumes placed on backends, each
 * as `host@backend`, and asks Cinder whether volumes of any project are recorded under them. The services (of that program) of
 * those behind `--enable` are enabled again, where this command has disabled them. Takes OS_AUTH_URL, OS_USERNAME,
 * OS_PASSWORD (of a user with role admin on project `service`) and VOLUME_URL from the environment.
 * @returns the exit code: 0 there is none, 3 there are some (`volumes: 3 of cinder@fast`), 1 nobody can tell, 2 wrong arguments
 */
export async function runCountVolumes(
  args: readonly string[],
  world: Omit<RecordsWorld, 'read' | 'writeMessage'> & { readonly env: Readonly<Record<string, string | undefined>> },
): Promise<number> {
  const { env, print } = world;
  const [url, username, password, volumes] = ['OS_AUTH_URL', 'OS_USERNAME', 'OS_PASSWORD', 'VOLUME_URL'].map(
    (name) => env[name] ?? '',
  ) as [string, string, string, string];
  const { enabled, binary, hosts } = argumentsOf(args);
  const isNobody = hosts.length === 0 && enabled.length === 0;
  if (isNobody || binary === '' || [url, username, password, volumes].includes('')) {
    print(
      'usage: OS_AUTH_URL=... OS_USERNAME=... OS_PASSWORD=... VOLUME_URL=... openstack-operator count-volumes --binary NAME [--enable HOST]... HOST...',
    );
    return 2;
  }
  try {
    const http = patient(world.http, world.clock, patience, world.signal);
    const who = { username, password, project: 'service', userDomain: 'Default', projectDomain: 'Default' };
    const api = jsonApi(http, volumes, { 'x-auth-token': await login(http, url, who) });
    await place(api, { binary, enabled, disabled: hosts });
    if (hosts.length > 0) await sleep(world.clock, settling * 1000, world.signal);
    const found: string[] = [];
    for (const host of hosts) {
      const query = `all_tenants=1&limit=${pageSize}&host=${encodeURIComponent(host)}`;
      const answer = (await api.call('GET', `/volumes?${query}`)) as { volumes?: unknown[] } | undefined;
      if (!Array.isArray(answer?.volumes)) throw new Error(`GET ${volumes}/volumes: the answer holds no volumes`);
      const { length } = answer.volumes;
      if (length > 0) found.push(`${length < pageSize ? '' : 'at least '}${length} of ${host}`);
    }
    print(`volumes: ${found.length === 0 ? '0' : found.join(', ')}`);
    return found.length === 0 ? 0 : volumesExist;
  } catch (error) {
    print(error instanceof Error ? error.message : String(error));
    return 1;
  }
}

/** @throws TypeError for an option that there is not */
function argumentsOf(args: readonly string[]) {
  const options = { enable: { type: 'string', multiple: true }, binary: { type: 'string' } } as const;
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
  return { enabled: values.enable ?? [], binary: values.binary ?? '', hosts: positionals };
}

interface VolumeService {
  readonly host: string;
  readonly status: string;
  readonly disabled_reason?: string | null;
}

/** Disables the services of some hosts and enables those of others; one that never ran has none. */
async function place(
  api: JsonApi,
  { binary, enabled, disabled }: { binary: string } & Readonly<Record<'enabled' | 'disabled', readonly string[]>>,
): Promise<void> {
  const answer = await api.call('GET', `/os-services?binary=${encodeURIComponent(binary)}`);
  for (const { host, status, disabled_reason: why } of (answer as { services?: VolumeService[] }).services ?? []) {
    if (disabled.includes(host) && status === 'enabled')
      await api.call('PUT', '/os-services/disable-log-reason', { binary, host, disabled_reason: reason });
    if (enabled.includes(host) && status === 'disabled' && why === reason)
      await api.call('PUT', '/os-services/enable', { binary, host });
  }
}
