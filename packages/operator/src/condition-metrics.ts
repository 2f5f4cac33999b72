import type { KubeObject, StoredObject } from '@openstack-operator/kube';
import { Gauge, type Registry } from 'prom-client';

/** Series at most: a registry of more is too much for a scrape. Some 1,000 minimal clouds. */
const MOST = 50_000;

interface Conditions extends KubeObject {
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason?: string }[];
  };
}

/**
 * Reports the conditions of resources: `openstack_resource_condition{namespace,name,kind,type,status,reason}` is 1
 * for the status and the reason that a condition has. What is reported is read at each scrape, so that what is gone is
 * not reported any more. `openstack_resource_conditions_omitted` counts those beyond the limit.
 */
export function conditionMetrics(registry: Registry, resources: () => Iterable<StoredObject>, most = MOST): void {
  let omitted = 0;
  const conditions = new Gauge({
    name: 'openstack_resource_condition',
    help: '1 for the present status and reason of a condition of a resource',
    labelNames: ['namespace', 'name', 'kind', 'type', 'status', 'reason'],
    registers: [],
    collect() {
      this.reset();
      let series = 0;
      omitted = 0;
      for (const { kind, metadata, status } of resources() as Iterable<StoredObject<Conditions>>) {
        for (const condition of status?.conditions ?? []) {
          if (series === most) omitted++;
          else {
            series++;
            const { namespace = '', name } = metadata;
            const { type, status: value, reason = '' } = condition;
            this.set({ namespace, name, kind, type, status: value, reason }, 1);
          }
        }
      }
    },
  });
  const beyond = new Gauge({
    name: 'openstack_resource_conditions_omitted',
    help: 'Conditions that are not reported, because there are more than 50,000',
    registers: [],
    collect() {
      this.set(omitted);
    },
  });
  for (const gauge of [conditions, beyond]) registry.registerMetric(gauge);
}
