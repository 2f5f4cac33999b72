import { realClock, sleep } from '@openstack-operator/kube';
import { onTestFinished, test } from 'vitest';
import { underRequests } from '../under-requests.ts';
import { until } from '../until.ts';
import { serverTls } from './server-tls.ts';

/** What shows a certificate, and how openssl is led to it. */
const shown = {
  mariadb: ['mariadb:3306', '-starttls', 'mysql'],
  rabbitmq: ['rabbitmq:5671'],
  'a server of uwsgi': ['placement-api:18778'],
  'a proxy': ['glance-api:19292'],
} as const;

test('certificates of ten minutes are renewed five times at all servers, without a failed request', async () => {
  const { name, kubectl, enable } = await serverTls();
  const tls = (value: object) =>
    kubectl('patch', 'openstackcontrolplane', name, '--type', 'merge', '-p', JSON.stringify({ spec: { tls: value } }));
  onTestFinished(async () => {
    // Servers without TLS take what they need with the next change.
    await tls({ enabled: false, duration: null });
  });
  const serialOf = async ([host, ...how]: readonly string[]) => {
    const script = `openssl s_client -connect ${name}-${host} ${how.join(' ')} </dev/null 2>/dev/null | openssl x509 -noout -serial`;
    return await kubectl('exec', `${name}-rabbitmq-0`, '-c', 'server', '--', 'bash', '-c', script);
  };
  const pods = () =>
    kubectl('get', 'pods', '-l', 'app.kubernetes.io/component in (api,server,scheduler)', '-o', 'name');

  await tls({ duration: '10m' });
  await enable(true);
  const there = await pods();
  const seen = Object.fromEntries(Object.keys(shown).map((server) => [server, new Set<string>()]));
  const counts = () => Object.entries(seen).map(([server, serials]) => `${server}: ${serials.size}`);
  await underRequests(async () => {
    await until({
      what: 'each server to have shown six certificates',
      seconds: 2700,
      probe: async () => {
        await sleep(realClock, 10_000);
        for (const [server, at] of Object.entries(shown)) seen[server]?.add(await serialOf(at));
        return Object.values(seen).every(({ size }) => size > 5) || undefined;
      },
      explain: async () => counts().join(', '),
    });
  });
  process.stdout.write(`certificates that were shown: ${counts().join(', ')}\n`);
  if ((await pods()) !== there) throw new Error('pods were replaced for renewed certificates');
}, 6_000_000);
