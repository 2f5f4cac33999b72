import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { admin, guestImage, networks, tiny } from '../fixture.ts';
import { User } from '../running-cloud.ts';
import { Server } from '../server.ts';
import { underRequests } from '../under-requests.ts';
import { until } from '../until.ts';
import { serverTls } from './server-tls.ts';

interface Endpoint {
  readonly interface: string;
  readonly url: string;
}

test('a cloud in use comes to TLS and back without a failed request, and to a certificate of another authority', async () => {
  const { name, kubectl, change, enable } = await serverTls();
  const authority = `${name}-keystone-ca`;
  const file = join(mkdtempSync(join(tmpdir(), 'authority-')), 'ca.crt');
  /** The administrator, who trusts the authority of now: without a gateway public endpoints are those inside. */
  const trusting = async () => {
    const text = await kubectl('get', 'secret', authority, '-o', String.raw`jsonpath={.data.ca\.crt}`);
    writeFileSync(file, Buffer.from(text, 'base64'));
    return new User({ ...admin.identity, cacert: file }).connectedAnew();
  };
  const schemes = async (user: User) => {
    const all = await user.call<Endpoint[]>('identity.endpoints');
    const inside = all.filter((one) => one.interface === 'internal');
    return [...new Set(inside.map(({ url }) => new URL(url).protocol))];
  };
  const [image, flavor, { near }] = await Promise.all([guestImage(), tiny(), networks()]);
  /** A server asks nearly all APIs of each other; what it leaves is cleaned with the suite. */
  const boots = async (user: User) => {
    const server = await Server.create(user, { name: 'by-tls', image, flavor, networks: [{ uuid: near }] });
    await server.reaches('ACTIVE', 180);
    await user.call('compute.delete_server', server.id, { force: true });
  };
  /** Asks what is answered by way of several APIs. */
  const works = async (user: User) => {
    const network = await user.call<{ readonly id: string }>('network.create_network', { name: 'by-tls' });
    await user.call('network.delete_network', { network: network.id });
    // It logs in to Keystone, and asks Placement, as Nova does.
    const status = await kubectl('exec', `deploy/${name}-nova-scheduler`, '--', 'nova-status', 'upgrade', 'check');
    expect(status).toMatch(/Placement API\s*\|\s*\n\|\s*Result: Success/);
  };
  onTestFinished(async () => {
    await change(false);
  });

  await boots(admin);
  // One pod has the volume of images, and is away until its successor has it.
  const without = 'image.images';
  await underRequests(() => enable(true), { without });
  const secure = await trusting();
  expect(await schemes(secure)).toEqual(['https:']);
  await works(secure);
  await boots(secure);
  const stranger = new User({ ...admin.identity, cacert: '/etc/ssl/certs/ca-certificates.crt' }).connectedAnew();
  await expect(stranger.call('network.agents')).rejects.toThrow('CERTIFICATE_VERIFY_FAILED');

  const host = `${name}-placement-api:18778`;
  const shown = () =>
    kubectl(
      'exec',
      `${name}-rabbitmq-0`,
      '-c',
      'server',
      '--',
      'bash',
      '-c',
      `openssl s_client -connect ${host} </dev/null 2>/dev/null | openssl x509 -noout -serial`,
    );
  const serial = await shown();
  const pods = () =>
    kubectl('get', 'pods', '-l', 'app.kubernetes.io/component in (api,server,scheduler)', '-o', 'name');
  const there = await pods();
  await kubectl('delete', 'secret', authority);
  await until({
    what: 'Placement to show another certificate',
    seconds: 300,
    probe: async () => ((await shown()) === serial ? undefined : true),
    explain: shown,
  });
  await until({
    what: 'all to trust it',
    seconds: 300,
    probe: async () =>
      works(await trusting()).then(
        () => true as const,
        () => undefined,
      ),
    explain: () => kubectl('get', 'pods'),
  });
  expect(await pods()).toBe(there);

  await underRequests(() => enable(false), { without });
  const after = admin.connectedAnew();
  expect(await schemes(after)).toEqual(['http:']);
  await works(after);
  await boots(after);
}, 3_000_000);
