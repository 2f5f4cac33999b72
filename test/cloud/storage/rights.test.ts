import { randomUUID } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { controlPlane, program } from '../kubernetes.ts';
import { prefix } from '../running-cloud.ts';
import { until } from '../until.ts';
import { ceph } from './client.ts';

interface Storage {
  readonly status: {
    readonly schedules?: Readonly<Record<string, { readonly failures: number; readonly message?: string }>>;
    readonly conditions: readonly { readonly type: string; readonly status: string; readonly message: string }[];
  };
}

/** Runs the check of the cluster at once, so many times. */
async function check(name: string, namespace: string, times: number): Promise<void> {
  const job = (index: number) => `${prefix}check-${randomUUID().slice(0, 8)}-${index}`;
  await Promise.all(
    Array.from({ length: times }, async (_, index) => {
      const from = `--from=cronjob/${name}-ceph-health-check`;
      await program('kubectl', '-n', namespace, 'create', 'job', job(index), from);
    }),
  );
}

test('a right that was taken away is told by user and pool, and told no more when it is back', async () => {
  const { name, namespace } = (await controlPlane()).metadata;
  const [entity] = await ceph<{ caps: Record<string, string> }[]>('auth', 'get', 'client.nova');
  const { mon = '', osd = '', mgr = '' } = entity?.caps ?? {};
  const grant = (right: string) => ceph('auth', 'caps', 'client.nova', 'mon', mon, 'osd', right, 'mgr', mgr);
  onTestFinished(async () => {
    await grant(osd);
  });
  const storage = async () => {
    const text = await program('kubectl', '-n', namespace, 'get', 'cephstorage', `${name}-ceph`, '-o', 'json');
    const { status } = JSON.parse(text) as Storage;
    const ready = status.conditions.find(({ type }) => type === 'Ready');
    return { ready, check: status.schedules?.['health-check'] };
  };
  const explain = async () => JSON.stringify(await storage());
  expect(osd).toContain('profile rbd pool=vms');
  await grant(osd.replace('profile rbd pool=vms', 'profile rbd-read-only pool=vms'));
  await check(name, namespace, 3);
  await until({
    what: 'the missing right to be told',
    seconds: 240,
    probe: async () => {
      const { ready, check } = await storage();
      return (
        (ready?.status === 'False' && check?.message?.includes('client.nova cannot write in pool vms')) || undefined
      );
    },
    explain,
  });
  const { ready } = await storage();
  expect(ready?.message).toContain("(it needs mon 'profile rbd', osd 'profile rbd pool=vms')");
  await grant(osd);
  await check(name, namespace, 1);
  await until({
    what: 'the right to be found',
    seconds: 120,
    probe: async () => (await storage()).ready?.status === 'True' || undefined,
    explain,
  });
  expect((await storage()).check?.message).toMatch(/^HEALTH_OK; .* free, .*vms/);
}, 600_000);
