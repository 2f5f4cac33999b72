import { randomUUID } from 'node:crypto';
import type { CephStorageStatus } from '@openstack-operator/openstack';
import { controlPlane, program } from '../kubernetes.ts';
import { prefix } from '../running-cloud.ts';
import { until } from '../until.ts';

/** The status of the cloud's CephStorage. */
export async function statusOfCeph(): Promise<CephStorageStatus> {
  const { name, namespace } = (await controlPlane()).metadata;
  const text = await program('kubectl', '-n', namespace, 'get', 'cephstorage', `${name}-ceph`, '-o', 'json');
  return (JSON.parse(text) as { status: CephStorageStatus }).status;
}

/** Runs the check of the cluster at once, so many times: three that fail are told. */
export async function check(times: number): Promise<void> {
  const { name, namespace } = (await controlPlane()).metadata;
  const from = `--from=cronjob/${name}-ceph-health-check`;
  const job = () => `${prefix}check-${randomUUID().slice(0, 8)}`;
  await Promise.all(
    Array.from({ length: times }, () => program('kubectl', '-n', namespace, 'create', 'job', job(), from)),
  );
}

/** What the CephStorage says of the cluster. */
export interface Said {
  readonly ready: 'True' | 'False';
  /** Of its condition Ready. */
  readonly condition: string;
  /** Of the last check. */
  readonly check: string;
}

/** Waits until the CephStorage is Ready, or is not and says why in the words that are expected. */
export async function cephIs(ready: 'True' | 'False', words: RegExp, seconds: number): Promise<Said> {
  const said = async (): Promise<Said> => {
    const status = await statusOfCeph();
    const condition = status.conditions?.find(({ type }) => type === 'Ready');
    return {
      ready: condition?.status === 'True' ? 'True' : 'False',
      condition: condition?.message ?? '',
      check: status.schedules?.['health-check']?.message ?? '',
    };
  };
  return await until({
    what: `the CephStorage to be ${ready === 'True' ? '' : 'not '}Ready, with the words ${words}`,
    seconds,
    probe: async () => {
      const now = await said();
      return now.ready === ready && words.test(`${now.condition}\n${now.check}`) ? now : undefined;
    },
    explain: async () => JSON.stringify(await said()),
  });
}
