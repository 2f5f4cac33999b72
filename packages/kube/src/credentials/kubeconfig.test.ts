import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { stringify } from 'yaml';
import { virtualClock } from '../base/virtual-clock.ts';
import { authority, clientCertificate, clientKey, serverKey } from '../testing/certificates.ts';
import { accessOf } from './kubeconfig.ts';
import { readKubeconfig } from './kubeconfig-file.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');

async function directory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'kubeconfig-'));
  onTestFinished(() => rm(path, { recursive: true }));
  return path;
}

interface Parts {
  cluster?: Record<string, unknown>;
  user?: Record<string, unknown>;
  context?: Record<string, unknown>;
}

function kubeconfig({ cluster, user, context }: Parts = {}) {
  return {
    'current-context': 'main',
    contexts: [{ name: 'main', context: { cluster: 'here', user: 'jane', ...context } }],
    clusters: [{ name: 'here', cluster: { server: 'https://10.0.0.1:6443', ...cluster } }],
    users: [{ name: 'jane', user: user ?? {} }],
  };
}

/** Writes it as a file and resolves what it says. */
async function access(parts: Parts = {}, files: Record<string, string> = {}, clock = virtualClock()) {
  const path = await directory();
  const file = join(path, 'config');
  await writeFile(file, stringify(kubeconfig(parts)));
  for (const [name, content] of Object.entries(files)) await writeFile(join(path, name), content);
  const result = await accessOf(await readKubeconfig([file]), { env: process.env, clock, interactive: false });
  return { ...result, path };
}

/** The message of the ConfigError, without the directory of the test. */
async function complaint(failing: Promise<unknown>): Promise<string> {
  const error = await failing.then(
    () => new Error('it did not fail'),
    (error: Error) => error,
  );
  expect(error.name).toBe('ConfigError');
  return error.message.replace(/\/\S*kubeconfig-[^/]*\//gu, '');
}

test('server, namespace, proxy and TLS of the current context', async () => {
  const { server, namespace, proxy, tls, authenticate } = await access({
    cluster: {
      'certificate-authority-data': base64(authority),
      'tls-server-name': 'kubernetes.test',
      'proxy-url': 'http://proxy:3128',
    },
    user: { 'client-certificate-data': base64(clientCertificate), 'client-key-data': base64(clientKey) },
    context: { namespace: 'team' },
  });
  expect({ server, namespace, proxy }).toEqual({
    server: 'https://10.0.0.1:6443',
    namespace: 'team',
    proxy: 'http://proxy:3128',
  });
  const settings = await tls();
  expect(settings).toEqual({ ca: authority, cert: clientCertificate, key: clientKey, serverName: 'kubernetes.test' });
  expect(await tls()).toBe(settings);
  expect(await authenticate.headers()).toEqual({});
  expect(await authenticate.renew(await authenticate.headers())).toBe(false);
});

test('files are relative to the kubeconfig, and read again when they change', async () => {
  const clock = virtualClock();
  const { tls, path } = await access(
    {
      cluster: { 'certificate-authority': 'ca.crt' },
      user: { 'client-certificate': 'jane.crt', 'client-key': './jane.key' },
    },
    { 'ca.crt': authority, 'jane.crt': clientCertificate, 'jane.key': clientKey },
    clock,
  );
  const settings = await tls();
  expect(settings).toEqual({ ca: authority, cert: clientCertificate, key: clientKey });

  // A certificate that does not go with its key is half a renewal: the old pair stays.
  await writeFile(join(path, 'jane.key'), serverKey);
  await clock.advance(60_000);
  expect(await tls()).toBe(settings);

  await writeFile(join(path, 'jane.key'), clientKey);
  await writeFile(join(path, 'ca.crt'), `${authority}${authority}`);
  await clock.advance(60_000);
  expect(await tls()).toEqual({ ...settings, ca: `${authority}${authority}` });
});

test('tokens, basic authentication and impersonation become headers', async () => {
  const headers = async (user: Record<string, unknown>) => (await access({ user })).authenticate.headers();
  expect(await headers({ token: 'abc' })).toEqual({ authorization: 'Bearer abc' });
  expect(await headers({ username: 'jane', password: 'p:w' })).toEqual({
    authorization: `Basic ${base64('jane:p:w')}`,
  });
  expect(
    await headers({
      token: 'abc',
      as: 'joe',
      'as-uid': '7',
      'as-groups': ['a', 'b'],
      'as-user-extra': { 'example.org/Team': ['x'] },
    }),
  ).toEqual({
    authorization: 'Bearer abc',
    'impersonate-user': 'joe',
    'impersonate-uid': '7',
    'impersonate-group': ['a', 'b'],
    'impersonate-extra-example.org%2fteam': ['x'],
  });
});

test('a token file is read every minute, and at once when the server refuses', async () => {
  const clock = virtualClock();
  const { authenticate, path } = await access({ user: { tokenFile: 'token' } }, { token: 'one\n' }, clock);
  const first = await authenticate.headers();
  expect(first).toEqual({ authorization: 'Bearer one' });
  expect(await authenticate.renew(first)).toBe(false);

  await writeFile(join(path, 'token'), 'two\n');
  expect(await authenticate.headers()).toBe(first);
  expect(await authenticate.renew(first)).toBe(true);
  // Who comes later with the old one need not fetch it again.
  expect(await authenticate.renew(first)).toBe(true);
  expect(await authenticate.headers()).toEqual({ authorization: 'Bearer two' });

  await writeFile(join(path, 'token'), 'three\n');
  await clock.advance(60_000);
  expect(await authenticate.headers()).toEqual({ authorization: 'Bearer three' });

  await rm(join(path, 'token'));
  await clock.advance(60_000);
  expect(await authenticate.headers()).toEqual({ authorization: 'Bearer three' });
});

test('several files are one: the first one that names a thing wins, missing files are left out', async () => {
  const path = await directory();
  const write = async (name: string, value: unknown) => {
    await writeFile(join(path, name), JSON.stringify(value));
    return join(path, name);
  };
  const first = await write('first', {
    'current-context': 'b',
    users: [{ name: 'jane', user: { token: 'first' } }],
  });
  const second = await write('second', {
    ...kubeconfig({ user: { token: 'second' } }),
    contexts: [{ name: 'b', context: { cluster: 'here', user: 'jane' } }],
  });
  const config = await readKubeconfig([join(path, 'missing'), first, second], { skipMissing: true });
  const found = await accessOf(config, { env: {}, clock: virtualClock(), interactive: false });
  expect(found.server).toBe('https://10.0.0.1:6443');
  expect(found.namespace).toBe('default');
  expect(await found.authenticate.headers()).toEqual({ authorization: 'Bearer first' });
  expect(await complaint(readKubeconfig([join(path, 'missing')], { skipMissing: true }))).toBe(
    'kubeconfig missing: no such file; name one that exists, or unset KUBECONFIG',
  );
  expect(await complaint(readKubeconfig([join(path, 'missing'), first]))).toMatch(
    /^kubeconfig missing: ENOENT: .*; name a file that exists and is readable$/u,
  );
});

test('what is wrong is named: file, entry, field, value, the way out', async () => {
  expect(await complaint(access({ context: { cluster: 'there' } }))).toBe(
    'config: contexts[main].context.cluster: there is no cluster "there" (known: here)',
  );
  expect(await complaint(access({ context: { user: 'joe' } }))).toBe(
    'config: contexts[main].context.user: there is no user "joe" (known: jane)',
  );
  expect(await complaint(access({ cluster: { server: '' } }))).toBe(
    'config: clusters[here].cluster.server: expected the URL of the API server',
  );
  expect(await complaint(access({ cluster: { server: '10.0.0.1' } }))).toBe(
    'config: clusters[here].cluster.server: server "10.0.0.1": expected a URL such as https://10.0.0.1:6443',
  );
  expect(await complaint(access({ user: { token: 12345 } }))).toBe(
    'config: users[jane].user.token: 12345: expected a text; put it in quotes',
  );
  expect(await complaint(access({ user: { token: 'a', username: 'b' } }))).toBe(
    'config: users[jane].user: found username and token; expected one way to log in: remove the others',
  );
  expect(await complaint(access({ user: { 'auth-provider': { name: 'gcp' } } }))).toMatch(
    /^config: users\[jane\]\.user\.auth-provider: gcp is not supported .*use an exec plugin or a token$/u,
  );
  expect(await complaint(access({ user: { 'as-groups': ['a'] } }))).toMatch(/users\[jane\]\.user\.as: expected/u);
  expect(
    await complaint(
      access({ cluster: { 'insecure-skip-tls-verify': true, 'certificate-authority-data': base64(authority) } }),
    ),
  ).toBe(
    'config: clusters[here].cluster.insecure-skip-tls-verify: remove it, ' +
      'or config: clusters[here].cluster.certificate-authority-data: not both',
  );
  expect(await complaint(access({ cluster: { 'certificate-authority': 'missing.crt' } }))).toMatch(
    /^config: clusters\[here\]\.cluster\.certificate-authority: ENOENT: .*check that the file is there and readable$/u,
  );
  expect(await complaint(access({ cluster: { 'certificate-authority-data': base64('hello') } }))).toMatch(
    /^config: clusters\[here\]\.cluster\.certificate-authority-data: expected certificates in PEM: /u,
  );
  expect(await complaint(access({ user: { 'client-certificate-data': base64(clientCertificate) } }))).toBe(
    'config: users[jane].user.client-key: expected, for config: users[jane].user.client-certificate-data is of no use alone',
  );
  expect(
    await complaint(
      access({ user: { 'client-certificate-data': base64(clientCertificate), 'client-key-data': base64(serverKey) } }),
    ),
  ).toMatch(/client-key-data: this key does not belong to the certificate of config: users\[jane\]/u);
  expect(
    await complaint(access({ user: { exec: { command: 'x', apiVersion: 'client.authentication.k8s.io/v1alpha1' } } })),
  ).toBe(
    'config: users[jane].user.exec.apiVersion: "client.authentication.k8s.io/v1alpha1": expected ' +
      'client.authentication.k8s.io/v1 or client.authentication.k8s.io/v1beta1; a newer release of x may offer one of them',
  );
});

test('contexts that are not there are named with those that are', async () => {
  const path = await directory();
  const file = join(path, 'config');
  await writeFile(file, stringify({ ...kubeconfig(), 'current-context': '' }));
  const config = await readKubeconfig([file]);
  const options = { env: {}, clock: virtualClock(), interactive: false };
  expect(await complaint(accessOf(config, options))).toBe(
    'kubeconfig config: current-context is not set; set it, or name a context (known: main)',
  );
  expect(await complaint(accessOf(config, { ...options, context: 'test' }))).toBe(
    'kubeconfig config: there is no context "test" (known: main)',
  );
  expect((await accessOf(config, { ...options, context: 'main' })).server).toBe('https://10.0.0.1:6443');
});

test('a file that is no kubeconfig says where', async () => {
  const path = await directory();
  const file = join(path, 'config');
  await writeFile(file, 'a: [');
  expect(await complaint(readKubeconfig([file]))).toMatch(/^kubeconfig config: no YAML: /u);
  await writeFile(file, '- a');
  expect(await complaint(readKubeconfig([file]))).toBe('config: expected a mapping (field: value)');
  await writeFile(file, 'users: {}');
  expect(await complaint(readKubeconfig([file]))).toBe('config: users: expected a list');
  await writeFile(file, 'users: [{ user: {} }]');
  expect(await complaint(readKubeconfig([file]))).toBe("config: users[0].name: expected the entry's name");
});
