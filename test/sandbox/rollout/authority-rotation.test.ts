import { X509Certificate } from 'node:crypto';
import { Pod, parseTimestamp, Secret } from '@openstack-operator/kube';
import {
  annotations,
  Keystone,
  MariaDB,
  OpenStackControlPlane,
  OVNNetwork,
  Placement,
} from '@openstack-operator/openstack';
import { expect, test } from 'vitest';
import { type Cloud, identityOnly, networkOnly, only, readyCloud } from './cloud.ts';
import { asUser, userImage } from './servers.ts';

/** The Secrets with the authorities of a cloud with TLS, by the kinds whose status tells of them. */
const authorities = {
  MariaDB: 'my-cloud-mariadb-tls',
  RabbitMQ: 'my-cloud-rabbitmq-tls',
  OVNNetwork: 'my-cloud-ovn-tls',
  Keystone: 'my-cloud-keystone-ca',
  Nova: 'my-cloud-nova-console-tls',
};
type Authority = keyof typeof authorities;

const dataOf = (cloud: Cloud, name: string) => (cloud.get('Secret', name)?.['data'] ?? {}) as Record<string, string>;
const textOf = (cloud: Cloud, name: string, key: string) =>
  Buffer.from(dataOf(cloud, name)[key] ?? '', 'base64').toString();
const certificatesIn = (text: string) =>
  (text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/gu) ?? []).map(
    (block) => new X509Certificate(block),
  );
const signs = (authority: X509Certificate, one: X509Certificate) =>
  one.checkIssued(authority) && one.verify(authority.publicKey);

interface Told {
  readonly generation: number;
  readonly phase?: string;
  readonly request?: string;
  readonly ends: string;
  readonly next: string;
}

/** What the status of the resource with an authority tells of that. */
function told(cloud: Cloud, kind: Authority): Told | undefined {
  const [{ status } = {}] = cloud.list(kind) as { status?: { authorities?: Record<string, Told> } }[];
  return status?.authorities?.[authorities[kind]];
}

const isDone = (cloud: Cloud, request: string, kinds: readonly Authority[]) =>
  kinds.every((kind) => told(cloud, kind)?.request === request);

const rotate = (cloud: Cloud, value: string) =>
  cloud.change(OpenStackControlPlane, 'my-cloud', {
    metadata: { annotations: { [annotations.rotateAuthorityAt]: value } },
  });

const lasting = (cloud: Cloud) =>
  cloud.list('Pod').filter((pod) => (pod['spec'] as { restartPolicy?: string }).restartPolicy === 'Always');

const small = { ...identityOnly, tls: { enabled: true } };
const ofSmall = ['MariaDB', 'Keystone'] as const;
const waitsFor = (cloud: Cloud, kind: typeof MariaDB | typeof Keystone, name: string) =>
  cloud.condition(kind, name, 'CredentialsReady')?.message ?? '';

test('an authority is replaced on request, once, and says how far that is', async () => {
  const { cloud } = await readyCloud({ spec: small });
  const first = told(cloud, 'MariaDB');
  expect(first).toMatchObject({ generation: 1 });
  expect(parseTimestamp(first?.ends ?? '') - parseTimestamp(first?.next ?? '')).toBe((3650 * 86_400_000) / 3);
  const [before] = certificatesIn(textOf(cloud, authorities.MariaDB, 'ca.crt'));
  const keys = Object.keys(dataOf(cloud, authorities.MariaDB));
  const key = textOf(cloud, authorities.MariaDB, 'ca.key');
  const there = lasting(cloud).map(({ metadata }) => metadata.uid);
  await rotate(cloud, 'first');
  const seen = new Map<string, string>();
  await cloud.until(() => {
    const { phase = 'Done' } = told(cloud, 'MariaDB') ?? {};
    seen.set(phase, waitsFor(cloud, MariaDB, 'my-cloud-mariadb') || (seen.get(phase) ?? ''));
    return isDone(cloud, 'first', ofSmall);
  }, 60);
  expect([...seen.keys()]).toEqual(['Trusted', 'Signing', 'Done']);
  expect(seen.get('Trusted')).toMatch(
    /^Secret my-cloud-mariadb-tls: authority 2 is trusted beside the one before, and signs once all trust it: pods have until 20/,
  );
  expect(seen.get('Signing')).toMatch(/: authority 2 signs, and the one before is trusted until nobody shows/);
  expect(told(cloud, 'MariaDB')).toMatchObject({ generation: 2, request: 'first' });
  const after = certificatesIn(textOf(cloud, authorities.MariaDB, 'ca.crt'));
  expect(after.map(({ subject }) => subject)).toEqual(['CN=my-cloud-mariadb authority 2']);
  expect(after[0]?.fingerprint).not.toBe(before?.fingerprint);
  expect(textOf(cloud, authorities.MariaDB, 'ca.key')).not.toBe(key);
  expect(Object.keys(dataOf(cloud, authorities.MariaDB))).toEqual(keys);
  expect(cloud.list('Event').filter(({ reason }) => reason === 'KeysRotated')).toHaveLength(6);

  // Nothing more is done for the same request, and no pod was replaced.
  await cloud.clock.advance(3_600_000);
  await cloud.ready();
  expect(certificatesIn(textOf(cloud, authorities.MariaDB, 'ca.crt'))[0]?.fingerprint).toBe(after[0]?.fingerprint);
  expect(lasting(cloud).map(({ metadata }) => metadata.uid)).toEqual(there);
  await rotate(cloud, 'second');
  await cloud.until(() => isDone(cloud, 'second', ofSmall), 60);
  expect(told(cloud, 'Keystone')).toMatchObject({ generation: 3 });
}, 600_000);

/** Where pods have certificates of authorities that they trust, and of themselves; what is not there has no line. */
const collect = `for file in /etc/openstack/trust/*/ca.crt /etc/openstack/tls/ca.crt /etc/openstack/console/ca.crt /run/openvswitch/ovn-tls/ca.crt; do
  if [ -e "$file" ]; then echo "trusts $file"; cat "$file"; fi
done
for file in /etc/openstack/tls/tls.crt /etc/openstack/tls/client.crt /etc/openstack/trust/virtualNetwork/client.crt /etc/openstack/console/tls.crt /etc/openstack/console/client.crt /run/openvswitch/ovn-tls/client.crt; do
  if [ -e "$file" ]; then echo "shows $file"; cat "$file"; fi
done`;

interface Held {
  readonly pod: string;
  readonly file: string;
  readonly verb: string;
  readonly certificates: readonly X509Certificate[];
}

/** What the pods of a cloud trust and show, as their containers have it now. */
async function held(cloud: Cloud): Promise<Held[]> {
  const found: Held[] = [];
  for (const { metadata, status } of lasting(cloud)) {
    const { phase } = (status ?? {}) as { phase?: string };
    if (phase !== 'Running' || metadata.deletionTimestamp !== undefined) continue;
    const at = { namespace: 'openstack', name: metadata.name };
    const { stdout } = await cloud.settle(
      cloud.rehearsal.sandbox.pods.exec(at, ['sh', '-c', collect]).catch(() => ({ stdout: '' })),
    );
    for (const part of stdout.split(/^(?=(?:trusts|shows) \/)/mu)) {
      const [, verb, file] = /^(trusts|shows) (\/.*)$/mu.exec(part) ?? [];
      const certificates = certificatesIn(part);
      // Some are not root, and may not read what ovn-controller has.
      if (verb !== undefined && file !== undefined && certificates.length > 0)
        found.push({ pod: metadata.name, verb, file, certificates });
    }
  }
  return found;
}

const nameOf = (certificate: X509Certificate) => certificate.subject.replace(/^CN=/u, '').replace(/ \d+$/u, '');

/** Pairs of a pod that shows a certificate and one that trusts former or later authorities of that name, but not who signed it. */
function strangers(all: readonly Held[]): string[] {
  return all.flatMap(({ verb, pod, file, certificates: [shown] }) => {
    if (verb !== 'shows' || shown === undefined) return [];
    const signer = shown.issuer.replace(/^CN=/u, '').replace(/ \d+$/u, '');
    return all.flatMap((other) => {
      const trusted = other.verb === 'trusts' ? other.certificates.filter((one) => nameOf(one) === signer) : [];
      return trusted.length === 0 || trusted.some((one) => signs(one, shown))
        ? []
        : [`${other.pod} ${other.file} does not trust ${pod} ${file}`];
    });
  });
}

/** Asks Placement and Glance (by its proxy) from a pod that trusts the authority of the APIs. */
async function works(cloud: Cloud): Promise<void> {
  const pod = lasting(cloud).find(({ metadata: { name } }) => name.startsWith('my-cloud-placement-api-'));
  const at = { namespace: 'openstack', name: pod?.metadata.name ?? '' };
  for (const host of ['placement-api.openstack.svc:18778', 'glance-api.openstack.svc:19292']) {
    const trusted = ['--cacert', '/etc/openstack/trust/identity/ca.crt', `https://my-cloud-${host}/`];
    const { code, stderr } = await cloud.settle(cloud.rehearsal.sandbox.pods.exec(at, ['curl', '-sS', ...trusted]));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  }
}

/** What connects anew when it starts: to the broker and the database, and to the databases of OVN. */
const connecting = ['nova-conductor', 'neutron-server', 'ovn-northd', 'ovn-ovn-controller', 'nova-cell1-novncproxy'];

test('all authorities of a cloud in use are replaced: nobody meets a certificate that he does not trust, and no pod is replaced', async () => {
  const { cloud, operator } = await readyCloud({
    images: [userImage],
    nodes: ['node-1', 'node-2'],
    spec: { tls: { enabled: true } },
  });
  const kinds = Object.keys(authorities) as Authority[];
  await asUser(cloud, 'boot', 'first');
  const there = lasting(cloud).map(({ metadata }) => metadata.uid);
  const before = await held(cloud);
  expect(strangers(before)).toEqual([]);
  await rotate(cloud, 'first');
  const phases = new Set<string>();
  let life = operator;
  let sinceChange = 0;
  while (!isDone(cloud, 'first', kinds)) {
    expect(strangers(await held(cloud))).toEqual([]);
    await works(cloud);
    const phase = kinds.map((kind) => told(cloud, kind)?.phase ?? 'Done').join();
    sinceChange = phases.has(phase) ? sinceChange + 1 : 0;
    phases.add(phase);
    // The operator ends at some points, and goes on.
    if ([0, 3, 15].includes(sinceChange)) {
      await cloud.settle(life.stop());
      await cloud.clock.advance(5000);
      life = await cloud.startOperator();
    }
    await cloud.clock.advance(sinceChange < 6 ? 2000 : 20_000);
  }
  expect([...phases].join()).toMatch(/^Trusted.*Signing/u);
  expect(lasting(cloud).map(({ metadata }) => metadata.uid)).toEqual(there);
  // Kubelets look at Secrets every minute or so.
  await cloud.clock.advance(240_000);
  const after = await held(cloud);
  expect(strangers(after)).toEqual([]);
  for (const { certificates, pod, file } of after) {
    expect(certificates, `${file} of ${pod}`).toHaveLength(1);
    const [one] = certificates;
    expect(one?.ca === true ? one.subject : one?.issuer).toMatch(/ authority 2$/u);
  }
  expect(after.length).toBe(before.length);
  expect(after.length).toBeGreaterThan(40);
  for (const component of connecting)
    for (const { metadata } of lasting(cloud).filter(({ metadata }) =>
      metadata.name.startsWith(`my-cloud-${component}-`),
    ))
      await cloud.remove(Pod, metadata.name);
  await cloud.ready();
  await cloud.clock.advance(60_000);
  await asUser(cloud, 'boot', 'second');
  for (const name of ['first', 'second']) expect(await asUser(cloud, 'console', name)).toBe('RFB 003.008\n');
  for (const { metadata } of lasting(cloud)) {
    const logs = cloud.rehearsal.sandbox.pods.logs({ namespace: 'openstack', name: metadata.name });
    expect(logs).not.toMatch(/CERTIFICATE_VERIFY_FAILED|certificate verify failed/u);
  }
}, 900_000);

test('a Secret that is lost in the middle is made anew, and the request is done with that', async () => {
  const { cloud } = await readyCloud({ spec: small });
  await rotate(cloud, 'first');
  await cloud.until(
    () => told(cloud, 'MariaDB')?.phase === 'Signing' && told(cloud, 'Keystone')?.phase === 'Signing',
    60,
  );
  for (const kind of ofSmall) await cloud.remove(Secret, authorities[kind]);
  await cloud.until(() => isDone(cloud, 'first', ofSmall));
  await cloud.clock.advance(240_000);
  await cloud.ready();
  expect(strangers(await held(cloud))).toEqual([]);
  for (const kind of ofSmall) expect(certificatesIn(textOf(cloud, authorities[kind], 'ca.crt'))).toHaveLength(1);
  expect(told(cloud, 'MariaDB')).toMatchObject({ generation: 1, request: 'first' });
}, 600_000);

test('what somebody takes out of the Secret in the middle is made anew, and nobody is left alone', async () => {
  const { cloud } = await readyCloud({ spec: small });
  for (const key of ['next.key', 'next.crt', 'ca.crt', 'tls.crt']) {
    await rotate(cloud, key);
    await cloud.until(() => told(cloud, 'MariaDB')?.phase === 'Trusted', 60);
    await cloud.change(Secret, authorities.MariaDB, { data: { [key]: null } });
    await cloud.until(() => {
      const [first, ...others] = certificatesIn(textOf(cloud, authorities.MariaDB, 'ca.crt'));
      const [leaf] = certificatesIn(textOf(cloud, authorities.MariaDB, 'tls.crt'));
      if (leaf !== undefined && first !== undefined)
        expect([first, ...others].some((one) => signs(one, leaf))).toBe(true);
      return isDone(cloud, key, ofSmall);
    }, 60);
    expect(Object.keys(dataOf(cloud, authorities.MariaDB)).sort()).toEqual(['ca.crt', 'ca.key', 'tls.crt', 'tls.key']);
    await cloud.clock.advance(240_000);
    await cloud.ready();
    expect(strangers(await held(cloud))).toEqual([]);
  }
}, 600_000);

test('the authority before is trusted until resources that are paused go on, and signs until all trust the next', async () => {
  const { cloud } = await readyCloud({
    spec: { ...only('mariadb', 'memcached', 'keystone', 'placement'), tls: { enabled: true } },
  });
  const pause = (paused: boolean) =>
    cloud.change(Placement, 'my-cloud-placement', {
      metadata: { annotations: { [annotations.paused]: paused ? 'true' : null } },
    });
  await pause(true);
  await rotate(cloud, 'first');
  await cloud.clock.advance(2 * 3_600_000 + 600_000);
  expect(told(cloud, 'MariaDB')?.request).toBe('first');
  expect(told(cloud, 'Keystone')?.phase).toBe('Trusted');
  const message = waitsFor(cloud, Keystone, 'my-cloud-keystone');
  expect(message).toMatch(/signs once all trust it: Secret my-cloud-placement-\S+ has the one before alone$/u);
  // It is told of with what is to be mended, and holds nothing back.
  expect(cloud.condition(Keystone, 'my-cloud-keystone')).toMatchObject({ status: 'True', message });
  await pause(false);
  await cloud.until(() => told(cloud, 'Keystone')?.phase === 'Signing', 30);
  await pause(true);
  await cloud.clock.advance(1_800_000);
  expect(told(cloud, 'Keystone')?.phase).toBe('Signing');
  await pause(false);
  await cloud.until(() => isDone(cloud, 'first', ['Keystone']), 60);
  await cloud.clock.advance(240_000);
  expect(strangers(await held(cloud))).toEqual([]);
}, 600_000);

test('pods of a node that is away are waited for, and have their time when it is back', async () => {
  const { cloud } = await readyCloud({ nodes: ['node-1', 'node-2'], spec: networkOnly });
  await rotate(cloud, 'first');
  cloud.rehearsal.sandbox.nodes.stop('node-2');
  await cloud.clock.advance(3_600_000);
  expect(told(cloud, 'OVNNetwork')?.phase).toBe('Trusted');
  expect(cloud.condition(OVNNetwork, 'my-cloud-ovn', 'CredentialsReady')?.message).toMatch(
    /signs once all trust it: pod my-cloud-ovn-\S+ is not Ready$/u,
  );
  const back = cloud.clock.now();
  cloud.rehearsal.sandbox.nodes.start('node-2');
  await cloud.until(() => told(cloud, 'OVNNetwork')?.phase === 'Signing', 30);
  expect(cloud.clock.now() - back).toBeGreaterThan(600_000);
  await cloud.until(() => isDone(cloud, 'first', ['OVNNetwork']), 30);
}, 900_000);
