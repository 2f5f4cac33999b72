import type { KubeObject } from '@openstack-operator/kube';
import { beforeAll, expect, test } from 'vitest';
import { readObjects } from '../../sandbox/failures/provoke.ts';
import { embeddedStage, realStage } from '../../sandbox/failures/stages.ts';
import { type Took, timeCopy } from '../../sandbox/failures/start-times.ts';
import { table } from '../table.ts';

/**
 * What a copy can do beside the original: serve nobody, or do again what is done. (A copy of neutron-server would enter
 * OVN's hash ring; servers without a probe are ready before they are.) `workers` share the processor time.
 */
const programs: readonly { run: string; workers?: number }[] = [
  { run: 'Deployment my-cloud-memcached' },
  { run: 'StatefulSet my-cloud-mariadb' },
  { run: 'StatefulSet my-cloud-rabbitmq' },
  { run: 'StatefulSet my-cloud-ovn-nb-db' },
  { run: 'Deployment my-cloud-ovn-northd' },
  { run: 'Deployment my-cloud-keystone-api', workers: 2 },
  { run: 'Deployment my-cloud-glance-api' },
  { run: 'Deployment my-cloud-placement-api', workers: 2 },
  { run: 'Deployment my-cloud-nova-api', workers: 2 },
  { run: 'Deployment my-cloud-nova-metadata', workers: 2 },
  { run: 'Deployment my-cloud-nova-cell1-novncproxy' },
  { run: 'Job my-cloud-keystone-db-create' },
  { run: 'Job my-cloud-keystone-db-sync' },
  { run: 'Job my-cloud-keystone-bootstrap' },
  { run: 'Job my-cloud-glance-db-sync' },
  { run: 'Job my-cloud-placement-db-sync' },
  { run: 'Job my-cloud-neutron-db-sync' },
  { run: 'Job my-cloud-nova-cell-setup' },
  { run: 'Job my-cloud-nova-db-sync' },
  { run: 'Job my-cloud-nova-host-discovery' },
];

/**
 * How far the embedded cloud may be off: by a factor, beside what probes wait and what is too short to be measured. On a
 * busy machine processor time is up to a third longer: caches are shared.
 */
const bounds = { factor: 2, seconds: 1.5 };

/** How many copies run at once. */
const width = 3;

interface Measured {
  readonly real: Took;
  readonly embedded: Took;
  /** Seconds between two looks of the probe that finds it ready. */
  readonly period: number;
}
const measured = new Map<string, Measured>();

beforeAll(async () => {
  const embedded = await embeddedStage();
  const models = new Map<string, Took>();
  await embedded.run(async () => {
    const objects = await readObjects(embedded.stage);
    for (const { run } of programs)
      models.set(run, await timeCopy(embedded.stage, objects, { run }, { id: 'time', processor: false }));
  });
  embedded.stop();

  const { stage, stop } = await realStage();
  const objects = await readObjects(stage);
  const queue = [...programs.entries()];
  const lane = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const [index, { run }] = next;
      measured.set(run, {
        real: await timeCopy(stage, objects, { run }, { id: `time-${index}`, processor: true }),
        embedded: models.get(run) ?? { seconds: Number.NaN },
        period: periodOf(objects.get(run)),
      });
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: width }, lane));
  stop();
  for (const one of ended) if (one.status === 'rejected') throw one.reason;
  const rows = programs.map(({ run, workers = 1 }) => {
    const { real, embedded } = measured.get(run) ?? {};
    const processor = ((real?.processor ?? 0) / workers).toFixed(2);
    return [run, `${processor} s`, `${real?.seconds} s`, `${embedded?.seconds} s`];
  });
  process.stdout.write(`\n${table(['program', 'computes (one worker)', 'by the clock', 'embedded'], rows)}\n`);
}, 600_000);

function periodOf(workload: KubeObject | undefined): number {
  const { template } = (workload?.['spec'] ?? {}) as {
    template?: { spec: { containers: { startupProbe?: { periodSeconds: number } }[] } };
  };
  return template?.spec.containers[0]?.startupProbe?.periodSeconds ?? 0;
}

test.each(programs)('$run takes as long on the embedded cloud as its processes compute', ({ run, workers = 1 }) => {
  const { real, embedded, period } = measured.get(run) ?? { real: { seconds: 0 }, embedded: { seconds: 0 }, period: 0 };
  const computes = (real.processor ?? 0) / workers;
  expect(embedded.seconds).toBeGreaterThanOrEqual(computes / bounds.factor - bounds.seconds);
  expect(embedded.seconds).toBeLessThanOrEqual(computes * bounds.factor + bounds.seconds + period);
});
