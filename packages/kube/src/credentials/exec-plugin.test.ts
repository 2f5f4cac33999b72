import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { timestamp } from '../base/clock.ts';
import { virtualClock } from '../base/virtual-clock.ts';
import { clientCertificate, clientKey } from '../testing/certificates.ts';
import { type ExecPlugin, execCredentials } from './exec-plugin.ts';

const apiVersion = 'client.authentication.k8s.io/v1';

/** A plugin that is a line of JavaScript, in which `runs` counts and `info` is what it was told. */
async function plugin(script: string, more: Partial<ExecPlugin> = {}) {
  const path = await mkdtemp(join(tmpdir(), 'exec-plugin-'));
  onTestFinished(() => rm(path, { recursive: true }));
  const counter = join(path, 'runs');
  const program = `
    const fs = require('node:fs');
    fs.appendFileSync(process.env.COUNTER, 'x');
    const runs = fs.readFileSync(process.env.COUNTER, 'utf8').length;
    const info = JSON.parse(process.env.KUBERNETES_EXEC_INFO);
    const print = (status) => console.log(JSON.stringify({ kind: 'ExecCredential', apiVersion: info.apiVersion, status }));
    ${script}`;
  const clock = virtualClock();
  const make = () =>
    execCredentials(
      {
        where: 'config: users[jane].user.exec',
        apiVersion,
        command: process.execPath,
        args: ['-e', program],
        env: { COUNTER: counter },
        interactiveMode: 'IfAvailable',
        ...more,
      },
      { env: process.env, clock, interactive: false },
    );
  const runs = async () => (await readFile(counter, 'utf8')).length;
  return { make, runs, clock };
}

test('however many ask, the plugin runs once; again before the end of its token, and when it is refused', async () => {
  const inTenMinutes = timestamp({ ...virtualClock(), now: () => 1_767_225_600_000 + 600_000 });
  const { make, runs, clock } = await plugin(
    `print({ token: 'token-' + runs, expirationTimestamp: ${JSON.stringify(inTenMinutes)} })`,
  );
  const source = make();
  const all = await Promise.all(Array.from({ length: 50 }, () => source.current()));
  expect(new Set(all).size).toBe(1);
  expect(all[0]).toEqual({ token: 'token-1' });
  expect(await runs()).toBe(1);

  await clock.advance(569_000);
  expect(await source.current()).toBe(all[0]);
  await clock.advance(1_000);
  expect(await source.current()).toEqual({ token: 'token-2' });
});

test('a refused credential is fetched anew, once for all who had it', async () => {
  const { make, runs } = await plugin(`print({ token: 'token-' + runs })`);
  const source = make();
  const first = await source.current();
  expect(await Promise.all([source.renew(first), source.renew(first), source.renew(first)])).toEqual([
    true,
    true,
    true,
  ]);
  expect(await source.renew(first)).toBe(true);
  expect(await source.current()).toEqual({ token: 'token-2' });
  expect(await runs()).toBe(2);
});

test('client certificates', async () => {
  const status = { clientCertificateData: clientCertificate, clientKeyData: clientKey };
  const { make } = await plugin(`print(${JSON.stringify(status)})`);
  expect(await make().current()).toEqual({ cert: clientCertificate, key: clientKey });
});

test('the plugin is told the version, whether it may ask, and the cluster', async () => {
  const { make } = await plugin(
    `print({ token: JSON.stringify([info, process.env.PATH === ${JSON.stringify(process.env['PATH'])}]) })`,
    {
      cluster: { server: 'https://10.0.0.1', config: { audience: 'x' } },
    },
  );
  expect(JSON.parse((await make().current()).token ?? '')).toEqual([
    {
      kind: 'ExecCredential',
      apiVersion,
      spec: { interactive: false, cluster: { server: 'https://10.0.0.1', config: { audience: 'x' } } },
    },
    true,
  ]);
});

test('a failing plugin is named with its words, and runs again the next time', async () => {
  const { make, runs } = await plugin(`console.error('no network'); process.exit(3)`, {
    installHint: 'see example.org',
  });
  const source = make();
  const failure = {
    name: 'ConnectionError',
    code: 'EXEC_PLUGIN',
    message: `config: users[jane].user.exec: ${process.execPath} failed with exit code 3: no network\nsee example.org`,
  };
  await expect(source.current()).rejects.toMatchObject(failure);
  await expect(source.current()).rejects.toMatchObject(failure);
  expect(await runs()).toBe(2);
});

test('a plugin that hangs is ended', async () => {
  const { make, runs, clock } = await plugin(`process.stdin.resume(); setInterval(() => {}, 1000)`);
  const asking = make()
    .current()
    .catch((error: unknown) => error);
  await expect.poll(() => runs().catch(() => 0)).toBe(1);
  await clock.advance(60_000);
  expect(await asking).toMatchObject({
    code: 'EXEC_PLUGIN',
    message: expect.stringContaining('gave no answer within 60 s'),
  });
});

test('a command that is not there comes with the hint how to install it', async () => {
  const { make } = await plugin('', { command: 'no-such-plugin', installHint: 'Install it from example.org.' });
  await expect(make().current()).rejects.toMatchObject({
    name: 'ConfigError',
    message:
      'config: users[jane].user.exec: command "no-such-plugin": not found; install it, or correct the path\n' +
      'Install it from example.org.',
  });
});

test.for([
  [`console.log('token')`, 'printed what is no JSON'],
  [`console.log('{"kind":"Pod"}')`, 'printed kind "Pod"'],
  [
    `info.apiVersion = 'client.authentication.k8s.io/v1beta1'; print({ token: 'a' })`,
    'printed apiVersion "client.authentication.k8s.io/v1beta1"',
  ],
  [`print({})`, 'printed neither a token nor a client certificate'],
  [`print({ clientCertificateData: 'x' })`, 'printed a certificate without its key'],
] as const)('an answer of another form is refused: %s', async ([script, words]) => {
  const { make } = await plugin(script);
  await expect(make().current()).rejects.toMatchObject({
    name: 'ConfigError',
    message: `config: users[jane].user.exec: ${process.execPath} ${words}; expected an ExecCredential of ${apiVersion}`,
  });
});

test('a plugin that must ask is refused where nobody can answer', async () => {
  const { make } = await plugin('', { interactiveMode: 'Always' });
  expect(make).toThrow(/interactiveMode is Always, but there is no terminal/u);
});
