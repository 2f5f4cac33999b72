import { type CacheReader, type IndexFunction, Pod, type StoredObject } from '@openstack-operator/kube';
import { hasLabels } from '@openstack-operator/openstack';

/** Index of pods by whose they are: a namespace may have tens of thousands, eight for each node of its cloud. */
const byComponent = 'component';
const instanceLabel = 'app.kubernetes.io/instance';
const componentLabel = 'app.kubernetes.io/component';

type Labels = Readonly<Record<string, string>>;

/** The indexes of pods that `podsWith` reads. */
export const podIndexes: Readonly<Record<string, IndexFunction>> = {
  [byComponent]({ metadata: { namespace = '', labels = {} } }) {
    const { [instanceLabel]: instance, [componentLabel]: component } = labels;
    if (instance === undefined) return [];
    const ofInstance = `${namespace}/${instance}`;
    return component === undefined ? [ofInstance] : [ofInstance, `${ofInstance}/${component}`];
  },
};

/** The pods of a namespace with these labels, of which the instance is one. */
export function podsWith(cache: CacheReader, namespace: string, labels: Labels): StoredObject[] {
  const { [instanceLabel]: instance, [componentLabel]: component } = labels;
  const found =
    instance === undefined
      ? cache.list(Pod, { namespace })
      : cache.byIndex(
          Pod,
          byComponent,
          [namespace, instance, ...(component === undefined ? [] : [component])].join('/'),
        );
  return found.filter((pod) => hasLabels(pod, labels));
}
