import type { KubeObject } from '@openstack-operator/kube';
import { labelsOf, selectorOf } from '../names/names.ts';
import { type ComponentInput, replicasOf, workloadName } from './workload.ts';

/** The PodDisruptionBudget of a component that has more than one replica. */
export function disruptionBudget(input: ComponentInput): KubeObject | undefined {
  const { service, context, name, component } = input;
  if (component.workload === 'DaemonSet' || component.inTurn === true || replicasOf(input) < 2) return undefined;
  return budget(input, workloadName(input), { matchLabels: selectorOf(service.name, context.name, name) });
}

/** The PodDisruptionBudget of components that keep the same data (`inTurn`), one pod each; `step` is the condition that they have in common. */
export function sharedBudget(inputs: readonly BudgetInput[], step: string): KubeObject | undefined {
  const [first] = inputs;
  if (first === undefined || inputs.length < 2) return undefined;
  const { service, context, name } = first;
  const { 'app.kubernetes.io/component': _one, ...matchLabels } = selectorOf(service.name, context.name, name);
  const values = inputs.map((input) => input.name);
  return budget(
    first,
    context.named(
      step
        .replace(/Ready$/u, '')
        .replace(/(?<!^)[A-Z]/gu, '-$&')
        .toLowerCase(),
    ),
    {
      matchLabels,
      matchExpressions: [{ key: 'app.kubernetes.io/component', operator: 'In', values }],
    },
  );
}

type BudgetInput = Pick<ComponentInput, 'service' | 'context' | 'name'>;

function budget({ service, context, name }: BudgetInput, own: string, selector: object): KubeObject {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: own, namespace: context.namespace, labels: labelsOf(service.name, context.name, name) },
    spec: {
      maxUnavailable: 1,
      // What is not ready serves nobody: kept, it would only block the drain of its node.
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
      selector,
    },
  };
}
