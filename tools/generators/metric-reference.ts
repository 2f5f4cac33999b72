import { createMetrics } from '@openstack-operator/kube';
import { conditionMetrics } from '@openstack-operator/operator';
import { type Metric, Registry } from 'prom-client';
import type { GeneratedFile } from './generated-file.ts';
import { page, table } from './markdown.ts';

/** The reference of metrics, from a registry that the operator's code has filled. */
export function metricReference(): readonly GeneratedFile[] {
  const registry = new Registry();
  createMetrics(registry);
  conditionMetrics(registry, () => []);
  const metrics = (registry.getMetricsAsArray() as unknown as readonly RegisteredMetric[]).toSorted((one, other) =>
    one.name.localeCompare(other.name, 'en'),
  );
  return [
    page('metrics.md', 'Metrics', [
      'What the operator serves on port 8080 at `/metrics`, in the text format of Prometheus. [Security](../guides/security.md#metrics) says who may read it. Metrics of controllers, work queues, requests and leader election have the names of controller-runtime and client-go, so that dashboards for these work.',
      table(
        ['Metric', 'Type', 'Labels', 'Meaning'],
        metrics.map(({ name, type, labelNames, help }) => [
          `\`${name}\``,
          type,
          labelNames.map((label) => `\`${label}\``).join(', '),
          `${help}.`,
        ]),
      ),
    ]),
  ];
}

/** What every metric of prom-client has, beside what its types tell. */
type RegisteredMetric = Metric & {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly labelNames: readonly string[];
};
