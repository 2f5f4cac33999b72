import { realClock, sleep } from '@openstack-operator/kube';
import { expect, onTestFinished, test } from 'vitest';
import { underRequests } from '../under-requests.ts';
import { until } from '../until.ts';
import { serverTls } from './server-tls.ts';

/** The resources with an authority, each with its Secret, and where a certificate of it is shown. */
const authorities = {
  mariadb: { secret: 'mariadb-tls', shown: ['mariadb:3306', '-starttls', 'mysql'] },
  rabbitmq: { secret: 'rabbitmq-tls', shown: ['rabbitmq:5671'] },
  ovnnetwork: { secret: 'ovn-tls', shown: [] },
  keystone: { secret: 'keystone-ca', shown: ['placement-api:18778'] },
  nova: { secret: 'nova-console-tls', shown: [] },
} as const;
type Kind = keyof typeof authorities;
const kinds = Object.keys(authorities) as Kind[];

interface Authority {
  readonly generation: number;
  readonly phase?: string;
  readonly request?: string;
}

test('all authorities are replaced without a failed request, and without another pod', async () => {
  const { name, kubectl, change, enable } = await serverTls();
  onTestFinished(async () => {
    await change(false);
  });
  const childOf = (kind: Kind) => `${name}-${kind === 'ovnnetwork' ? 'ovn' : kind}`;
  const told = async (kind: Kind): Promise<Authority | undefined> => {
    const text = await kubectl('get', kind, childOf(kind), '-o', 'jsonpath={.status.authorities}');
    const all = JSON.parse(text || '{}') as Readonly<Record<string, Authority>>;
    return all[`${name}-${authorities[kind].secret}`];
  };
  const issuerOf = async ([host, ...how]: readonly string[]) => {
    const script = `openssl s_client -connect ${name}-${host} ${how.join(' ')} </dev/null 2>/dev/null | openssl x509 -noout -issuer`;
    return await kubectl('exec', `${name}-rabbitmq-0`, '-c', 'server', '--', 'bash', '-c', script);
  };
  const pods = () =>
    kubectl('get', 'pods', '-l', 'app.kubernetes.io/component in (api,server,scheduler,nb-db,northd)', '-o', 'name');

  await enable(true);
  const there = await pods();
  const before = new Map<Kind, number>();
  for (const kind of kinds) before.set(kind, (await told(kind))?.generation ?? 0);
  const request = `test ${realClock.now()}`;
  const phases = new Map<Kind, Set<string>>(kinds.map((kind) => [kind, new Set()]));
  const counts = () => kinds.map((kind) => `${kind}: ${[...(phases.get(kind) ?? [])].join(', ')}`).join('; ');
  await underRequests(async () => {
    await kubectl(
      'annotate',
      '--overwrite',
      'openstackcontrolplane',
      name,
      `openstack.k8s.io/rotate-authority-at=${request}`,
    );
    await until({
      what: 'all authorities to be replaced',
      seconds: 3600,
      probe: async () => {
        await sleep(realClock, 10_000);
        const all = await Promise.all(kinds.map(told));
        for (const [index, kind] of kinds.entries()) phases.get(kind)?.add(all[index]?.phase ?? 'one');
        return all.every((one) => one?.request === request) || undefined;
      },
      explain: () =>
        kubectl('get', kinds.join(','), '-o', 'custom-columns=NAME:.metadata.name,AUTHORITIES:.status.authorities'),
    });
    // Clients come to what trusts the new one alone, too.
    await sleep(realClock, 180_000);
  });
  process.stdout.write(`${counts()}\n`);
  for (const kind of kinds) {
    expect([...(phases.get(kind) ?? [])]).toEqual(expect.arrayContaining(['Trusted', 'Signing']));
    const generation = (before.get(kind) ?? 0) + 1;
    expect((await told(kind))?.generation).toBe(generation);
    const { shown } = authorities[kind];
    if (shown.length > 0) expect(await issuerOf(shown)).toMatch(new RegExp(` authority ${generation}\\s*$`, 'u'));
  }
  expect(await pods()).toBe(there);
  const reached = ['exec', `deploy/${name}-ovn-northd`, '--', 'ovn-appctl', '-t', '/run/ovn/ovn-northd.ctl'];
  for (const side of ['nb', 'sb'])
    expect(await kubectl(...reached, `${side}-connection-status`)).toContain('connected');
  const status = await kubectl('exec', `deploy/${name}-nova-scheduler`, '--', 'nova-status', 'upgrade', 'check');
  expect(status).toMatch(/Placement API\s*\|\s*\n\|\s*Result: Success/);
}, 6_000_000);
