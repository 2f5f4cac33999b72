import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { realClock } from '@openstack-operator/kube';
import { OpenStackControlPlane } from '@openstack-operator/openstack';
import { afterAll, expect, test } from 'vitest';
import { run } from '../kubernetes/clients/command.ts';
import { controlPlane, createCloud, identityOnly } from '../sandbox/rollout/cloud.ts';

const scratch = mkdtempSync(join(tmpdir(), 'terminal-'));
afterAll(() => rmSync(scratch, { recursive: true }));

const infrastructure = ['MariaDB', 'Memcached'].map((kind) => ({
  apiVersion: 'openstack.k8s.io/v1alpha1',
  kind,
  metadata: { name: kind.toLowerCase(), namespace: 'default' },
  spec: kind === 'MariaDB' ? { storage: { size: '1Gi' } } : {},
}));

const escape = '\u001b';

/** What a terminal of 120 columns shows at the end of a command: its last screen, without colours. */
function screen(printed: string): string[] {
  // Each drawing begins with the way up to the first line of the one before it.
  const [last = ''] = printed
    .replaceAll('\r', '')
    .split(new RegExp(`${escape}\\[\\d+A`))
    .slice(-1);
  return last.replaceAll(new RegExp(`${escape}\\[[\\d;]*[A-Za-z]`, 'g'), '').split('\n');
}

/** The command line that runs another one at a pseudo-terminal. */
const atTerminal = (command: string) => ['script', '-qec', `stty columns 120 rows 40; ${command}`, '/dev/null'];

/** Seconds in `12 s`, `12.3 s`, `2 min 05 s`. */
function secondsOf(text: string): number {
  const [, minutes = '0', seconds] = /^(?:(\d+) min )?([\d.]+) s$/.exec(text.trim()) ?? [];
  return Number(minutes) * 60 + Number(seconds);
}

/** The times behind the rows of a tree, and the one in its title. */
function timesOf(lines: readonly string[]): { title: number; rows: number[] } {
  const [title = ''] = lines;
  const rows = lines.flatMap((line) => /^[├└]─ ✔ \S+ \S+ +\d+\/\d+ {2}(.*)$/.exec(line)?.slice(1) ?? []);
  return { title: secondsOf(/, (.*)$/.exec(title)?.[1] ?? ''), rows: rows.map(secondsOf) };
}

test.skipIf(process.platform !== 'linux').each(['real', 'fast'])(
  'demo --speed %s on a terminal: behind each Ready row stands how long it took',
  (speed) => {
    const file = join(scratch, 'infrastructure.yaml');
    writeFileSync(file, infrastructure.map((one) => JSON.stringify(one)).join('\n---\n'));
    const [program = '', ...args] = atTerminal(`bin/kubectl-openstack demo --speed ${speed} -f ${file}`);
    const began = realClock.monotonic();
    const { status, stdout } = spawnSync(program, args, { encoding: 'utf8', timeout: 60_000 });
    const real = (realClock.monotonic() - began) / 1000;
    expect(status, stdout).toBe(0);
    const { title, rows } = timesOf(screen(stdout));
    expect(rows, stdout).toHaveLength(2);
    expect(Math.max(...rows), stdout).toBeGreaterThan(0);
    // Timestamps have whole seconds.
    expect(Math.max(...rows), stdout).toBeLessThanOrEqual(title + 1);
    if (speed === 'real') expect(title, stdout).toBeLessThanOrEqual(real);
  },
);

test.skipIf(process.platform !== 'linux')(
  'follow on a terminal: behind each Ready row stands how long it took',
  async () => {
    const cloud = await createCloud();
    await cloud.startOperator();
    const listening = await cloud.rehearsal.sandbox.listen();
    const kubeconfig = join(scratch, 'kubeconfig');
    writeFileSync(kubeconfig, await listening.kubeconfig());
    await cloud.settle(cloud.rehearsal.create(controlPlane(identityOnly)));
    await cloud.ready();
    const created = cloud.get(OpenStackControlPlane.kind, 'my-cloud')?.metadata.creationTimestamp ?? '';
    const took = (cloud.clock.now() - globalThis.Date.parse(created)) / 1000;
    const [program = '', ...args] = atTerminal('bin/kubectl-openstack follow my-cloud -n openstack');
    const environment = { PATH: process.env['PATH'] ?? '', HOME: scratch, KUBECONFIG: kubeconfig };
    const { code, stdout } = await run(program, args, { environment });
    await listening.close();
    cloud.rehearsal.stop();
    expect(code, stdout).toBe(0);
    const { rows } = timesOf(screen(stdout));
    expect(rows, stdout).toHaveLength(3);
    for (const row of rows) expect(row, stdout).toBeLessThanOrEqual(took);
    expect(Math.max(...rows), stdout).toBeGreaterThan(0);
  },
);
